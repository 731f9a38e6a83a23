"""`python -m semibandit` is the command line."""

from semibandit.cli import app

app(prog_name="semibandit")
