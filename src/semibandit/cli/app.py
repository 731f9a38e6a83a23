"""The command `semibandit`: all commands, put together."""

from __future__ import annotations

import codecs
import io
import sys
from typing import Annotated

import typer

import semibandit
from semibandit.cli.data import data
from semibandit.cli.demo import demo
from semibandit.cli.evaluate import evaluate
from semibandit.cli.log import export, migrate
from semibandit.cli.position_bias import position_bias
from semibandit.cli.replay import replay
from semibandit.cli.reproduce import reproduce
from semibandit.cli.serve import serve
from semibandit.cli.simulate import simulate
from semibandit.cli.sweep import sweep
from semibandit.cli.tune import tune

__all__ = ["app", "run"]

app = typer.Typer(
    name="semibandit",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Learn which items to show, in which order and how many, from feedback on what was shown.",
)
app.add_typer(data, name="data")
FROM_ENVIRONMENT = {"auto_envvar_prefix": "SEMIBANDIT"}  # every option, as SEMIBANDIT_PORT
COMMANDS = (
    replay, evaluate, position_bias, tune, sweep, serve, export, migrate, simulate, reproduce, demo,
)  # fmt: skip
for command in COMMANDS:
    app.command(context_settings=FROM_ENVIRONMENT if command is serve else None)(command)


def run() -> None:
    """Run the command line of this process.

    What is printed where only some characters can be shown (a pipe on Windows) has question marks
    for the others: a result is worth more than its "±".
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="replace")
    app(prog_name="semibandit")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"semibandit {semibandit.__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Learn which items to show, in which order and how many, from feedback on what was shown."""
