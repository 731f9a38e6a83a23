"""What commands print and write: tables, plots, numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from semibandit._util.atomic import replacing
from semibandit.errors import InputError, MissingExtra

__all__ = ["check_writable", "draw", "print_line", "print_table", "table_fits", "write_json"]


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: int = 1,
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """Print a table whose first `words` columns are words, the others numbers.

    No number is ever cut: if the terminal is too narrow, each row is printed as a line.
    """
    rows = [tuple(row) for row in rows]
    if not table_fits(columns, rows, words):
        _print_lines(columns, rows, words, title)
    else:
        table = Table(title=title)
        for i, (column, least) in enumerate(
            zip(columns, _widths(columns, rows, words), strict=True)
        ):
            side: Literal["left", "right"] = "left" if i < words else "right"
            table.add_column(column, justify=side, no_wrap=i < words, min_width=least)
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        Console().print(table)
    if caption is not None:
        print_line(caption)


def table_fits(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> bool:
    """Whether the terminal is wide enough for the table, with cells wrapped between words only."""
    return sum(_widths(columns, rows, words)) + 3 * len(columns) + 1 <= Console().width


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> list[int]:
    """How wide each column must be at least; intervals and the first columns are not wrapped."""
    widths = [max(map(len, column.split()), default=1) for column in columns]
    for row in rows:
        for i, cell in enumerate(row):
            parts = [cell] if i < words or "[" in cell else cell.split()
            widths[i] = max(widths[i], *map(len, parts), 1)
    return [max(n, len(columns[i])) if i < words else n for i, n in enumerate(widths)]


def _print_lines(
    columns: Sequence[str], rows: Sequence[Sequence[str]], words: int, title: str | None
) -> None:
    if title is not None:
        print_line(f"{title}:")
    for row in rows:
        told = [f"{column} {cell}" for column, cell in zip(columns, row, strict=True) if cell]
        skipped = sum(bool(cell) for cell in row[:words])
        print_line(f"{', '.join(filter(None, row[:words]))}: {'; '.join(told[skipped:])}")


def print_line(text: str) -> None:
    """Print a line as it is: no markup, no colours, not wrapped."""
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def check_writable(option: str, path: Path | None) -> None:
    """Raise an `InputError` if a file cannot be written there, before any work is done."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise InputError(f"{option} = {str(path)!r}, but there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"{option} = {str(path)!r}, but that is a folder: expected a file")


def write_json(path: Path, content: object) -> None:
    """Write JSON to a file, which is never half-written."""
    with replacing(path) as file:
        file.write((json.dumps(content, indent=1) + "\n").encode())


def draw(make: Callable[[Any], Any], path: Path) -> bool:
    """Write the figure that `make` draws with the module `plot` as PNG and SVG.

    Returns
    -------
    bool
        Whether it was drawn. Without matplotlib it is not, and a line says so.
    """
    try:
        from semibandit.experiments import plot
    except MissingExtra as why:
        print_line(f"no plot: {why}")
        return False
    plot.save(make(plot), path)
    return True
