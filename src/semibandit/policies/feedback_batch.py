"""Feedback to many slates, learned in one compiled call; what cannot be is learned one by one.

However events are divided into groups, the learner is the same to the bit: a log is learned in some
groups as it comes, and in others when it is learned again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.numba import has_numba
from semibandit.errors import InputError
from semibandit.models.dense import COMPENSATED_FROM
from semibandit.models.model import dense
from semibandit.policies.examination import Examination, at_positions, up_to_last_click
from semibandit.policies.features.hashed import Hashed
from semibandit.policies.labels import PLAIN, Label
from semibandit.policies.randomness import position_coins
from semibandit.theory.surrogate import Logistic

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = ["ShownFeedback", "can_compile", "learn_batch", "prepare"]

FEWEST = 8  # numbers that the model sees of a context, from which numba is worth loading
CERTAIN = -1  # in place of a position: the label is learned in any case
_ALL: list[int] = []


class ShownFeedback(NamedTuple):
    """A slate that was shown, as `Learner.shown` takes it, and the answer to it."""

    context: Any
    seen: Floats | None
    labels: list[Label]
    slots: int | None
    clicked: list[Label]
    examined: list[Label] | None
    retired: Sequence[Label] = ()


class _Lesson(NamedTuple):
    """What one event teaches: a context, and rows with their answers.

    `positions` are those of the labels if they count as often as they were looked at, `CERTAIN` if
    one was clicked; it is empty if all are learned in any case.
    """

    given: Floats
    x: Floats
    rows: list[int]
    hits: list[bool]
    positions: list[int]


def can_compile(learner: Learner) -> bool:
    """Whether this learner's feedback is learned by compiled code: always, or never.

    That must not depend on anything that changes while it learns, such as the number of labels.
    """
    wide = learner.n_inputs >= FEWEST and not isinstance(learner.features, Hashed)
    return wide and has_numba() and learner.learning_rule() is not None


def learn_batch(learner: Learner, batch: Sequence[ShownFeedback]) -> int:
    """Learn the first events of a batch in one compiled call, as many as can be.

    Parameters
    ----------
    learner : Learner
        The learner, for which `can_compile` is True.
    batch : sequence of ShownFeedback
        The events, in their order.

    Returns
    -------
    int
        How many were learned. The event after them, if there is one, must be learned by
        `Learner.learn`: it may be refused, or a matrix has to take another form.
    """
    while True:
        version = learner._changes
        lessons = _read(learner, batch)  # before the lock is had: nobody waits for this
        if not lessons:
            return 0
        with learner._lock.writing():
            if learner._changes == version:
                return _learn(learner, lessons)


def prepare(learner: Learner) -> None:
    """Compile what `learn_batch` needs for this learner, or load it."""
    from semibandit.policies.slate_ucb import SlateUCB

    rule = learner.learning_rule()
    assert rule is not None
    twin = SlateUCB(FEWEST, 1, model=learner.model)  # type: ignore[attr-defined]
    x, seen = np.ones(FEWEST), np.ones(twin.n_inputs)
    learn_batch(twin, [ShownFeedback(x, seen, [0], 1, [], None)])


def _read(learner: Learner, batch: Sequence[ShownFeedback]) -> list[_Lesson]:
    """The lessons of the first events, up to one that `Learner.learn` has to look at itself."""
    rule = learner.learning_rule()
    assert rule is not None
    lessons: list[_Lesson] = []
    for one in batch:
        if lessons and one.seen is None and learner.scaling_learns:
            break  # it is scaled by the contexts before it, once they are learned
        lesson = _lesson(learner, one, rule.examination)
        if lesson is None:
            break
        lessons.append(lesson)
    return lessons


def _lesson(
    learner: Learner, one: ShownFeedback, examination: Examination | None
) -> _Lesson | None:
    """What an event teaches; None if anything about it is unusual, except the numbers.

    `examination` is the learner's.
    """
    labels, clicked = one.labels, one.clicked
    examined = labels if one.examined is None else one.examined
    if not PLAIN.issuperset(map(type, chain(labels, clicked, one.examined or ()))):
        return None
    shown, hits = set(labels), set(clicked)
    seen = shown if one.examined is None else set(examined)
    sizes = len(shown), len(hits), len(seen)
    if sizes != (len(labels), len(clicked), len(examined)) or not hits <= seen <= shown:
        return None
    if one.slots is not None and one.slots < learner.at_least:
        return None
    rows = learner._labels.find(labels)
    if None in rows and not all(
        row is not None or label in learner._labels.retired
        for row, label in zip(rows, labels, strict=True)
    ):
        return None
    if one.retired:
        pairs = [*zip(rows, labels, strict=True)]
        rows = [None if label in one.retired else row for row, label in pairs]
    x = _seen(learner, one)
    if x is None:
        return None
    positions = _ALL
    if examination is not None and one.examined is None:
        if isinstance(examination, str):
            seen = set(up_to_last_click(labels, hits))
        else:
            places = [CERTAIN if label in hits else k for k, label in enumerate(labels)]
            positions = [k for row, k in zip(rows, places, strict=True) if row is not None]
    if None in rows or seen is not shown:
        pairs = [*zip(rows, labels, strict=True)]
        labels = [label for row, label in pairs if row is not None and label in seen]
        rows = [row for row, label in pairs if row is not None and label in seen]
    return _Lesson(
        one.context, x, cast(list[int], rows), [label in hits for label in labels], positions
    )


def _seen(learner: Learner, one: ShownFeedback) -> Floats | None:
    """What the model sees of the context; None if one of them is of another size, or cannot be
    scaled."""
    given, x = one.context, one.seen
    if type(given) is not np.ndarray or given.shape != (learner.n_features,):
        return None
    if x is None:
        try:
            x = dense(learner.scaled(learner.check_context(given)))
        except InputError:  # `Learner.learn` will say so
            return None
    return x if x.shape == (learner.n_inputs,) else None


def _looked_at(
    learner: Learner, examination: Examination | None, lessons: list[_Lesson], given: Floats,
    ptr: Ints,
) -> tuple[Floats, Floats]:  # fmt: skip
    """θ and the coin of each label of these lessons; 1 and 0 if it is learned in any case."""
    theta, coin = np.ones(ptr[-1]), np.zeros(ptr[-1])
    if not isinstance(examination, tuple):
        return theta, coin
    position = np.array(
        [k for one in lessons for k in one.positions or [CERTAIN] * len(one.rows)],
        dtype=np.intp,
    )
    open_ = np.flatnonzero(position != CERTAIN)
    if len(open_):
        n = int(position.max()) + 1
        coins = position_coins(learner.seed, learner.t, given, n)
        event = np.repeat(np.arange(len(lessons)), np.diff(ptr))
        theta[open_] = at_positions(examination, n)[position[open_]]
        coin[open_] = coins[event[open_], position[open_]]
    return theta, coin


def _learn(learner: Learner, lessons: list[_Lesson]) -> int:
    """Learn them, up to the first that is not plain; the lock must be had."""
    from semibandit.policies import compiled_learning as compiled

    rule = learner.learning_rule()
    assert rule is not None
    state, scaling = rule.state, learner._scaling
    X = np.array([one.x for one in lessons], dtype=state.w.dtype)
    given = np.array([one.given for one in lessons], dtype=np.float64)
    rows_of, hits_of = [one.rows for one in lessons], [one.hits for one in lessons]
    ptr = np.array([0, *accumulate(map(len, rows_of))], dtype=np.intp)
    label = np.array([*chain.from_iterable(rows_of)], dtype=np.intp)
    hit = np.array([*chain.from_iterable(hits_of)], dtype=np.bool_)
    theta, coin = _looked_at(learner, rule.examination, lessons, given, ptr)
    numbers = compiled.LearningNumbers(
        float(rule.loss.R),
        isinstance(rule.loss, Logistic),
        float(rule.loss.c_L2),
        state.turns_dense_at,
        COMPENSATED_FROM,
        min(learner._largest, sys.float_info.max),
        learner.features is not None,
    )
    rows, sums = state.rows_to_update(label), scaling.sums()
    lines = compiled.Lessons(X, given, ptr, label, hit, theta, coin)
    done = int(compiled.learn_in_turn(lines, numbers, rows, sums))
    state.set_used(rows)
    scaling.set_sums(sums)
    if done:
        learner.count_rounds(done)
    return done
