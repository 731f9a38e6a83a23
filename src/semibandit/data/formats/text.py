"""What the readers of text share: finding the test part, saying where a mistake is, matrices."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from semibandit.data.dataset import Matrix
from semibandit.errors import InputError

__all__ = ["Rows", "at", "decode", "called", "held_out"]


def at(path: Path, line: int, what: str) -> NoReturn:
    """Raise the ValueError that names file, line and mistake."""
    raise InputError(f"{path.name}, line {line}: {what}")


def decode(path: Path) -> str:
    """The file's text: UTF-8, or Latin-1 where it is not."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def held_out(path: Path) -> Path | None:
    """x-test.arff beside x-train.arff, test.txt beside train.txt; None where there is none."""
    stem = re.sub(r"train(?!.*train)|trn(?!.*trn)", "test", path.stem, flags=re.IGNORECASE)
    for name in (stem, stem.replace("test", "tst")):
        other = path.with_name(name + path.suffix)
        if name != path.stem and other.exists():
            return other
    return None


def called(path: Path) -> str:
    """What to call the data set of a file: x for x-train.arff, the folder's name for train.txt."""
    stem = re.sub(r"[-_. ]?(train|trn|data)$", "", path.stem, flags=re.IGNORECASE)
    return stem or path.resolve().parent.name or path.stem


class Rows:
    """A sparse matrix, row by row."""

    def __init__(self) -> None:
        self.columns, self.values, self.ends = array("q"), array("d"), array("q", [0])
        self.width = 0

    def __len__(self) -> int:
        return len(self.ends) - 1

    def add(self, columns: Iterable[int], values: Iterable[float]) -> None:
        """One row; a column may come once."""
        start = len(self.columns)
        self.columns.extend(columns)
        self.values.extend(values)
        self.ends.append(len(self.columns))
        taken = self.columns[start:]
        if taken:
            self.width = max(self.width, max(taken) + 1)
            if len(set(taken)) != len(taken):
                twice = next(c for c in taken if taken.count(c) > 1)
                raise InputError(f"column {twice} is given twice")

    def matrix(self, width: int, dtype: type = np.float64) -> Matrix:
        """All rows, as CSR with `width` columns."""
        from scipy.sparse import csr_array

        columns, ends = np.array(self.columns, np.int64), np.array(self.ends, np.int64)
        values: Any = np.array(self.values, np.float64).astype(dtype)
        return csr_array((values, columns, ends), shape=(len(self), width))
