"""Mulan's format: an ARFF file of contexts and labels, and an XML file that names the labels."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from semibandit.data.dataset import Dataset, Matrix
from semibandit.data.formats.text import Rows, at, called, decode, held_out
from semibandit.errors import InputError

__all__ = ["read_arff"]

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)(?:\s+|(?=\{{))(.+)", re.IGNORECASE)
PAIR = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^,\s]+)\s*(?:,|$)")
MEKA = re.compile(r"-C\s+(-?\d+)")


@dataclass(frozen=True)
class Attribute:
    """A column: of numbers, or of the named values."""

    name: str
    values: tuple[str, ...] = ()  # none: numbers

    @property
    def width(self) -> int:
        """Columns it takes: one, or one a value where there are several that are no numbers."""
        return len(self.values) if self.named and len(self.values) > 2 else 1

    @property
    def named(self) -> bool:
        """Whether its values are words, not numbers."""
        return any(_number(value) is None for value in self.values)

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [f"{self.name}={v}" for v in self.values] if self.width > 1 else [self.name]

    def code(self, text: str) -> list[float]:
        """What stands in its columns for `text`."""
        if not self.named:
            number = _number(text)
            if number is None:
                what = "missing ('?'): fill it in first" if text == "?" else f"{text!r}"
                raise InputError(
                    f"{self.name!r} is {what}" + ("" if text == "?" else ", no number")
                )
            return [number]
        if text not in self.values:
            raise InputError(f"{self.name!r} is {text!r}, declared as {{{', '.join(self.values)}}}")
        if self.width == 1:
            return [float(self.values.index(text))]
        return [float(value == text) for value in self.values]


@dataclass(frozen=True)
class Table:
    """What an ARFF file holds: its relation, attributes, and one matrix with all columns."""

    relation: str
    attributes: tuple[Attribute, ...]
    data: Matrix


def read_arff(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | int | None = None,
    xml: str | os.PathLike[str] | None = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """The data set of an ARFF file, dense or sparse.

    labels  which attributes are labels: their names, or how many (the last ones; negative: the
            first ones). By default what the XML file beside it says, or the `-C` of MEKA's relation
    xml     the XML file; by default x.xml for x.arff, x-train.arff
    test    the test part; by default x-test.arff for x-train.arff

    Attributes of words become 0 and 1 where there are two of them, and a column each where more.
    """
    path = Path(path)
    tables, paths = [_table(path)], [path]
    beside = Path(test) if test is not None else held_out(path)
    if beside is not None:
        tables.append(_table(beside))
        paths.append(beside)
        if tables[1].attributes != tables[0].attributes:
            raise InputError(f"{beside.name} has other attributes than {path.name}")
    attributes = tables[0].attributes
    wanted = _label_places(path, tables[0], labels, Path(xml) if xml is not None else None)
    is_label = np.zeros(len(attributes), dtype=bool)
    is_label[wanted] = True
    start = np.concatenate([[0], np.cumsum([a.width for a in attributes])])
    for place in wanted:
        if attributes[place].named:
            values = ", ".join(attributes[place].values)
            raise InputError(f"label {attributes[place].name!r} is {{{values}}}, expected {{0,1}}")
    features = [i for i in range(len(attributes)) if not is_label[i]]
    if not features or not wanted:
        raise InputError(f"{path.name} has {len(features)} features and {len(wanted)} labels")
    columns = np.concatenate([np.arange(start[i], start[i + 1]) for i in features])
    parts = [(t.data[:, columns], _zeros_and_ones(t.data[:, start[wanted]])) for t in tables]
    X_test, Y_test = parts[1] if len(parts) == 2 else (None, None)
    return Dataset(
        name or called(path),
        *parts[0],
        X_test,
        Y_test,
        feature_names=tuple(c for i in features for c in attributes[i].columns),
        label_names=tuple(attributes[i].name for i in wanted),
        source=" and ".join(p.name for p in paths),
    )


def _zeros_and_ones(Y: Matrix) -> Matrix:
    """Labels dense, as learners take them, unless that would be much."""
    return Y if isinstance(Y, np.ndarray) or np.prod(Y.shape) > 1e8 else Y.toarray()


# Which attributes are labels


def _label_places(
    path: Path, table: Table, labels: Sequence[str] | int | None, xml: Path | None
) -> list[int]:
    names = [a.name for a in table.attributes]
    if labels is None and xml is None:
        xml = _xml_beside(path)
    if labels is None and xml is not None:
        labels = _labels_of(xml)
    if labels is None and (found := MEKA.search(table.relation)):
        labels = -int(found[1])  # MEKA counts from the front, and back from the end
    if labels is None:
        raise InputError(
            f"{path.name} does not say which attributes are labels: give labels=, "
            f"or put {called(path)}.xml beside it"
        )
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(names):
            raise InputError(f"labels = {labels}, but {path.name} has {len(names)} attributes")
        return list(range(len(names)))[-labels:] if labels > 0 else list(range(-labels))
    missing = [label for label in labels if label not in names]
    if missing:
        raise InputError(f"{path.name} has no attribute {missing[0]!r}, which is to be a label")
    return [names.index(label) for label in labels]


def _xml_beside(path: Path) -> Path | None:
    for stem in (path.stem, called(path), re.sub(r"[-_.]test$", "", path.stem)):
        xml = path.with_name(f"{stem}.xml")
        if xml.exists():
            return xml
    return None


def _labels_of(xml: Path) -> list[str]:
    content = xml.read_bytes()
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError(f"{xml.name} declares entities: refused, a list of labels needs none")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as why:
        raise InputError(f"{xml.name} is not XML: {why}") from None
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    if not names or None in names:
        raise InputError(f"{xml.name} names no labels; expected <label name=...> elements")
    return [name for name in names if name is not None]


# The file


def _table(path: Path) -> Table:
    lines = _lines(path)
    relation, attributes = "", []
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@relation":
            relation = _unquote(line[len(word) :].strip())
        elif word == "@attribute":
            attributes.append(_attribute(path, number, line))
        elif word == "@data":
            break
        else:
            at(path, number, f"expected @attribute or @data, found {line[:40]!r}")
    else:
        raise InputError(f"{path.name} has no @data line: it is cut off, or not an ARFF file")
    if not attributes:
        raise InputError(f"{path.name} declares no attributes")
    return Table(relation, tuple(attributes), _data(path, lines, attributes))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(decode(path).splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _attribute(path: Path, number: int, line: str) -> Attribute:
    found = ATTRIBUTE.match(line)
    if not found:
        at(path, number, f"expected @attribute NAME TYPE, found {line[:40]!r}")
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.startswith("{"):
        values = tuple(_split(kind.strip("{} \t")))
        if not kind.endswith("}") or not any(values):
            at(path, number, f"{name!r} has values {kind[:40]!r}, expected {{a,b}}")
        return Attribute(name, values)
    if kind.split()[0].lower() not in ("numeric", "real", "integer"):
        at(path, number, f"{name!r} is of type {kind[:40]!r}; expected numbers or {{0,1}}")
    return Attribute(name)


def _data(path: Path, lines: Iterator[tuple[int, str]], attributes: list[Attribute]) -> Matrix:
    first = next(lines, None)
    if first is None:
        raise InputError(f"{path.name} has no rows after @data")
    sparse = first[1].startswith("{")
    width = sum(a.width for a in attributes)
    if sparse:
        _refuse_unsaid(path, attributes)
    rows, dense = Rows(), []
    plain = all(not a.named for a in attributes)
    for number, line in (first, *lines):
        try:
            if sparse:
                rows.add(*_sparse_row(line, attributes))
            elif plain and "?" not in line and "'" not in line and '"' not in line:
                dense.append(_numbers(line, attributes))
            else:
                dense.append(_dense_row(line, attributes))
        except ValueError as why:
            at(path, number, str(why))
    return rows.matrix(width) if sparse else np.array(dense)


def _refuse_unsaid(path: Path, attributes: list[Attribute]) -> None:
    """What a sparse row leaves out is an attribute's first value, which must be zero then."""
    for a in attributes:
        if a.values and (a.width > 1 or a.code(a.values[0]) != [0.0]):
            values = ", ".join(a.values)
            raise InputError(
                f"{path.name}: rows are sparse, and {a.name!r} is {{{values}}}: left out, it would "
                f"mean {a.values[0]!r}, not zero"
            )


