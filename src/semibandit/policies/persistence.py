"""A learner as one file: a JSON header and arrays in one .npz, no pickle, never half-written."""

from __future__ import annotations

import inspect
import io
import json
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from semibandit._util.arrays import Array
from semibandit._util.atomic import replacing
from semibandit._util.checks import shortened
from semibandit._util.json import exact_json
from semibandit._util.npz import read_npz, save_npz
from semibandit.errors import FileError, InputError, MissingFile
from semibandit.models.kernel import Kernel
from semibandit.models.model import Arrays, Model, take
from semibandit.models.sharded.model import ShardedModel
from semibandit.models.sharded.placement import Shards
from semibandit.policies import spec
from semibandit.policies.device import on_device
from semibandit.policies.features.encoder import NamedFeatures, features_from_words
from semibandit.policies.labels import Labels, read_count
from semibandit.theory.cost import Cost
from semibandit.theory.surrogate import Surrogate
from semibandit.theory.width import Scaled, Width

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = [
    "LOG_POSITION",
    "VERSION",
    "Snapshot",
    "config_of",
    "divided",
    "load",
    "register",
    "snapshot_of",
    "to_device",
]

VERSION = 2
HEADER = "semibandit"
LOG_POSITION = "log_position"  # in the header: the last event of a service's log that it learned
COMMON = ("cost", "a", "scale", "bias", "seed")  # what every learner takes

SMALL_FEATURES, SMALL_LABELS = 211, 223  # numbers that no axis has for another reason

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
        save_npz(file, contents)

    def to_bytes(self) -> bytes:
        """The content of the file."""
        buffer = io.BytesIO()
        self.write(buffer)
        return buffer.getvalue()

    @classmethod
    def read(cls, file: BinaryIO, name: str) -> Snapshot:
        """From an open file, which errors call `name`; it takes no more memory than the file."""
        try:
            arrays = read_npz(file)
            if HEADER not in arrays:
                raise FileError("it was not written by semibandit")
            header = exact_json(arrays.pop(HEADER).tobytes(), bounded=True)
            if not isinstance(header, dict) or not isinstance(header.get("version"), int):
                raise FileError("its header has no version")
            for key, array in arrays.items():
                if not array.ndim:
                    raise FileError(f"the array {key!r} is a single number")
                if array.dtype.kind == "f" and not _is_finite(array):
                    raise FileError(f"the array {key!r} has a number that is not finite")
        except ValueError as why:
            raise FileError(f"{name} is not a whole semibandit file: {why}") from None
        if header["version"] > VERSION:
            raise FileError(
                f"{name} has format {header['version']}, written by a newer semibandit; "
                f"this one reads formats up to {VERSION}"
            )
        return cls(header, arrays)


