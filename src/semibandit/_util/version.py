"""The version of this package, for every room: the package itself cannot be imported from below."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