def _numbers(line: str, attributes: list[Attribute]) -> list[float]:
    parts = line.split(",")
    _check_count(len(parts), attributes)
    try:
        return [float(part) for part in parts]
    except ValueError:
        return _dense_row(line, attributes)  # which says what is wrong


def _dense_row(line: str, attributes: list[Attribute]) -> list[float]:
    parts = _split(line)
    _check_count(len(parts), attributes)
    return [x for a, part in zip(attributes, parts, strict=True) for x in a.code(part)]


def _check_count(count: int, attributes: list[Attribute]) -> None:
    if count != len(attributes):
        raise InputError(f"{count} values for {len(attributes)} attributes")


def _sparse_row(line: str, attributes: list[Attribute]) -> tuple[list[int], list[float]]:
    if not (line.startswith("{") and line.endswith("}")):
        raise InputError(f"expected {{place value, ...}}, found {line[:40]!r}")
    columns, values, inside, here = [], [], line[1:-1].strip(), 0
    while here < len(inside):
        found = PAIR.match(inside, here)
        if not found:
            raise InputError(f"expected 'place value', found {inside[here : here + 40]!r}")
        place, here = int(found[1]), found.end()
        if place >= len(attributes):
            raise InputError(f"place {place}, but there are {len(attributes)} attributes")
        columns.append(place)
        values.extend(attributes[place].code(_unquote(found[2])))
    return columns, values


def _split(text: str) -> list[str]:
    """The values between commas, without quotes."""
    if "'" not in text and '"' not in text:
        return [part.strip() for part in text.split(",")]
    quote = "'" if "'" in text else '"'
    row = next(csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True))
    return [part.strip() for part in row]


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
