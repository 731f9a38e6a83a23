"""A data set as one .npz: arrays and a line of JSON, no pickle, never half-written.

Keys: X_train, Y_train, X_test, Y_test, and meta. A sparse matrix is four arrays,
`X_train_data`, `_indices`, `_indptr` and `_shape`.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.arrays import Array
from semibandit._util.atomic import replacing
from semibandit.data.dataset import Dataset, Matrix
from semibandit.errors import InputError

__all__ = ["read_npz", "write_npz"]

FORMAT = 1
CSR = ("data", "indices", "indptr", "shape")
PARTS = ("X_train", "Y_train", "X_test", "Y_test")


def write_npz(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write beside `path`, then put in its place at one stroke."""
    arrays: dict[str, Array] = {}
    for key in PARTS:
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
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, meta=np.array(json.dumps(meta)), **arrays)


def read_npz(path: str | os.PathLike[str]) -> Dataset:
    """The data set in the file, or a ValueError that says what is wrong with it.

    Also files with nothing but X_train and Y_train; a checksum is compared where there is one.
    """
    path = Path(path)
    with path.open("rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError("it holds one array, not several")
            arrays = {name: archive[name] for name in archive.files}
        except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile, zlib.error) as why:
            raise InputError(f"{path} is not a whole .npz data set: {why}") from None
    meta = _meta(arrays, path)
    dataset = Dataset(
        str(meta.get("name") or path.stem),
        X_train=_part(arrays, "X_train", path),
        Y_train=_part(arrays, "Y_train", path),
        X_test=_part(arrays, "X_test", path),
        Y_test=_part(arrays, "Y_test", path),
        feature_names=tuple(meta.get("feature_names", ())),
        label_names=tuple(meta.get("label_names", ())),
        source=str(meta.get("source", path.name)),
    )
    if meta.get("checksum", dataset.checksum) != dataset.checksum:
        raise InputError(f"{path} is damaged: its data do not have the checksum it names")
    return dataset


def _meta(arrays: dict[str, Array], path: Path) -> dict[str, Any]:
    if "meta" not in arrays:
        return {}
    try:
        meta = json.loads(str(arrays["meta"]))
    except ValueError as why:
        raise InputError(f"{path}: meta is not JSON: {why}") from None
    if not isinstance(meta, dict):
        raise InputError(f"{path}: meta is {meta!r}, expected a JSON object")
    if meta.get("format", FORMAT) != FORMAT:
        raise InputError(f"{path} has format {meta['format']!r}; this version reads {FORMAT}")
    return meta


def _part(arrays: dict[str, Array], key: str, path: Path) -> Matrix | None:
    if key in arrays:
        return arrays[key]
    fields = [f"{key}_{part}" for part in CSR]
    if not all(field in arrays for field in fields):
        if key.endswith("_test"):
            return None
        raise InputError(f"{path} has no {key}; it holds {', '.join(sorted(arrays)) or 'nothing'}")
    from scipy.sparse import csr_array

    data, indices, indptr, shape = (arrays[field] for field in fields)
    try:
        matrix = csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as why:
        raise InputError(f"{path}: {key} is not a sparse matrix: {why}") from None
    return matrix
