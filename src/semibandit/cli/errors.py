"""How commands fail: a mistake of the user's is one line on stderr and exit code 2.

Two failures of a store have the codes of sysexits.h, for whoever starts the service again: 75 for
a full disk, which may have room soon, and 65 for a damaged database, which only a backup mends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from semibandit.errors import DownloadError, SemibanditError, StoreDamaged, StoreFull

__all__ = ["reporting_errors"]

MISTAKE = 2
CODES: dict[type[Exception], int] = {StoreDamaged: 65, StoreFull: 75}
NO_NETWORK = "without a network: semibandit data get NAME --from FILE"


@contextmanager
def reporting_errors(command: str) -> Iterator[None]:
    """Turn a user's mistake, a full disk or a missing network into one line and an exit code.

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
        raise typer.Exit(CODES.get(type(why), MISTAKE)) from None
