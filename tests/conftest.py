"""Shared by all tests: hypothesis runs the same examples every time."""

from hypothesis import settings

settings.register_profile("semibandit", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("semibandit")
