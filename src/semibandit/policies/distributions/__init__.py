"""How likely each slate is, for one request."""
