"""A progress bar for long work, where someone is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["Show", "bar", "track", "transfer"]

T = TypeVar("T")
Show: TypeAlias = bool | Callable[[], None] | None


def track(items: Iterable[T], total: int, text: str, show: Show) -> Iterator[T]:
    """The items, with a bar on the terminal; None asks whether there is one.

    A function in place of True is called after each item, for a bar of your own.
    """
    if callable(show):
        for item in items:
            yield item
            show()
        return
    with bar(total, text, show) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def bar(total: int, text: str, show: bool | None = None) -> Iterator[Callable[[], None]]:
    """A bar of `total` steps: call what it gives after each one."""
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda: None
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
        yield lambda: progress.advance(task)


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
