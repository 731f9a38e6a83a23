"""How commands fail: a mistake of the user's is one line on stderr and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from semibandit.errors import DownloadError, SemibanditError

__all__ = ["reporting_errors"]

NO_NETWORK = "without a network: semibandit data get NAME --from FILE"


@contextmanager
def reporting_errors(command: str) -> Iterator[None]:
    """Turn a user's mistake, a full disk or a missing network into one line and exit code 2.

    Any other exception is a bug, and comes out with its traceback; so does one in a run of a sweep,
    as a note of the `RunError`.
    """
    try:
        yield
    except (SemibanditError, OSError) as why:
        hint = f" ({NO_NETWORK})" if isinstance(why, DownloadError) else ""
        notes = "".join(f"\n{note}" for note in getattr(why, "__notes__", ()))
        text = f"semibandit {command}: {why}{hint}{notes}"
        Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
