"""A learner as one file: a JSON header and arrays in one .npz, no pickle, never half-written."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from semibandit._util.atomic import replacing
from semibandit._util.checks import shortened
from semibandit._util.npz import NPZ_ERRORS
from semibandit.errors import FileError, InputError, MissingFile
from semibandit.models.kernel import Kernel
from semibandit.models.model import Arrays, take
from semibandit.policies import spec
from semibandit.policies.labels import Labels
from semibandit.theory.cost import Cost
from semibandit.theory.surrogate import Surrogate
from semibandit.theory.width import Width

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = ["VERSION", "Snapshot", "config_of", "load", "register", "snapshot_of"]

VERSION = 1
HEADER = "semibandit"
COMMON = ("cost", "a", "normalize", "bias", "seed")  # what every learner takes

_classes: dict[str, type[Learner]] = {}  # every learner class, by its name in files


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A learner at one moment: what a file of it holds."""

    header: dict[str, Any]
    arrays: Arrays

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write beside `path`, then take its place at one stroke: the old file or the new one."""
        with replacing(path) as file:
            self.write(file)

    def write(self, file: BinaryIO) -> None:
        """Write to an open file."""
        text = json.dumps({"version": VERSION, **self.header}).encode()
        contents = {HEADER: np.frombuffer(text, dtype=np.uint8), **self.arrays}
        np.savez(file, allow_pickle=False, **contents)

    def to_bytes(self) -> bytes:
        """The content of the file."""
        buffer = io.BytesIO()
        self.write(buffer)
        return buffer.getvalue()

    @classmethod
    def read(cls, file: BinaryIO, name: str) -> Snapshot:
        """From an open file, which errors call `name`."""
        try:
            if not zipfile.is_zipfile(file):
                raise FileError("it is no .npz file, or cut off")
            file.seek(0)
            archive = np.load(file, allow_pickle=False)
            if HEADER not in archive.files:
                raise FileError("it was not written by semibandit")
            arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop(HEADER).tobytes())
            if not isinstance(header, dict) or not isinstance(header.get("version"), int):
                raise FileError("its header has no version")
            for key, array in arrays.items():
                if not array.ndim:
                    raise FileError(f"the array {key!r} is a single number")
        except NPZ_ERRORS as why:
            raise FileError(f"{name} is not a whole semibandit file: {why}") from None
        if header["version"] > VERSION:
            raise FileError(
                f"{name} has format {header['version']}, written by a newer semibandit; "
                f"this one reads formats up to {VERSION}"
            )
        return cls(header, arrays)


def snapshot_of(learner: Learner) -> Snapshot:
    """The learner at this moment: its header and copies of all its arrays."""
    with learner._lock.reading():
        header = {**config_of(learner), "t": learner.t, "labels": learner._labels.to_json()}
        arrays = {"tie": learner._tie.copy()}
        arrays |= {name: array.copy() for name, array in learner._arrays().items()}
    return Snapshot(header, arrays)


def config_of(learner: Learner) -> dict[str, Any]:
    """What the learner was made with, except its labels, as JSON can hold it."""
    return {
        "learner": _name_of(type(learner)),
        "n_features": learner.n_features,
        "settings": spec.encode(learner._settings()),
        "common": spec.encode({name: getattr(learner, name) for name in COMMON}),
    }


def register(cls: type[Learner]) -> None:
    """Let `load` find a learner class by its name."""
    _classes[_name_of(cls)] = cls


def load(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    cost: Cost | None = None,
    loss: Surrogate | None = None,
    width: Width | None = None,
    kernel: Kernel | None = None,
) -> Learner:
    """Read a learner that `save` wrote; it goes on as if it had never stopped.

    A cost, loss, width or kernel of your own is code, and code is not saved: give it again. It is
    checked to give the values it gave.

    Parameters
    ----------
    path : str, path or open binary file
        The file.
    cost, loss, width, kernel : optional
        The parts of your own that the learner was made with.

    Returns
    -------
    Learner
        Of the class that was saved.

    Raises
    ------
    MissingFile
        If there is no such file.
    FileError
        If the file is damaged, or not a learner's.
    InputError
        If a part of your own is missing, or not the one the learner was saved with.

    Examples
    --------
    >>> import os, tempfile, semibandit as sb
    >>> path = os.path.join(tempfile.mkdtemp(), "tea.npz")
    >>> sb.SlateUCB(n_features=2, labels=["tea", "coffee"]).save(path)
    >>> sb.load(path)
    SlateUCB(n_features=2, labels=2, t=1)
    """
    given = {"cost": cost, "loss": loss, "width": width, "kernel": kernel}
    yours = {name: part for name, part in given.items() if part is not None}
    if not isinstance(path, str | os.PathLike):
        if not hasattr(path, "read"):
            raise InputError(f"path = {shortened(path)}, but it must be a path or an open file")
        return _restored(Snapshot.read(path, "the snapshot"), "the snapshot", yours)
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            return _restored(Snapshot.read(file, name), name, yours)
    except FileNotFoundError:
        raise MissingFile(f"there is no file {name}") from None
    except IsADirectoryError:
        raise FileError(f"{name} is a folder, not a file of a learner") from None


def _restored(snapshot: Snapshot, name: str, yours: dict[str, Any]) -> Learner:
    try:
        cls, n_features, labels, t, parts = _read_header(snapshot.header)
        settings = spec.decode(parts, yours)
        learner = cls(n_features, len(labels.names), **settings)
        learner._labels, learner._t = labels, t
        learner._tie = take(snapshot.arrays, "tie", (len(labels.names),))
        learner._restore(snapshot.arrays)
    except InputError as why:
        raise type(why)(f"{name}: {why}") from None
    return learner


def _read_header(
    header: dict[str, Any],
) -> tuple[type[Learner], int, Labels, int, dict[str, Any]]:
    """The class, its features, labels, round and settings as JSON; a damaged one is a FileError."""
    try:
        kind, settings = str(header["learner"]), {**header["settings"], **header["common"]}
        n_features, t = int(header["n_features"]), int(header["t"])
        labels = Labels.from_json(header["labels"])
    except (KeyError, TypeError, ValueError, OverflowError) as why:
        raise FileError(f"its header is damaged: {why!r}") from None
    if kind not in _classes:
        raise InputError(f"it holds a {kind}; import that class first")
    return _classes[kind], n_features, labels, t, settings


def _name_of(cls: type[Learner]) -> str:
    """The name in files: plain for ours, with its module for a learner of yours."""
    ours = cls.__module__.startswith("semibandit.")
    return cls.__name__ if ours else f"{cls.__module__}.{cls.__qualname__}"
