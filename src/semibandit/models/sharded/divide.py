"""The arrays of a whole model, divided among shards, and joined again.

Label i is label i // n of shard i % n: new labels go to all shards in turn. The arrays of the whole
are those of the same model without shards, so files of both are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from semibandit._util.arrays import Array, Ints
from semibandit.errors import FileError, InputError
from semibandit.models.diagonal import Diagonal
from semibandit.models.dual import Dual
from semibandit.models.full import Full
from semibandit.models.model import NONE, Arrays, Model, take, take_index

__all__ = ["Layout", "layout_of", "shard_size"]


class Layout(NamedTuple):
    """How the arrays of a model are divided: divide(arrays, labels, shards), and join(parts)."""

    divide: Callable[[Arrays, int, int], list[Arrays]]
    join: Callable[[Sequence[Arrays]], Arrays]


def layout_of(model: Model) -> Layout:
    """The layout of this model's arrays; `InputError` if it cannot be divided among shards."""
    layout = LAYOUTS.get(type(model))
    if layout is None:
        raise InputError(
            f"model = {model!r}, but only Full(), Diagonal() and Dual(...) can be divided among "
            "shards"
        )
    return layout


def shard_size(n_labels: int, shard: int, shards: int) -> int:
    """How many of so many labels a shard has."""
    return len(range(shard, n_labels, shards))


# -- Full --------------------------------------------------------------------------------------


