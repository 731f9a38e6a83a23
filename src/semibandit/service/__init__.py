"""The service: rank and learn over HTTP, durable by the log."""
