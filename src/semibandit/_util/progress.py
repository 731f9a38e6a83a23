"""Progress bars for long work, shown if there is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import DownloadColumn, MofNCompleteColumn, Progress, TaskID

__all__ = ["Advance", "ProgressOption", "byte_progress_bar", "progress_bar"]

Advance: TypeAlias = Callable[[int], object]  # called with the number of steps done since last time
ProgressOption: TypeAlias = bool | Advance | None  # the parameter `progress` of long functions


@contextmanager
def progress_bar(
    total: int | None, description: str, option: ProgressOption = None
) -> Iterator[Advance]:
    """Show a bar on stderr while the block runs; yields a function to call with the steps done.

    Parameters
    ----------
    total : int or None
        How many steps there are; None if that is not known.
    description : str
        The text before the bar.
    option : bool, callable or None
        True or False show or hide the bar. None shows it if stderr is a terminal. A function is
        called with the steps done, and no bar is shown.
    """
    if callable(option):
        yield option
    elif not _is_shown(option):
        yield lambda steps: None
    else:
        from rich.progress import MofNCompleteColumn

        with _bar(MofNCompleteColumn) as bar:
            task = bar.add_task(description, total=total)
            yield lambda steps: bar.advance(task, steps)


@contextmanager
def byte_progress_bar(option: bool | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """Show bars of bytes; yields a function of a description, the bytes done and their total.

    Each description gets a bar of its own. `option` is as for `progress_bar`.
    """
    if not _is_shown(option):
        yield lambda description, done, total: None
        return
    from rich.progress import DownloadColumn

    with _bar(DownloadColumn) as bar:
        tasks: dict[str, TaskID] = {}

        def update(description: str, done: int, total: int) -> None:
            if description not in tasks:
                tasks[description] = bar.add_task(description, total=total)
            bar.update(tasks[description], completed=done, total=total)

        yield update


def _is_shown(option: bool | None) -> bool:
    return sys.stderr.isatty() if option is None else option


def _bar(count: type[MofNCompleteColumn] | type[DownloadColumn]) -> Progress:
    """A bar on stderr between its description and its count, with the time that is left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), count(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))
