"""What all commands share: a mistake is one line on stderr and exit code 2; `--labels`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from semibandit.errors import DownloadError

__all__ = ["label_columns", "said"]

NO_NETWORK = "without a network: semibandit data get NAME --from FILE"


def label_columns(given: list[str] | None) -> list[str] | int | None:
    """What `--labels` says: names and patterns, or how many of the last columns."""
    if not given:
        return None
    return int(given[0]) if len(given) == 1 and given[0].lstrip("-").isdigit() else given


@contextmanager
def said(command: str) -> Iterator[None]:
    """A user's mistake, a full disk, a missing network: said in one line, without a traceback."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as why:
        hint = NO_NETWORK if isinstance(why, DownloadError) else ""
        text = f"semibandit {command}: {why}{f' ({hint})' if hint else ''}"
        Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
