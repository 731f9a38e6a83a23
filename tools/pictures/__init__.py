"""The pictures of the documentation, made by code."""
