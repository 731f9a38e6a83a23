"""Parts of a learner in words and in JSON, and back.

A part is a loss, a width, a model, a kernel or a cost. In words it is spelled the same on the
command line, in files of settings, in results and in stores:

    loss    square | logistic:R
    width   scaled:ALPHA | known:U | known:U,DELTA | unknown | unknown:DELTA | logdet:U
            | logdet:U,DELTA
    model   full | full:float32 | diagonal | dual:KERNEL | dual:KERNEL:budget=N
    kernel  linear | rbf | rbf:GAMMA | polynomial | polynomial:DEGREE | polynomial:DEGREE,C
    cost    decreasing | constant | table:1;0.8,0.2;...

In a learner's file it is JSON, {"is": "Scaled", "alpha": 0.25}. A function of the user's own has no
words; in a file it is its name and a few of its values, so that `load` can ask for it again and
refuse a different one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.checks import nearest, shortened
from semibandit.errors import FileError, InputError
from semibandit.models.diagonal import Diagonal
from semibandit.models.dual import Dual
from semibandit.models.full import Full
from semibandit.models.kernel import Linear, Polynomial, Rbf, polynomial, rbf
from semibandit.theory.cost import Costs, constant, decreasing
from semibandit.theory.surrogate import Logistic, Square, Surrogate
from semibandit.theory.width import KnownNorm, LogDet, Scaled, UnknownNorm, reads_log_det

__all__ = ["WORDS", "decode", "encode", "number_words", "parse", "to_words"]

WORDS = {  # what the words of each kind look like, for help and for error messages
    "loss": "square | logistic:R",
    "width": "scaled:ALPHA | known:U,DELTA | unknown:DELTA | logdet:U,DELTA",
    "model": "full | full:float32 | diagonal | dual:KERNEL | dual:KERNEL:budget=N",
    "kernel": "linear | rbf:GAMMA | polynomial:DEGREE,C",
    "cost": "decreasing | constant | table:1;0.8,0.2;...",
}


@dataclass(frozen=True)
class PartType:
    """A kind of part that has words: how it is spelled, named in files, and made."""

    kind: str  # loss, width, model or kernel
    word: str
    cls: type  # its name is the name in files
    fields: tuple[str, ...] = ()  # its numbers, in the order of the words
    make: Callable[..., Any] | None = None  # with checks, if the class itself has none

    def build(self, **values: Any) -> Any:
        return (self.make or self.cls)(**values)


PART_TYPES = (
    PartType("loss", "square", Square),
    PartType("loss", "logistic", Logistic, ("R",)),
    PartType("width", "scaled", Scaled, ("alpha",)),
    PartType("width", "known", KnownNorm, ("U", "delta")),
    PartType("width", "unknown", UnknownNorm, ("delta",)),
    PartType("width", "logdet", LogDet, ("U", "delta")),
    PartType("model", "full", Full, ("dtype",)),
    PartType("model", "diagonal", Diagonal),
    PartType("model", "dual", Dual, ("kernel", "budget")),
    PartType("kernel", "linear", Linear),
    PartType("kernel", "rbf", Rbf, ("gamma",), rbf),
    PartType("kernel", "polynomial", Polynomial, ("degree", "c"), polynomial),
)
COSTS: dict[str, Callable[..., Any]] = {"decreasing": decreasing, "constant": constant}
BY_CLASS = {part.cls: part for part in PART_TYPES}
BY_NAME = {part.cls.__name__: part for part in PART_TYPES}


# -- words -------------------------------------------------------------------------------------


def parse(kind: str, text: str) -> Any:
    """The part that these words spell.

    Parameters
    ----------
    kind : {"loss", "width", "model", "kernel", "cost"}
        What is spelled.
    text : str
        The words.

    Raises
    ------
    InputError
        If there is no such part; the text says what there is.

    Examples
    --------
    >>> parse("width", "scaled:0.5")
    Scaled(alpha=0.5)
    >>> parse("model", "dual:rbf:1")
    Dual(kernel=Rbf(gamma=1.0), budget=None)
    """
    try:
        return _parse(kind, str(text))
    except InputError as why:
        raise InputError(f"{kind} = {text!r}: {why}") from None


def to_words(kind: str, part: Any) -> str:
    """The words that spell this part; `parse` turns them back into it.

    Raises
    ------
    InputError
        If the part is of the user's own making: it has no words.

    Examples
    --------
    >>> to_words("model", Dual(rbf(0.5), budget=100))
    'dual:rbf:0.5:budget=100'
    """
    if kind == "cost":
        return _cost_words(part)
    found = BY_CLASS.get(type(part))
    if found is None or found.kind != kind:
        raise InputError(f"the {kind} {_name(part)!r} is your own: it cannot be spelled in words")
    if found.cls is Dual:
        budget = "" if part.budget is None else f":budget={part.budget}"
        return f"dual:{to_words('kernel', part.kernel)}{budget}"
    if found.cls is Full:
        return "full" if part.dtype == "float64" else f"full:{part.dtype}"
    numbers = ",".join(number_words(getattr(part, field)) for field in found.fields)
    return f"{found.word}:{numbers}" if numbers else found.word


def _parse(kind: str, text: str) -> Any:
    word, _, rest = text.strip().partition(":")
    word = word.lower()
    if kind == "cost":
        return _parse_cost(word, rest)
    if kind == "model" and word in ("linear", "rbf", "polynomial"):  # as they were spelled at first
        word, rest = "dual", text.strip()
    types = {part.word: part for part in PART_TYPES if part.kind == kind}
    found = types.get(word)
    if found is None:
        raise InputError(f"expected {WORDS[kind]}{nearest(word, types)}")
    if found.cls is Full:
        return Full(*([rest] if rest else []))
    if found.cls is Dual:
        return _parse_dual(rest)
    numbers = [_number(part) for part in rest.split(",")] if rest else []
    required = 1 if found.cls in (KnownNorm, LogDet) else 0
    if not required <= len(numbers) <= len(found.fields):
        raise InputError(f"{len(numbers)} numbers are not what {word} takes: {WORDS[kind]}")
    return found.build(**dict(zip(found.fields, numbers, strict=False)))


def _parse_dual(rest: str) -> Dual:
    """KERNEL or KERNEL:budget=N; without a kernel it is the linear one."""
    kernel, _, last = rest.rpartition(":")
    if last.startswith("budget="):
        budget = _number(last.removeprefix("budget="))
        return Dual(_parse("kernel", kernel or "linear"), budget)  # type: ignore[arg-type]
    return Dual(_parse("kernel", rest or "linear"))


def _parse_cost(word: str, rest: str) -> Any:
    if word == "table" and rest:
        return [[float(_number(cost)) for cost in row.split(",")] for row in rest.split(";")]
    if word not in COSTS or rest:
        hint = "" if word in COSTS or word == "table" else nearest(word, [*COSTS, "table"])
        raise InputError(f"expected {WORDS['cost']}{hint}")
    return COSTS[word]


def _cost_words(cost: Any) -> str:
    given = cost.cost if isinstance(cost, Costs) else cost
    for word, function in COSTS.items():
        if given is function:
            return word
    if callable(given):
        raise InputError(f"the cost {_name(given)!r} is your own: it cannot be spelled in words")
    rows = [",".join(number_words(float(c)) for c in row) for row in given]
    return f"table:{';'.join(rows)}"


def _number(text: str) -> int | float:
    """A finite number; a whole one as an int."""
    try:
        number = float(text)
    except ValueError:
        raise InputError(f"{text!r} is not a number") from None
    if not math.isfinite(number):
        raise InputError(f"{text!r} is not a finite number")
    return int(number) if number.is_integer() else number


def number_words(number: float) -> str:
    """As short as it goes, and exact: 1, not 1.0."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


