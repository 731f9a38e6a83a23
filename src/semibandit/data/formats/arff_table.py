"""The ARFF file format: declared attributes, then dense or sparse rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from semibandit.data.dataset import Matrix
from semibandit.data.formats.files import line_error, read_text
from semibandit.data.formats.sparse_rows import SparseRows
from semibandit.errors import FileError

__all__ = ["ArffTable", "Attribute", "read_arff_table"]

MOST_VALUES = 1 << 25  # of dense rows; a larger file may have one for each of its bytes
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)(?:\s+|(?=\{{))(.+)", re.IGNORECASE)
PAIR = re.compile(rf"\s*(\d{{1,18}})\s+({QUOTED}|[^,\s]+)\s*(?:,|$)")


@dataclass(frozen=True)
class Attribute:
    """A declared attribute: of numbers if it has no `values`, else one of these."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def is_nominal(self) -> bool:
        """Whether its values are words, not numbers."""
        return any(_number(value) is None for value in self.values)

    @property
    def width(self) -> int:
        """The columns it takes: one for each value if there are more than two words, else one."""
        return len(self.values) if self.is_nominal and len(self.values) > 2 else 1

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [f"{self.name}={v}" for v in self.values] if self.width > 1 else [self.name]

    def encode(self, text: str) -> list[float]:
        """The numbers in its columns that stand for `text`."""
        if not self.is_nominal:
            number = _number(text)
            if number is None:
                what = "missing ('?'): fill it in first" if text == "?" else f"{text!r}, no number"
                raise FileError(f"{self.name!r} is {what}")
            return [number]
        if text not in self.values:
            raise FileError(f"{self.name!r} is {text!r}, declared as {{{', '.join(self.values)}}}")
        if self.width == 1:
            return [float(self.values.index(text))]
        return [float(value == text) for value in self.values]


@dataclass(frozen=True)
class ArffTable:
    """The content of an ARFF file: its relation, its attributes, and one matrix of all columns."""

    relation: str
    attributes: tuple[Attribute, ...]
    data: Matrix


def read_arff_table(path: Path) -> ArffTable:
    """Read an ARFF file, or raise `FileError` with the line where it is wrong."""
    lines = _lines(path)
    relation, attributes = "", []
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@relation":
            relation = _unquote(line[len(word) :].strip())
        elif word == "@attribute":
            try:
                attributes.append(_attribute(line))
            except FileError as error:
                raise line_error(path, number, error) from None
        elif word == "@data":
            break
        else:
            raise line_error(path, number, f"expected @attribute or @data, found {line[:40]!r}")
    else:
        raise FileError(f"{path.name} has no @data line: it is cut off, or not an ARFF file")
    if not attributes:
        raise FileError(f"{path.name} declares no attributes")
    return ArffTable(relation, tuple(attributes), _read_data(path, lines, attributes))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _attribute(line: str) -> Attribute:
    found = ATTRIBUTE.match(line)
    if not found:
        raise FileError(f"expected @attribute NAME TYPE, found {line[:40]!r}")
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.startswith("{"):
        values = tuple(_split(kind.strip("{} \t")))
        if not kind.endswith("}") or not any(values):
            raise FileError(f"{name!r} has values {kind[:40]!r}, expected {{a,b}}")
        return Attribute(name, values)
    if kind.split()[0].lower() not in ("numeric", "real", "integer"):
        raise FileError(f"{name!r} is of type {kind[:40]!r}; expected numbers or {{0,1}}")
    return Attribute(name)


def _read_data(path: Path, lines: Iterator[tuple[int, str]], attributes: list[Attribute]) -> Matrix:
    first = next(lines, None)
    if first is None:
        raise FileError(f"{path.name} has no rows after @data")
    is_sparse = first[1].startswith("{")
    if is_sparse:
        _check_omitted_values(path, attributes)
    sparse, dense = SparseRows(), []
    only_numbers = not any(a.is_nominal for a in attributes)
    rows, width = [first, *lines], sum(a.width for a in attributes)
    most = max(MOST_VALUES, path.stat().st_size)
    if not is_sparse and len(rows) * width > most:  # by words, which are a column each
        what = f"{width} columns, one for each word, in {len(rows)} rows"
        raise FileError(f"{path.name} has {what}: more than {most} values")
    for number, line in rows:
        try:
            if is_sparse:
                sparse.add(*_sparse_row(line, attributes))
            elif only_numbers and "?" not in line and "'" not in line and '"' not in line:
                dense.append(_row_of_numbers(line, attributes))
            else:
                dense.append(_dense_row(line, attributes))
        except FileError as error:
            raise line_error(path, number, error) from None
    return sparse.matrix(width) if is_sparse else np.array(dense)


def _check_omitted_values(path: Path, attributes: list[Attribute]) -> None:
    """What a sparse row omits is the attribute's first value, which must be zero."""
    for a in attributes:
        if a.values and (a.width > 1 or a.encode(a.values[0]) != [0.0]):
            values = ", ".join(a.values)
            raise FileError(
                f"{path.name}: rows are sparse, and {a.name!r} is {{{values}}}: left out, it would "
                f"mean {a.values[0]!r}, not zero"
            )


def _row_of_numbers(line: str, attributes: list[Attribute]) -> list[float]:
    """The same as `_dense_row`, in less time."""
    values = line.split(",")
    _check_count(len(values), attributes)
    try:
        return [float(value) for value in values]
    except ValueError:
        return _dense_row(line, attributes)  # which says what is wrong


def _dense_row(line: str, attributes: list[Attribute]) -> list[float]:
    values = _split(line)
    _check_count(len(values), attributes)
    return [x for a, value in zip(attributes, values, strict=True) for x in a.encode(value)]


def _check_count(count: int, attributes: list[Attribute]) -> None:
    if count != len(attributes):
        raise FileError(f"{count} values for {len(attributes)} attributes")


def _sparse_row(line: str, attributes: list[Attribute]) -> tuple[list[int], list[float]]:
    if not (line.startswith("{") and line.endswith("}")):
        raise FileError(f"expected {{place value, ...}}, found {line[:40]!r}")
    columns, values, inside, here = [], [], line[1:-1].strip(), 0
    while here < len(inside):
        found = PAIR.match(inside, here)
        if not found:
            raise FileError(f"expected 'place value', found {inside[here : here + 40]!r}")
        place, here = int(found[1]), found.end()
        if place >= len(attributes):
            raise FileError(f"place {place}, but there are {len(attributes)} attributes")
        columns.append(place)
        values.extend(attributes[place].encode(_unquote(found[2])))
    return columns, values


def _split(text: str) -> list[str]:
    """The values between commas, without quotes."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    quote = "'" if "'" in text else '"'
    try:
        row = next(csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True))
    except csv.Error as error:
        raise FileError(f"expected values between commas: {error}") from None
    return [value.strip() for value in row]


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
