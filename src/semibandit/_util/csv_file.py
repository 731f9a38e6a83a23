"""Tables as CSV files."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from semibandit._util.atomic import replacing

__all__ = ["write_csv"]


def write_csv(
    path: str | os.PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a table in UTF-8, whole or not at all; a cell is quoted if it has to be.

    Parameters
    ----------
    path : path-like
        The file, which is replaced if it exists.
    columns : sequence of str
        The names of the columns, which become the first line.
    rows : iterable of sequences
        The cells of each row. None becomes an empty cell, a number its shortest exact form.
    """
    with replacing(path) as file:
        writer = csv.writer(_Lines(file))
        writer.writerow(columns)
        writer.writerows(rows)


class _Lines:
    """Writes lines that end in "\\n".

    The csv module quotes only those ends of lines that its own terminator has (until Python 3.13),
    so it has to believe that lines end in "\\r\\n".
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def write(self, line: str) -> None:
        self.file.write((line.removesuffix("\r\n") + "\n").encode())
