"""A progress bar for long work, where someone is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["Advance", "Show", "progress_of", "transfer"]

Advance: TypeAlias = Callable[[int], object]
Show: TypeAlias = bool | Advance | None


@contextmanager
def progress_of(total: int | None, text: str, show: Show = None) -> Iterator[Advance]:
    """A bar of `total` steps on the terminal; call what it gives with the steps done.

    show is True or False; None asks whether there is a terminal; a function of the steps done takes
    the place of the bar. total may be None if nobody knows.
    """
    if callable(show):
        yield show
        return
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task(text, total=total)
        yield lambda steps: progress.advance(task, steps)


@contextmanager
def transfer(show: bool | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """A bar of bytes: call what it gives with what is being done, how far, and of how much."""
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def watch(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield watch