def _is_finite(array: Array) -> bool:
    """Whether all numbers are finite: if their sum is, which takes no memory, all of them are."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())


def snapshot_of(learner: Learner) -> Snapshot:
    """The learner at this moment: its header and copies of all its arrays."""
    with learner._lock.reading():
        header = {**config_of(learner), "t": learner.t, "labels": learner._labels.to_json()}
        if learner._encoder is not None:
            header["values"] = learner._encoder.to_json()
        arrays = {"tie": learner._tie.copy()}
        arrays |= {name: _kept(array) for name, array in learner._arrays().items()}
        counted = learner._scaling.arrays().items()
        arrays |= {f"scaling.{name}": array.copy() for name, array in counted}
    return Snapshot(header, arrays)


def _kept(array: Array) -> Array:
    """The array as it is now: nobody changes one that cannot be written to, so it is not copied."""
    return array.copy() if array.flags.writeable else array


def to_device(learner: Learner, device: str | None) -> Learner:
    """A copy of the learner on this device, as `save` and `load` would make it."""
    now = snapshot_of(learner)
    now = Snapshot({"version": VERSION, **now.header}, now.arrays)
    return _restored(now, "the learner", {}, device)


def config_of(learner: Learner) -> dict[str, Any]:
    """What the learner was made with, except its labels, as JSON can hold it."""
    features = {} if learner.features is None else {"features": learner.features.words}
    return {
        "learner": _name_of(type(learner)),
        "n_features": learner.n_features,
        **features,
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
    shards: int | Shards | None = None,
    on: str = "ray",
    device: str | None = None,
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
    shards : int or Shards, optional
        Divide its labels among so many shards, as `Sharded` does. Files know nothing of shards:
        they can be loaded into any number, or none.
    on : {"ray", "here"}
        Where the shards are, if `shards` is a number.
    device : {"cuda", "cuda:1", ..., "cpu"}, optional
        Where the model of the learner is to be, see `Full`. By default it is numpy's, wherever
        the learner was when it was saved.

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
    DeviceError
        If the device is not there, too small, or not for the model of this learner.

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
    asked = shards if isinstance(shards, Shards) else Shards(1 if shards is None else shards, on)
    placed = None if shards is None else asked  # a wrong `on` is refused either way
    if not isinstance(path, str | os.PathLike):
        if not hasattr(path, "read"):
            raise InputError(f"path = {shortened(path)}, but it must be a path or an open file")
        return _restored(Snapshot.read(path, "the snapshot"), "the snapshot", yours, device, placed)
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            return _restored(Snapshot.read(file, name), name, yours, device, placed)
    except FileNotFoundError:
        raise MissingFile(f"there is no file {name}") from None
    except IsADirectoryError:
        raise FileError(f"{name} is a folder, not a file of a learner") from None


def _restored(
    snapshot: Snapshot, name: str, yours: dict[str, Any], device: str | None = None,
    shards: Shards | None = None,
) -> Learner:  # fmt: skip
    try:
        cls, n_features, labels, t, parts = _read_header(snapshot)
        settings = spec.decode(parts, yours)
        if snapshot.header["version"] == 1:
            settings = _from_version_1(cls, settings)
        if cls.__module__.startswith("semibandit."):
            _check_arrays(cls, settings, snapshot.arrays, n_features, len(labels.names))
        settings = on_device(settings, device)
        if shards is not None:
            settings["model"] = divided(cls, settings.get("model"), shards)
        features = _read_features(snapshot.header, n_features)
        learner = cls(features or n_features, len(labels.names), **settings)
        if features is not None:
            learner._encoder = features.encoder(snapshot.header.get("values"))
        learner._labels, learner._t = labels, t
        learner._tie = take(snapshot.arrays, "tie", (len(labels.names),))
        learner._restore(snapshot.arrays)
        counted = [name for name in snapshot.arrays if name.startswith("scaling.")]
        learner._scaling.restore(
            {name.removeprefix("scaling."): snapshot.arrays[name] for name in counted}
        )
    except InputError as why:
        raise type(why)(f"{name}: {why}") from None
    return learner


def divided(learner: type[Learner], model: Model | None, shards: Shards) -> ShardedModel:
    """The model of a learner of this class, divided among shards; `InputError` if it has none."""
    if model is None or "model" not in inspect.signature(learner).parameters:
        raise InputError(
            f"{learner.__name__} takes no model, so its labels cannot be divided among shards"
        )
    return ShardedModel(model, shards)


def _read_header(
    snapshot: Snapshot,
) -> tuple[type[Learner], int, Labels, int, dict[str, Any]]:
    """The class, its features, labels, round and settings as JSON; a damaged one is a FileError."""
    header = snapshot.header
    try:
        kind, settings = str(header["learner"]), {**header["settings"], **header["common"]}
        n_features, t = (read_count(key, header[key], least=1) for key in ("n_features", "t"))
        labels = Labels.from_json(header["labels"], len(snapshot.arrays.get("tie", ())))
    except FileError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as why:
        raise FileError(f"its header is damaged: {why!r}") from None
    if kind not in _classes:
        raise InputError(f"it holds a {kind}; import that class first")
    return _classes[kind], n_features, labels, t, settings


def _check_arrays(
    cls: type[Learner], settings: dict[str, Any], arrays: Arrays, n_features: int, rows: int
) -> None:
    """Raise a `FileError` unless these are the arrays of a learner of this size, in their shapes.

    A small learner of the same settings says which arrays there are, and which of their axes are
    labels and features. So no room is made for anything that the file does not have the bytes of.
    """
    small = cls(SMALL_FEATURES, SMALL_LABELS, **settings)
    n_inputs = n_features + small.n_inputs - SMALL_FEATURES
    size = {SMALL_LABELS: rows, SMALL_FEATURES: n_features, small.n_inputs: n_inputs}
    expected = snapshot_of(small).arrays
    if unknown := arrays.keys() - expected.keys():
        raise FileError(f"it holds the array {min(unknown)[:40]!r}, which a {cls.__name__} has not")
    for name, one in expected.items():
        wanted = [size.get(n) for n in one.shape]  # None is any number
        if not any(wanted):
            continue
        text, array = repr(name.rpartition(".")[2]), arrays.get(name)
        if array is None:
            raise FileError(f"the array {text} is missing")
        pairs = zip(wanted, array.shape, strict=False)
        if array.ndim != len(wanted) or any(n not in (None, there) for n, there in pairs):
            shape = ", ".join("any" if n is None else str(n) for n in wanted)
            raise FileError(
                f"the array {text} is {array.dtype} of shape {array.shape}, expected ({shape}) for "
                f"{rows} labels and {n_features} features"
            )


def _read_features(header: dict[str, Any], n_features: int) -> NamedFeatures | None:
    """The named features of the learner, if it has any; a `FileError` if they are damaged."""
    if "features" not in header:
        return None
    try:
        features = features_from_words(header["features"])
    except InputError as why:
        raise FileError(f"its header is damaged: {why}") from None
    if features.size != n_features:
        raise FileError(
            f"its header is damaged: it has {n_features} features, and those named are "
            f"{features.size}"
        )
    if not isinstance(header.get("values", {}), dict):
        raise FileError(f"its header is damaged: values = {shortened(header['values'])}")
    return features


def _from_version_1(cls: type[Learner], settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a file from before contexts were standardised: it goes on as Figure 2."""
    settings = dict(settings)
    if "normalize" in settings:
        settings["scale"] = "unit" if settings.pop("normalize") else "none"
    takes = inspect.signature(cls).parameters
    if "project" in takes:
        settings["project"] = "all"
    if "probe" in takes:
        settings["probe"] = 0.0
    unit = math.sqrt(settings["loss"].c_L2) if "loss" in settings else 1.0
    if isinstance(settings.get("width"), Scaled):  # ε was alpha·sqrt(x·A⁻¹x), without c''_L
        settings["width"] = Scaled(settings["width"].alpha * unit)
    if "alpha" in settings and "loss" in settings:  # Thompson's, too
        settings["alpha"] *= unit
    return settings


def _name_of(cls: type[Learner]) -> str:
    """The name in files: plain for ours, with its module for a learner of yours."""
    ours = cls.__module__.startswith("semibandit.")
    return cls.__name__ if ours else f"{cls.__module__}.{cls.__qualname__}"
