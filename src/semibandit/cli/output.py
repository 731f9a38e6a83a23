"""What commands print and write: tables, plots, numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from semibandit._util.atomic import replacing

__all__ = ["draw", "print_line", "print_table", "write_json"]


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: int = 1,
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """Print a table whose first `words` columns are words, the others numbers."""
    table = Table(title=title, caption=caption)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < words else "right", no_wrap=i < words)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def print_line(text: str) -> None:
    """Print a line as it is: no markup, no colours, not wrapped."""
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def write_json(path: Path, content: object) -> None:
    """Write JSON to a file, which is never half-written."""
    with replacing(path) as file:
        file.write((json.dumps(content, indent=1) + "\n").encode())


def draw(make: Callable[[Any], Any], path: Path) -> None:
    """Write the figure that `make` draws with the module `plot` as PNG and SVG.

    Without matplotlib nothing is drawn, and a line says so.
    """
    try:
        from semibandit.experiments import plot
    except ImportError:
        print_line("no plot: matplotlib is not installed (pip install 'semibandit[plot]')")
    else:
        plot.save(make(plot), path)
