"""The HTTP side of the service: paths, bodies, keys, pages."""
