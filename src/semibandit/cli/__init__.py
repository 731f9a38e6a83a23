"""The command line: one module per group of commands."""

from semibandit.cli.app import app

__all__ = ["app"]
