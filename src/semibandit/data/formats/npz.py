"""A data set as one .npz: arrays and a line of JSON, no pickle, never half-written.

Keys: X_train, Y_train, X_test, Y_test, and meta. A sparse matrix is four arrays,
`X_train_data`, `_indices`, `_indptr` and `_shape`. Columns of a table are JSON, `columns`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.arrays import Array
from semibandit._util.atomic import replacing
from semibandit._util.checks import shortened
from semibandit._util.json import exact_json
from semibandit._util.npz import read_npz as read_arrays
from semibandit._util.npz import save_npz
from semibandit.data.dataset import Columns, Dataset, Matrix
from semibandit.data.formats.files import check_columns, existing_file
from semibandit.errors import FileError, InputError

__all__ = ["read_npz", "write_npz"]

FORMAT = 1
CSR = ("data", "indices", "indptr", "shape")
MATRICES = ("X_train", "Y_train", "X_test", "Y_test")


def write_npz(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a data set to one .npz file.

    The file is written beside `path` and then renamed, so that it is never half-written.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : path
        The file to make or to replace.

    Raises
    ------
    MissingFile
        If the folder of `path` does not exist.
    """
    arrays: dict[str, Array] = {}
    for key in MATRICES:
        matrix = getattr(dataset, key)
        if isinstance(matrix, np.ndarray):
            arrays[key] = matrix
        elif matrix is not None:
            shape = np.array(matrix.shape, dtype=np.int64)
            values = (matrix.data, matrix.indices, matrix.indptr, shape)
            arrays |= {f"{key}_{part}": value for part, value in zip(CSR, values, strict=True)}
    meta = {
        "format": FORMAT,
        "name": dataset.name,
        "source": dataset.source,
        "checksum": dataset.checksum,
        "n_train": dataset.n_train,
        "n_test": dataset.n_test,
        "d": dataset.d,
        "K": dataset.K,
        "cardinality": dataset.cardinality,
        "density": dataset.density,
        "feature_names": dataset.feature_names,
        "label_names": dataset.label_names,
    }
    if dataset.columns_train is not None:
        parts = (dataset.columns_train, dataset.columns_test)
        columns = json.dumps([None if part is None else dict(part) for part in parts])
        arrays["columns"] = np.frombuffer(columns.encode(), dtype=np.uint8)
    with replacing(path) as file:
        save_npz(file, {"meta": np.array(json.dumps(meta)), **arrays}, compressed=True)


def read_npz(path: str | os.PathLike[str]) -> Dataset:
    """Read the data set of an .npz file; it may have X_train and Y_train alone.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Dataset
        The data set, equal to the bit to the one that was written.

    Raises
    ------
    FileError
        If the file is damaged, of another kind, or its data do not have the checksum it names.
    MissingFile
        If there is no such file.
    """
    path = existing_file(path)
    arrays = _read_arrays(path)
    meta = _read_meta(arrays, path)
    X_train, Y_train, X_test, Y_test = (_matrix(arrays, key, path) for key in MATRICES)
    columns_train, columns_test = _columns(arrays, path)
    try:
        dataset = Dataset(
            str(meta.get("name") or path.stem),
            *(X_train, Y_train, X_test, Y_test),
            feature_names=_names(meta, "feature_names", path),
            label_names=_names(meta, "label_names", path),
            source=str(meta.get("source", path.name)),
            columns_train=columns_train,
            columns_test=columns_test,
        )
    except FileError:
        raise
    except InputError as error:
        raise FileError(f"{path}: {error}") from None
    if meta.get("checksum", dataset.checksum) != dataset.checksum:
        raise FileError(f"{path} is damaged: its data do not have the checksum it names")
    return dataset


def _read_arrays(path: Path) -> dict[str, Array]:
    """Its arrays that belong to a data set; others are not read."""
    try:
        with path.open("rb") as file:
            return read_arrays(file, compressed=True, wanted=_belongs)
    except FileError as error:
        raise FileError(f"{path} is not a complete .npz data set: {error}") from None


def _belongs(name: str) -> bool:
    return name in ("meta", "columns", *MATRICES) or name.rpartition("_")[0] in MATRICES


def _read_meta(arrays: dict[str, Array], path: Path) -> dict[str, Any]:
    if "meta" not in arrays:
        return {}
    try:
        meta = exact_json(str(arrays["meta"]))
    except ValueError as error:
        raise FileError(f"{path}: meta is not JSON: {error}") from None
    if not isinstance(meta, dict):
        raise FileError(f"{path}: meta is {shortened(meta)}, expected a JSON object")
    if meta.get("format", FORMAT) != FORMAT:
        found = shortened(meta["format"])
        raise FileError(f"{path} has format {found}; this version reads {FORMAT}")
    return meta


def _columns(arrays: dict[str, Array], path: Path) -> tuple[Columns | None, Columns | None]:
    if "columns" not in arrays:
        return None, None
    try:
        train, test = exact_json(arrays["columns"].tobytes())
        for part in (train, test):
            if part is not None and not all(isinstance(one, list) for one in part.values()):
                raise TypeError
    except (ValueError, TypeError, AttributeError):
        raise FileError(f"{path}: its columns are not those of a table") from None
    return train, test


def _names(meta: dict[str, Any], key: str, path: Path) -> tuple[str, ...]:
    names = meta.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FileError(f"{path}: {key} is {shortened(names)}, expected a list of names")
    return tuple(names)


def _matrix(arrays: dict[str, Array], key: str, path: Path) -> Matrix | None:
    if key in arrays:
        return arrays[key]
    fields = [f"{key}_{part}" for part in CSR]
    if not all(field in arrays for field in fields):
        if key.endswith("_test"):
            return None
        raise FileError(f"{path} has no {key}; it holds {', '.join(sorted(arrays)) or 'nothing'}")
    from scipy.sparse import csr_array

    data, indices, indptr, shape = (arrays[field] for field in fields)
    try:
        matrix = csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise FileError(f"{path}: {key} is not a sparse matrix: {error}") from None
    check_columns(path, matrix.shape[1], "features" if key.startswith("X") else "labels")
    return matrix
