"""A learner's settings as JSON and back.

Our own parts are written by name and fields. A user's function cannot be: its name and a few of
its values are, so that `load` can ask for it again and refuse a different one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandit.errors import InputError
from semibandit.models.diagonal import Diagonal
from semibandit.models.dual import Dual
from semibandit.models.full import Full
from semibandit.models.kernel import Linear, Polynomial, Rbf
from semibandit.theory.cost import Costs, constant, decreasing
from semibandit.theory.surrogate import Logistic, Square, Surrogate
from semibandit.theory.width import KnownNorm, Scaled, UnknownNorm

__all__ = ["decode", "encode"]

DATACLASSES = {
    cls.__name__: cls
    for cls in (Full, Diagonal, Dual, Linear, Rbf, Polynomial, Scaled, KnownNorm, UnknownNorm)
}
COSTS = {"decreasing": decreasing, "constant": constant}


def encode(settings: Mapping[str, object]) -> dict[str, Any]:
    """JSON for settings: numbers and texts as they are, parts as {"is": ...}."""
    return {key: _encode(key, value) for key, value in settings.items()}


def decode(data: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Any]:
    """Settings from JSON; `given` holds the user's own parts, by key."""
    unused = set(given)
    settings = {key: _decode(key, value, given, unused) for key, value in data.items()}
    if unused:
        raise InputError(
            f"load was given {', '.join(sorted(unused))}, but this file holds no such part"
        )
    return settings


def _encode(key: str, value: object) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value) in DATACLASSES.values():
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        return {"is": type(value).__name__, **encode(fields)}
    if type(value) is Square:
        return {"is": "Square"}
    if type(value) is Logistic:
        return {"is": "Logistic", "R": value.R}
    if isinstance(value, Costs):
        for name, function in COSTS.items():
            if value.cost is function:
                return {"is": name}
        if not callable(value.cost):
            return {"is": "table", "rows": [row.tolist() for row in value.cost]}
    return {"is": "your own", "name": _name(value), "values": _values(key, value)}


def _decode(key: str, data: Any, given: Mapping[str, object], unused: set[str]) -> Any:
    if not isinstance(data, dict):
        return data
    kind = data["is"]
    if kind == "your own":
        if key not in given:
            raise InputError(
                f"this learner uses a {key} of your own, {data['name']!r}, which a file cannot "
                f"hold: give it again, load(path, {key}=...)"
            )
        unused.discard(key)
        value: object = Costs(given[key]) if key == "cost" else given[key]  # type: ignore[arg-type]
        if not np.allclose(_values(key, value), data["values"], rtol=1e-9, atol=1e-12):
            raise InputError(
                f"the {key} given is not the one this learner was saved with, {data['name']!r}: "
                "it gives other values"
            )
        return value
    if kind == "Square":
        return Square()
    if kind == "Logistic":
        return Logistic(data["R"])
    if kind == "table":
        return Costs(data["rows"])
    if kind in COSTS:
        return Costs(COSTS[kind])
    if kind in DATACLASSES:
        fields = {k: _decode(k, v, given, unused) for k, v in data.items() if k != "is"}
        return DATACLASSES[kind](**fields)
    raise InputError(f"this file has a {key} of an unknown kind, {kind!r}")


def _name(value: object) -> str:
    inner = value.cost if isinstance(value, Costs) else value
    if isinstance(inner, Surrogate):
        return inner.name
    return getattr(inner, "__name__", type(inner).__name__)


def _values(key: str, value: Any) -> list[float]:
    """A few values of a user's function, to know it again by."""
    if key == "cost":
        return [float(c) for s in (1, 2, 3, 5, 8) for c in value.row(s)]
    if key == "loss":
        grid = np.linspace(-value.R, value.R, 9)
        constants = [value.R, value.c_L, value.c_L1, value.c_L2]
        return [*constants, *value.slope(grid).tolist(), *value.value(grid).tolist()]
    if key == "width":
        norm2 = np.array([1.0, 0.5, 0.01])
        return [float(v) for v in value(norm2, t=7, d=3, K=5, loss=Square())]
    if key == "kernel":
        X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
        return [float(v) for v in np.asarray(value(X, X)).ravel()]
    raise InputError(f"{key} = {value!r} cannot be saved")
