"""Contexts with named features: what users declare, and how values become numbers."""
