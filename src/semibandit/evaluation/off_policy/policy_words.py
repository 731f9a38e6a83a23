"""Policies to be judged, in words or as objects."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

from semibandit._util.checks import nearest, shortened
from semibandit.errors import InputError, UnknownKeyword
from semibandit.evaluation.off_policy.progressive import LearnerTarget
from semibandit.evaluation.off_policy.read_visits import VisitLog
from semibandit.evaluation.off_policy.targets import Logged, MostClicked, Target, Uniform
from semibandit.policies.learner import Learner
from semibandit.policies.learner_spec import LEARNERS, LearnerSpec
from semibandit.policies.persistence import LOG_POSITION, Snapshot, load
from semibandit.policies.randomised import Randomised, randomised

__all__ = [
    "LEARNING", "POLICY_WORDS", "Policy", "SAME", "read_changes", "read_target", "read_value",
]  # fmt: skip

Policy: TypeAlias = str | os.PathLike[str] | Learner | Randomised | LearnerSpec

LEARNING = ("log", "accepted", "none")
FIXED: dict[str, Callable[[], Target]] = {
    "uniform": Uniform,
    "logged": Logged,
    "most-clicked": MostClicked,
}
MAY_BE_NONE = ("slots", "rounds", "forget", "examination")
FRACTIONS = ("a", "probe", "forget")  # the other numbers are whole
SAME = "learner"  # the log's own learner, begun anew
POLICY_WORDS = (
    "uniform | logged | most-clicked | learner (the log's own, begun anew) | changes to it: "
    "a=0.9,width=scaled:0.5 or Greedy,randomise=mixed:0.05 | the file of a learner"
)


def read_target(policy: Policy, log: VisitLog, learning: str | None, name: str = "") -> Target:
    """The policy as it is judged.

    Parameters
    ----------
    policy : Learner, Randomised, LearnerSpec, path or str
        Who is to be judged; a learner is copied, never changed.
    log : VisitLog
        The log, whose own learner the changes in words are changes to.
    learning : {"log", "accepted", "none"}, optional
        Whether it learns along the log. By default, policies in words learn, and learners that are
        given as objects or files do not.
    name : str
        What to call it; by default its words.
    """
    if learning is not None and learning not in LEARNING:
        raise InputError(f"learning = {learning!r}, but it must be one of {', '.join(LEARNING)}")
    if isinstance(policy, str) and policy in FIXED:
        return FIXED[policy]()
    if isinstance(policy, Learner | Randomised):
        words = name or _describe(policy)
        return LearnerTarget(words, deepcopy(policy), learns=learning not in (None, "none"))
    if isinstance(policy, LearnerSpec):
        return _new_learner(name or _spec_words(policy), policy, None, log, learning)
    if isinstance(policy, os.PathLike) or (isinstance(policy, str) and policy.endswith(".npz")):
        learns = learning not in (None, "none")
        words = name or Path(policy).name
        return LearnerTarget(words, load(policy), learns=learns, position=log_position(policy))
    if not isinstance(policy, str):
        raise InputError(f"policy = {shortened(policy)}, but it must be {POLICY_WORDS}")
    changes = read_changes(policy)
    around = changes.pop("randomise", None)
    spec = LearnerSpec.of(log.learner())
    if "learner" in changes:  # settings of the log's learner that the other has not are ignored
        spec = spec.changed(learner=changes.pop("learner"))
    return _new_learner(name or policy, spec.changed(**changes), around, log, learning)


def read_changes(words: str) -> dict[str, Any]:
    """Changes to a learner in words: "a=0.9,width=scaled:0.5", or "Greedy a=1".

    Raises
    ------
    UnknownKeyword
        If a learner has no such setting.

    Examples
    --------
    >>> read_changes("Thompson:0.5,a=0.9,bias=false")
    {'learner': 'Thompson:0.5', 'a': 0.9, 'bias': False}
    """
    known = {field.name: field.default for field in fields(LearnerSpec)}
    changes: dict[str, Any] = {}
    parts = [part for part in re.split(r"\s+|,(?=\s*[A-Za-z_-]+=)", words.strip()) if part]
    if parts and "=" not in parts[0]:
        first = parts.pop(0)
        if first.partition(":")[0] in LEARNERS:
            changes["learner"] = first
        elif first != SAME:
            near = nearest(first, [*FIXED, SAME, *LEARNERS])
            raise InputError(f"policy = {words!r}, expected {POLICY_WORDS}{near}")
    for part in parts:
        key, equals, value = part.partition("=")
        key = key.replace("-", "_")
        if key == "randomise" and equals:
            changes[key] = value
        elif not equals or key not in known or key == "learner":
            names = [*(name for name in known if name != "learner"), "randomise"]
            raise UnknownKeyword(
                f"policy = {words!r}: {part!r} is not KEY=VALUE with a key of {', '.join(names)}"
                f"{nearest(key, names)}"
            )
        else:
            changes[key] = read_value(key, value, known[key])
    return changes


def read_value(key: str, text: str, like: object) -> object:
    """The text as what a setting of a run or a learner holds; `like` is another value of it.

    >>> read_value("a", "0.9", 0.5), read_value("forget", "none", None)
    (0.9, None)
    """
    if isinstance(like, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f"{key} = {text!r}, but it must be true or false")
        return text.lower() == "true"
    if text.lower() == "none" and key in MAY_BE_NONE:
        return None
    if isinstance(like, str) or key == "examination":
        return text
    try:
        return float(text) if key in FRACTIONS else int(text)
    except ValueError:
        raise InputError(f"{key} = {text!r}, but it must be a number") from None


def _new_learner(
    words: str, spec: LearnerSpec, around: str | None, log: VisitLog, learning: str | None
) -> LearnerTarget:
    """A new learner with these settings, for the features and labels of the log."""
    first = log.learner()
    learner = spec.build(
        first.features or first.n_features, first.n_labels if first.numbered else first.labels
    )
    policy = learner if around is None else randomised(around)(learner)
    target = LearnerTarget(words, policy, learns=learning != "none")
    if learning == "none":
        target.notes.append("it is judged as it is when it is new: it has learned nothing")
    elif first.t > 1:
        target.notes.append(
            f"the log began with a learner that had learned {first.t - 1:,} rounds elsewhere; this "
            "one began anew"
        )
    return target


def log_position(path: str | os.PathLike[str]) -> int | None:
    """The last event of a service's log that the learner in a file has learned, if it says so."""
    with open(path, "rb") as file:
        found = Snapshot.read(file, os.fspath(path)).header.get(LOG_POSITION)
    return found if isinstance(found, int) else None


def _describe(policy: Learner | Randomised) -> str:
    learner = policy.learner if isinstance(policy, Randomised) else policy
    around = f" {policy.words}" if isinstance(policy, Randomised) else ""
    return f"{type(learner).__name__}{around} (t={learner.t})"


def _spec_words(spec: LearnerSpec) -> str:
    default = LearnerSpec().json()
    changes = [
        f"{key}={value}"
        for key, value in spec.json().items()
        if key != "learner" and value != default[key]
    ]
    return " ".join([spec.learner, *changes])
