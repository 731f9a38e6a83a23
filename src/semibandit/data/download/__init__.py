"""Data sets by name: found on a package index, downloaded once, kept in the cache."""