def divide_full(arrays: Arrays, n_labels: int, shards: int) -> list[Arrays]:
    """Rows go with their labels, in their order, and all else with its row."""
    n = len(_get(arrays, "owner"))
    owner = take_index(arrays, "owner", n, limit=n_labels, once=True)
    packed = "A_packed" in arrays  # written by a device: a line for each row
    rest = ("w", "count", "A_packed") if packed else ("w", "count")
    parts = []
    for shard in range(shards):
        rows = np.flatnonzero(owner % shards == shard)
        part = {name: _lines(arrays, name, rows, n) for name in rest}
        part["owner"] = (owner[rows] // shards).astype(np.int64)
        parts.append(part | _fading(arrays, rows, n))
        if not packed:
            parts[-1] |= _forms_of(arrays, rows, n)
    return parts


def _forms_of(arrays: Arrays, rows: Ints, n: int) -> Arrays:
    """The matrices, vectors and rounding errors of these rows, of which there are n in all."""
    n_matrices, n_vectors, n_errors = (len(_get(arrays, name)) for name in ("A_inv", "V", "lost"))
    matrix_row = take_index(arrays, "A_row", n_matrices, limit=n)
    vector_row = take_index(arrays, "V_row", n_vectors, limit=n, least=NONE)
    error_of = take_index(arrays, "sharp", n, limit=n_errors, least=NONE)[rows]
    new = _places(rows, n)
    matrices = np.flatnonzero(new[matrix_row] >= 0)
    vectors = np.flatnonzero((vector_row >= 0) & (new[vector_row] >= 0))
    errors = error_of[error_of >= 0]
    return {
        "V": arrays["V"][vectors],
        "V_row": new[vector_row[vectors]],
        "A_inv": arrays["A_inv"][matrices],
        "A_row": new[matrix_row[matrices]],
        "sharp": _renumbered(error_of, errors, n_errors),
        "lost": arrays["lost"][errors],
    }


def join_full(parts: Sequence[Arrays]) -> Arrays:
    """The rows of one shard after the other."""
    numbered = list(enumerate(parts))
    whole = {"owner": np.concatenate([p["owner"] * len(parts) + i for i, p in numbered])}
    by_row = ("w", "count", "A_packed", "since")
    whole |= {name: _joined(parts, name) for name in by_row if name in parts[0]}
    if "clock" in parts[0]:
        whole["clock"] = parts[0]["clock"]
    if "A_packed" in parts[0]:
        return whole
    rows, errors = _offsets(parts, "owner"), _offsets(parts, "lost")
    return whole | {
        "V": _joined(parts, "V"),
        "V_row": np.concatenate([_moved(p["V_row"], rows[i]) for i, p in numbered]),
        "A_inv": _joined(parts, "A_inv"),
        "A_row": np.concatenate([p["A_row"] + rows[i] for i, p in numbered]),
        "sharp": np.concatenate([_moved(p["sharp"], errors[i]) for i, p in numbered]),
        "lost": _joined(parts, "lost"),
    }


# -- Diagonal ----------------------------------------------------------------------------------


def divide_diagonal(arrays: Arrays, n_labels: int, shards: int) -> list[Arrays]:
    """Columns go with their labels."""
    parts = []
    for shard in range(shards):
        labels = np.arange(shard, n_labels, shards)
        columns = {
            name: np.ascontiguousarray(_lines(arrays, name, labels, n_labels, axis=1))
            for name in ("w", "A")
        }
        parts.append(columns | _fading(arrays, labels, n_labels))
    return parts


def join_diagonal(parts: Sequence[Arrays]) -> Arrays:
    whole = {name: _interleaved([part[name] for part in parts], axis=1) for name in ("w", "A")}
    return whole | _joined_fading(parts)


# -- Dual --------------------------------------------------------------------------------------


def divide_dual(arrays: Arrays, n_labels: int, shards: int) -> list[Arrays]:
    """Expansions go with their labels, and the contexts that they use with them."""
    sizes = take(arrays, "sizes", (n_labels, 2), np.int64)
    n, m = sizes[:, 0], sizes[:, 1]
    pool = _get(arrays, "pool")
    points = take_index(arrays, "points", int(n.sum()), limit=len(pool))
    extra = take_index(arrays, "extra", int(m.sum()), limit=len(pool))
    parts = []
    for shard in range(shards):
        labels = np.arange(shard, n_labels, shards)
        at, at_extra, at_B = (_members(size, labels) for size in (n, m, n**2))
        used = np.unique(np.concatenate([points[at], extra[at_extra]]))
        new = _places(used, len(pool))
        part = {
            "pool": pool[used],
            "sizes": sizes[labels],
            "points": new[points[at]],
            "weight": _lines(arrays, "weight", at, int(n.sum())),
            "B": _lines(arrays, "B", at_B, int((n**2).sum())),
            "extra": new[extra[at_extra]],
            "extra_weight": _lines(arrays, "extra_weight", at_extra, int(m.sum())),
        }
        if "scale" in arrays:
            part["scale"] = _lines(arrays, "scale", at, int(n.sum()))
        parts.append(part | _fading(arrays, labels, n_labels))
    return parts


def join_dual(parts: Sequence[Arrays]) -> Arrays:
    """The pools one after the other, and the expansions in the order of their labels."""
    offsets = _offsets(parts, "pool")
    sizes = _interleaved([part["sizes"] for part in parts], axis=0)
    n, m = sizes[:, 0], sizes[:, 1]
    whole = {"pool": _joined(parts, "pool"), "sizes": sizes}
    names = [("points", n), ("weight", n), ("B", n**2), ("extra", m), ("extra_weight", m)]
    for name, size in names + ([("scale", n)] if "scale" in parts[0] else []):
        whole[name] = np.empty(int(size.sum()), parts[0][name].dtype)
        for i, part in enumerate(parts):
            labels = np.arange(i, len(sizes), len(parts))
            given = part[name] + offsets[i] if name in ("points", "extra") else part[name]
            whole[name][_members(size, labels)] = given
    return whole | _joined_fading(parts)


# -- pieces ------------------------------------------------------------------------------------


def _get(arrays: Arrays, name: str) -> Array:
    if name not in arrays:
        raise FileError(f"the array {name!r} is missing")
    return arrays[name]


def _lines(arrays: Arrays, name: str, lines: Ints, n: int, axis: int = 0) -> Array:
    """These lines of an array that has n of them; `FileError` if it has not."""
    array = _get(arrays, name)
    if array.ndim <= axis or array.shape[axis] != n:
        raise FileError(f"the array {name!r} is of shape {array.shape}, expected {n} of its lines")
    return array.take(lines, axis)


def _fading(arrays: Arrays, lines: Ints, n: int) -> Arrays:
    """The clocks of these lines, if the model forgets."""
    if "clock" not in arrays:
        return {}
    return {"since": _lines(arrays, "since", lines, n), "clock": arrays["clock"]}


def _joined_fading(parts: Sequence[Arrays]) -> Arrays:
    if "clock" not in parts[0]:
        return {}
    since = _interleaved([part["since"] for part in parts], axis=0)
    return {"since": since, "clock": parts[0]["clock"]}


def _places(kept: Ints, n: int) -> Ints:
    """The place of each of n numbers among those that are kept, or NONE."""
    places = np.full(n, NONE, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    return places


def _renumbered(index: Ints, kept: Ints, n: int) -> Ints:
    """The index into what is kept, NONE where there was none."""
    places = np.append(_places(kept, n), NONE)  # the last one is what NONE finds
    return places[index]


def _moved(index: Ints, offset: int) -> Ints:
    """The index into arrays that begin later now, NONE where there was none."""
    return np.where(index >= 0, index + offset, NONE)


def _offsets(parts: Sequence[Arrays], name: str) -> Ints:
    """Where the lines of each part begin in the joined array."""
    return np.cumsum([0, *(len(part[name]) for part in parts)])[:-1]


def _joined(parts: Sequence[Arrays], name: str) -> Array:
    return np.concatenate([part[name] for part in parts])


def _interleaved(arrays: Sequence[Array], axis: int) -> Array:
    """Line i of the whole is line i // n of array i % n."""
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    whole = np.empty(shape, arrays[0].dtype)
    for i, array in enumerate(arrays):
        np.moveaxis(whole, axis, 0)[i :: len(arrays)] = np.moveaxis(array, axis, 0)
    return whole


def _members(size: Ints, labels: Ints) -> Ints:
    """The places of what belongs to these labels, if label i has size[i] entries in a row."""
    first = np.cumsum(size) - size
    n = size[labels]
    within = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    return np.repeat(first[labels], n) + within


LAYOUTS: dict[type, Layout] = {
    Full: Layout(divide_full, join_full),
    Diagonal: Layout(divide_diagonal, join_diagonal),
    Dual: Layout(divide_dual, join_dual),
}
