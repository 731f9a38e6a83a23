"""Data sets by name: found on the package index, downloaded once, kept in the cache."""
