"""What all commands share: a mistake is one line on stderr and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

__all__ = ["said"]


@contextmanager
def said(command: str) -> Iterator[None]:
    """A user's mistake, a full disk, a missing network: said in one line, without a traceback."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as why:
        hint = getattr(why, "hint", "")
        text = f"semibandit {command}: {why}{f' ({hint})' if hint else ''}"
        Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
