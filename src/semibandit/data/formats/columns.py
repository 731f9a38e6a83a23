"""The columns of a table as they are in a file: CSV's texts, or Parquet's values."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from semibandit._util.arrays import Array
from semibandit._util.cells import BAR, parse_number, split_members
from semibandit._util.extras import import_extra
from semibandit.data.formats.files import line_error, read_text
from semibandit.errors import FileError

__all__ = ["Cells", "csv_cells", "parquet_cells"]


class Cells(Protocol):
    """A column of a table."""

    def values(self) -> list[Any]:
        """Its cells as JSON can hold them; an empty one is None."""
        ...

    def guessed(self) -> list[Any]:
        """The same, but with numbers and lists that the file holds as text."""
        ...

    def numbers(self, path: Path, name: str) -> Array:
        """Its cells as numbers; a `FileError` names the file, the column and the row."""
        ...


@dataclass(frozen=True, eq=False)
class TextCells:
    """A column of a CSV file."""

    texts: Sequence[str]

    def values(self) -> list[Any]:
        return [text.strip() or None for text in self.texts]

    def guessed(self) -> list[Any]:
        values = self.values()
        try:
            return [None if value is None else float(value) for value in values]
        except ValueError:
            return [split_members(v) if v is not None and BAR in v else v for v in values]

    def numbers(self, path: Path, name: str) -> Array:
        numbers = []
        for row, text in enumerate(self.texts, 1):
            try:
                numbers.append(parse_number(text))
            except ValueError:
                found = repr(text) if text.strip() else "empty"
                raise FileError(
                    f"{path.name}, row {row}: column {name!r} is {found}, expected a number"
                ) from None
        return np.array(numbers)


@dataclass(frozen=True, eq=False)
class ArrowCells:
    """A column of a Parquet file."""

    column: Any

    def values(self) -> list[Any]:
        return list(self.column.to_pylist())

    def guessed(self) -> list[Any]:
        return self.values()  # what is text there is meant to be text

    def numbers(self, path: Path, name: str) -> Array:
        if self.column.null_count:
            empty = self.column.null_count
            raise FileError(f"{path.name}: column {name!r} has {empty} empty values")
        array: Array = self.column.to_numpy()
        if array.dtype.kind not in "biuf":
            raise FileError(f"{path.name}: column {name!r} is {self.column.type}, expected numbers")
        return array


def csv_cells(path: Path) -> dict[str, Cells]:
    """The columns of a file whose first line names them."""
    text = read_text(path)
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        if not header or len(set(header)) != len(header):
            raise FileError(f"{path.name} needs a first line with a name for each column")
        for row in reader:
            if row and len(row) != len(header):
                what = f"{len(row)} values for {len(header)} columns"
                raise line_error(path, reader.line_num, what)
            if row:
                rows.append(row)
    except csv.Error as error:
        raise line_error(path, reader.line_num, error) from None
    if not rows:
        raise FileError(f"{path.name} has no rows")
    columns = zip(header, zip(*rows, strict=True), strict=True)
    return {name: TextCells(texts) for name, texts in columns}


def parquet_cells(path: Path) -> dict[str, Cells]:
    """The columns of a Parquet file."""
    arrow = import_extra("pyarrow", "data", f"{path.name} is Parquet, which")
    parquet = import_extra("pyarrow.parquet", "data", "Parquet")
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise FileError(f"{path.name} is not a complete Parquet file: {error}") from None
    return {name: ArrowCells(table.column(name)) for name in table.column_names}
