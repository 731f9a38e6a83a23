"""The members of the source package: NAME-train.dump.bz2 and NAME-test.dump.bz2."""

from __future__ import annotations

import bz2
import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from semibandit.data import catalogue
from semibandit.data.catalogue import Known, Member, Source
from semibandit.data.dataset import Dataset, Matrix
from semibandit.data.formats.unpickle import read_arrays
from semibandit.errors import InputError

__all__ = ["Watch", "read_archive", "read_dump", "read_folder"]

Watch: TypeAlias = Callable[[str, int, int], None]  # what is being done, how far, of how much
SPARSE_BELOW = 0.25  # share of nonzeros
SUFFIX = ".dump.bz2"
TRAIN, TEST = f"-train{SUFFIX}", f"-test{SUFFIX}"


def read_dump(path: str | os.PathLike[str], watch: Watch | None = None) -> Dataset:
    """The data set of NAME-train.dump.bz2, with NAME-test.dump.bz2 beside it where there is one."""
    path = Path(path)
    test = path.with_name(path.name.replace(TRAIN, TEST)) if path.name.endswith(TRAIN) else None
    contents = [path.read_bytes()]
    if test is not None and test.exists():
        contents.append(test.read_bytes())
    name = path.name.removesuffix(TRAIN).removesuffix(TEST).removesuffix(SUFFIX).lower()
    return _dataset(name, contents, path.name, watch)


def read_folder(
    folder: str | os.PathLike[str], name: str, watch: Watch | None = None
) -> Dataset | None:
    """The set called `name`, or None if the folder (or one below) has no such files."""
    for path in sorted(Path(folder).rglob(f"*{TRAIN}")):
        if path.name.removesuffix(TRAIN).lower() == name.lower():
            return read_dump(path, watch)
    return None


def read_archive(
    path: str | os.PathLike[str],
    name: str,
    watch: Watch | None = None,
    source: Source | None = None,
) -> Dataset:
    """The set called `name` out of the source package; its members must have their checksums."""
    source = source or catalogue.SOURCE
    known = source.known(name)
    try:
        with tarfile.open(path) as archive:
            contents = [_member(archive, member) for member in (known.train, known.test)]
    except (tarfile.TarError, EOFError, OSError) as why:
        if isinstance(why, FileNotFoundError):
            raise
        raise InputError(f"{path} is not a whole archive: {why}") from None
    except ValueError as why:
        raise InputError(f"{path}: {why}") from None
    return _checked(_dataset(known.name, contents, source.title, watch), known)


def _member(archive: tarfile.TarFile, member: Member) -> bytes:
    for entry in archive:
        if entry.isfile() and entry.name.endswith("/" + member.path):
            file = archive.extractfile(entry)
            assert file is not None  # it is a plain file
            content = file.read()
            got = hashlib.sha256(content).hexdigest()
            if got != member.sha256:
                raise InputError(f"{member.path} has sha256 {got}, expected {member.sha256}")
            return content
    raise InputError(f"it has no {member.path}")


def _checked(dataset: Dataset, known: Known) -> Dataset:
    got = (dataset.n_train, dataset.n_test, dataset.d, dataset.K)
    expected = (known.n_train, known.n_test, known.d, known.K)
    if got != expected:
        raise InputError(f"{known.name} has (n_train, n_test, d, K) = {got}, published {expected}")
    return dataset


def _dataset(name: str, contents: list[bytes], source: str, watch: Watch | None) -> Dataset:
    """X as float32, and as CSR where most of it is zero; Y as uint8."""
    total, done, parts = sum(map(len, contents)), 0, []
    for content in contents:
        parts.append(_arrays(content, name, watch, done, total))
        done += len(content)
    sparse = np.count_nonzero(parts[0][0]) < SPARSE_BELOW * parts[0][0].size
    rows = [(_compact(X) if sparse else X, Y) for X, Y in parts]
    X_test, Y_test = rows[1] if len(rows) == 2 else (None, None)
    return Dataset(name, rows[0][0], rows[0][1], X_test, Y_test, source=source)


def _arrays(
    content: bytes, name: str, watch: Watch | None, done: int, total: int
) -> tuple[Matrix, Matrix]:
    raw = _Watched(content, lambda at: watch and watch(f"reading {name}", done + at, total))
    try:
        with bz2.open(raw) as file:
            arrays = read_arrays(file)  # type: ignore[arg-type]
    except (ValueError, EOFError, OSError) as why:
        raise InputError(f"{name} cannot be read: {why}") from None
    if set(arrays) != {"X", "y"}:
        raise InputError(f"{name} holds {sorted(arrays)}, expected 'X' and 'y'")
    X, y = arrays["X"], arrays["y"]
    if ((y != 0) & (y != 1)).any():
        raise InputError(f"{name}: y holds something else than zeros and ones")
    return X.astype(np.float32), y.astype(np.uint8)


def _compact(X: Matrix) -> Matrix:
    from scipy.sparse import csr_array

    return csr_array(X)


class _Watched(io.BytesIO):
    """Bytes that say how far they have been read."""

    def __init__(self, content: bytes, tell: Callable[[int], object]) -> None:
        super().__init__(content)
        self._tell = tell

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        self._tell(self.tell())
        return piece
