"""Mulan's format: an ARFF file of contexts and labels, and an XML file that names the labels."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from semibandit._util.checks import nearest
from semibandit.data.dataset import Dataset
from semibandit.data.formats.arff_table import ArffTable, Attribute, read_arff_table
from semibandit.data.formats.files import (
    dataset_from,
    dataset_name,
    existing_file,
    train_and_test,
)
from semibandit.data.formats.sparse_rows import dense_labels
from semibandit.errors import FileError, InputError

__all__ = ["read_arff"]

MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,18})")


def read_arff(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | int | None = None,
    xml: str | os.PathLike[str] | None = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """Read an ARFF file, with dense or sparse rows.

    An attribute of words is one column of 0 and 1 if there are two words, and a column for each
    word if there are more.

    Parameters
    ----------
    path : path
        The file, with the rows for training.
    labels : names or int, optional
        Which attributes are labels: their names, or how many (the last ones; the first ones if the
        number is negative). By default those in the XML file, or in the `-C` of MEKA's relation.
    xml : path, optional
        The XML file that names the labels. By default x.xml for x.arff and x-train.arff.
    test : path, optional
        The file with the rows for testing. By default x-test.arff for x-train.arff, if it is there.
    name : str, optional
        As for `read_csv`.

    Returns
    -------
    Dataset
        With the names of the attributes.

    Raises
    ------
    FileError
        If one of the files is damaged or of another format.
    MissingFile
        If there is no such file.
    InputError
        If nothing says which attributes are labels, or `labels` has others than the file.
    """
    paths = train_and_test(path, test)
    tables = [read_arff_table(p) for p in paths]
    attributes = tables[0].attributes
    if tables[-1].attributes != attributes:
        raise FileError(f"{paths[1].name} has other attributes than {paths[0].name}")
    chosen = _label_places(paths[0], tables[0], labels, xml)
    _check_labels(paths[0], [attributes[place] for place in chosen])
    features = sorted(set(range(len(attributes))) - set(chosen))
    if not features:
        raise InputError(f"{paths[0].name} has no attributes but labels: there are no features")
    start = np.cumsum([0, *(a.width for a in attributes)])
    columns = np.concatenate([np.arange(start[i], start[i + 1]) for i in features])
    labels_of = dense_labels([table.data[:, start[chosen]] for table in tables])
    return dataset_from(
        paths,
        [(table.data[:, columns], Y) for table, Y in zip(tables, labels_of, strict=True)],
        name=name,
        feature_names=tuple(c for i in features for c in attributes[i].columns),
        label_names=tuple(attributes[i].name for i in chosen),
    )


def _check_labels(path: Path, attributes: list[Attribute]) -> None:
    for attribute in attributes:
        if attribute.is_nominal:
            values = ", ".join(attribute.values)
            raise FileError(
                f"{path.name}: label {attribute.name!r} is {{{values}}}, expected {{0,1}}"
            )


def _label_places(
    path: Path,
    table: ArffTable,
    labels: Sequence[str] | int | None,
    xml: str | os.PathLike[str] | None,
) -> list[int]:
    """The places of the labels among the attributes, from the first source that says them."""
    if labels is None:
        xml = existing_file(xml) if xml is not None else _find_xml(path)
        if xml is not None:
            return _places_in(table, _read_label_names(xml), FileError, path, f" ({xml.name})")
    if labels is None and (found := MEKA_LABELS.search(table.relation)):
        labels = -int(found[1])  # MEKA counts from the front, and back from the end
    if labels is None:
        raise InputError(
            f"{path.name} does not say which attributes are labels: give labels=, "
            f"or put {dataset_name(path)}.xml beside it"
        )
    names = [attribute.name for attribute in table.attributes]
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(names):
            raise InputError(f"labels = {labels}, but {path.name} has {len(names)} attributes")
        return list(range(len(names)))[-labels:] if labels > 0 else list(range(-labels))
    if not labels:
        raise InputError("labels = [], expected at least one name")
    return _places_in(table, labels, InputError, path)


def _places_in(
    table: ArffTable,
    labels: Sequence[str],
    refusal: type[InputError],
    path: Path,
    said_by: str = "",
) -> list[int]:
    names = [attribute.name for attribute in table.attributes]
    for label in labels:
        if label not in names:
            raise refusal(
                f"{path.name} has no attribute {label!r}, which is to be a label{said_by}"
                f"{nearest(label, names)}"
            )
    return [names.index(label) for label in labels]


def _find_xml(path: Path) -> Path | None:
    for stem in (path.stem, dataset_name(path), re.sub(r"[-_.]test$", "", path.stem)):
        xml = path.with_name(f"{stem}.xml")
        if xml.exists():
            return xml
    return None


def _read_label_names(xml: Path) -> list[str]:
    content = xml.read_bytes()
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise FileError(f"{xml.name} declares entities: refused, a list of labels needs none")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # an encoding, a null byte
        raise FileError(f"{xml.name} is not XML: {error}") from None
    names = [e.get("name") for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    if not names or None in names:
        raise FileError(f"{xml.name} names no labels; expected <label name=...> elements")
    return [name for name in names if name is not None]