# -- JSON --------------------------------------------------------------------------------------


def encode(settings: Mapping[str, object]) -> dict[str, Any]:
    """Settings as JSON can hold them: numbers and texts as they are, parts as {"is": ...}."""
    return {key: _encode(key, value) for key, value in settings.items()}


def decode(data: Mapping[str, Any], yours: Mapping[str, object]) -> dict[str, Any]:
    """Settings from JSON; `yours` holds the user's own parts, by key."""
    unused = set(yours)
    settings = {key: _decode(key, value, yours, unused) for key, value in data.items()}
    if unused:
        names = ", ".join(sorted(unused))
        raise InputError(f"load was given {names}, but this file holds no such part")
    return settings


def _encode(key: str, value: object) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    part = BY_CLASS.get(type(value))
    if part is not None:
        fields = {name: getattr(value, name) for name in part.fields}
        return {"is": part.cls.__name__, **encode(fields)}
    if isinstance(value, Costs):
        for name, function in COSTS.items():
            if value.cost is function:
                return {"is": name}
        if not callable(value.cost):
            return {"is": "table", "rows": [row.tolist() for row in value.cost]}
    return {"is": "your own", "name": _name(value), "values": _values(key, value)}


def _decode(key: str, data: Any, yours: Mapping[str, object], unused: set[str]) -> Any:
    if not isinstance(data, dict):
        return data
    name = str(data.get("is"))
    if name == "your own":
        unused.discard(key)
        return _yours(key, data, yours)
    if key == "cost" and name == "table":
        return Costs(data.get("rows", ()))
    if key == "cost" and name in COSTS:
        return Costs(COSTS[name])
    part = BY_NAME.get(name)
    fields = {k: v for k, v in data.items() if k != "is"}
    if part is None or part.kind != key or fields.keys() != set(part.fields):
        raise FileError(f"this file has a {key} of an unknown kind, {shortened(data)}")
    return part.build(**{k: _decode(k, v, yours, unused) for k, v in fields.items()})


def _yours(key: str, data: dict[str, Any], yours: Mapping[str, object]) -> object:
    """The user's own part, if it is the one that was saved."""
    if key not in yours:
        raise InputError(
            f"this learner uses a {key} of your own, {data.get('name')!r}, which a file cannot "
            f"hold: give it again, load(path, {key}=...)"
        )
    value: object = Costs(yours[key]) if key == "cost" else yours[key]  # type: ignore[arg-type]
    here, there = _values(key, value), data.get("values", ())
    if len(here) != len(there) or not np.allclose(here, there, rtol=1e-9, atol=1e-12):
        raise InputError(
            f"the {key} given is not the one this learner was saved with, {data.get('name')!r}: "
            "it gives other values"
        )
    return value


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
        seen = {"log_det": -np.log(norm2)} if reads_log_det(value) else {}
        return [float(v) for v in value(norm2, t=7, d=3, K=5, loss=Square(), **seen)]
    if key == "kernel":
        X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
        return [float(v) for v in np.asarray(value(X, X)).ravel()]
    raise InputError(f"{key} = {value!r} cannot be saved")
