"""`python -m semibandit` is the command line."""

from semibandit.cli import run

run()
