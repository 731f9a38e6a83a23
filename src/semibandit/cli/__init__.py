"""The command line: one module per group of commands."""

from semibandit.cli.app import app, run

__all__ = ["app", "run"]
