"""A setting: one run as data. What is replayed, by whom, how; JSON in, JSON out.

Parts are spelled in a word or two, the same in files and on the command line:

    loss    square | logistic:R
    model   full | full:float32 | diagonal | linear | rbf:GAMMA | polynomial:DEGREE
    width   scaled:ALPHA | known:U | known:U,DELTA | unknown | unknown:DELTA
    cost    decreasing | constant
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from semibandit._util.progress import ProgressOption
from semibandit.data.dataset import Dataset
from semibandit.errors import InputError
from semibandit.evaluation.replay import replay
from semibandit.evaluation.trace import Trace, log_spaced
from semibandit.experiments.sets import dataset
from semibandit.models.diagonal import Diagonal
from semibandit.models.dual import Dual
from semibandit.models.full import Full
from semibandit.models.kernel import linear, polynomial, rbf
from semibandit.policies.banditron import Banditron
from semibandit.policies.confidit import Confidit
from semibandit.policies.greedy import EpsilonGreedy, Greedy
from semibandit.policies.learner import Learner
from semibandit.policies.obr import OBR
from semibandit.policies.random import Random
from semibandit.policies.slate_ucb import SecondOrder, SlateUCB
from semibandit.policies.thompson import Thompson
from semibandit.theory.cost import constant, decreasing
from semibandit.theory.losses import KINDS
from semibandit.theory.surrogate import Logistic, Square, Surrogate
from semibandit.theory.width import KnownNorm, Scaled, UnknownNorm

__all__ = ["LEARNERS", "Setting", "replayed", "result_of", "run"]

LEARNERS: dict[str, type[Learner]] = {
    cls.__name__: cls
    for cls in (
        SlateUCB,
        OBR,
        Greedy,
        EpsilonGreedy,
        Thompson,
        Random,
        Banditron,
        Confidit,
    )
}
MARKS = 200  # points of a curve that are kept


@dataclass(frozen=True)
class Setting:
    """One run. `data` is a name of `semibandit data list`, a path, or a stand-in of `sets.py`."""

    data: str
    learner: str = "SlateUCB"
    loss: str = "square"
    model: str = "full"
    width: str = f"scaled:{Scaled.alpha:g}"
    cost: str = "decreasing"
    a: float = 0.5
    slots: int | None = None
    normalize: bool = True
    bias: bool = False
    rounds: int | None = None  # the first so many rows of the training part; None for all
    seed: int = 0

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Setting:
        """From JSON, checked by name."""
        known = {field.name for field in fields(cls)}
        for key in given:
            if key not in known:
                raise InputError(f"{key!r} is not part of a setting: {', '.join(sorted(known))}")
        return cls(**given)

    def build(self, d: int, labels: Any) -> Learner:
        """The learner, new."""
        kind = LEARNERS.get(self.learner)
        if kind is None:
            names = ", ".join(LEARNERS)
            raise InputError(f"learner = {self.learner!r}, but it must be one of {names}")
        options: dict[str, Any] = {
            "cost": _chosen("cost", self.cost, {"decreasing": decreasing, "constant": constant}),
            "a": self.a,
            "normalize": self.normalize,
            "bias": self.bias,
            "seed": self.seed,
        }
        if issubclass(kind, SecondOrder):
            if kind is not OBR:
                options["model"] = read_model(self.model)
            if kind is not Confidit:
                options["loss"] = read_loss(self.loss)
            if issubclass(kind, SlateUCB):
                options["width"] = read_width(self.width)
        return kind(d, labels, **options)

    def json(self) -> dict[str, Any]:
        return asdict(self)


def run(given: Mapping[str, Any]) -> dict[str, Any]:
    """Replay a setting, given as JSON; its result, as JSON. One thread: sweeps fill the cores."""
    setting = Setting.of(given)
    return result_of(replayed(setting, dataset(setting.data), threads=1), setting)


def replayed(
    setting: Setting, data: Dataset, *, threads: int | None = None, progress: ProgressOption = False
) -> Trace:
    """The trace of a setting's replay on a data set."""
    learner = setting.build(data.d, data.K)
    rows = slice(setting.rounds)
    return replay(
        learner,
        data.X_train[rows],
        data.Y_train[rows],
        1 if learner.one_slot else setting.slots,
        keep_slates=False,
        threads=threads,
        progress=progress,
    )


def result_of(trace: Trace, setting: Setting) -> dict[str, Any]:
    """The numbers of a replay that reports are made of."""
    T = len(trace)
    marks = log_spaced(T, MARKS)
    S = trace.n_labels if setting.slots is None else min(setting.slots, trace.n_labels)
    found: dict[str, Any] = {kind: float(trace.losses(kind).mean()) for kind in KINDS}
    return found | {
        "rounds": T,
        "hamming_per_label": found["hamming"] / trace.n_labels,
        "rank_per_slot": found["rank"] / max(S, 1),
        "size": float(trace.sizes.mean()),
        "precision": trace.precision,
        "recall": trace.recall,
        "marks": marks.tolist(),
        "curve": trace.averages("ac")[marks - 1].tolist(),
    }


def read_loss(text: str) -> Surrogate:
    """square | logistic:R."""
    name, numbers = _spelled("loss", text)
    choices: dict[str, Callable[..., Surrogate]] = {"square": Square, "logistic": Logistic}
    return _made("loss", text, _chosen("loss", name, choices), numbers)  # type: ignore[no-any-return]


def read_width(text: str) -> Any:
    """scaled:ALPHA | known:U,DELTA | unknown:DELTA."""
    name, numbers = _spelled("width", text)
    choices = {"scaled": Scaled, "known": KnownNorm, "unknown": UnknownNorm}
    return _made("width", text, _chosen("width", name, choices), numbers)


def read_model(text: str) -> Any:
    """full | full:float32 | diagonal | linear | rbf:GAMMA | polynomial:DEGREE."""
    if text == "full:float32":
        return Full(dtype="float32")
    name, numbers = _spelled("model", text)
    if name == "polynomial":
        numbers = [int(n) if float(n).is_integer() else n for n in numbers]
    choices: dict[str, Callable[..., Any]] = {
        "full": Full,
        "diagonal": Diagonal,
        "linear": lambda: Dual(linear),
        "rbf": lambda gamma=1.0: Dual(rbf(gamma)),
        "polynomial": lambda degree=2: Dual(polynomial(degree)),
    }
    return _made("model", text, _chosen("model", name, choices), numbers)


def _spelled(what: str, text: str) -> tuple[str, list[float]]:
    """name:number,number."""
    name, _, rest = str(text).partition(":")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise InputError(f"{what} = {text!r}: {rest!r} is not a number") from None
    if not all(math.isfinite(number) for number in numbers):
        raise InputError(f"{what} = {text!r}, but its numbers must be finite")
    return name.lower(), numbers


def _chosen(what: str, name: str, choices: dict[str, Any]) -> Any:
    if name not in choices:
        raise InputError(f"{what} = {name!r}, but it must be one of {', '.join(choices)}")
    return choices[name]


def _made(what: str, text: str, make: Callable[..., Any], numbers: list[float]) -> Any:
    try:
        return make(*numbers)
    except TypeError:
        raise InputError(
            f"{what} = {text!r}: {len(numbers)} numbers are not what it takes"
        ) from None
    except ValueError as why:
        raise InputError(f"{what} = {text!r}: {why}") from None
