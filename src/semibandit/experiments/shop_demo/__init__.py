"""A running service with a simulated shop's visitors on it, and a page to play one of them."""
