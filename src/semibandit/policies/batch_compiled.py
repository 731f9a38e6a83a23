"""Slates for many contexts at once: `scaled`, `_judge`, `order`, `cut` in compiled loops.

A NumPy operation on many contexts releases the interpreter lock and has to wait for it again,
dozens of times for a group of requests; a service whose other threads are busy loses more time by
that than by the arithmetic. So these loops keep the lock, and release it after every PART numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.errors import InputError
from semibandit.models import compiled_looks
from semibandit.policies import compiled
from semibandit.policies.choice import Choice, padded
from semibandit.policies.fast_rule import DECREASING, FastRule
from semibandit.policies.randomness import coins_of
from semibandit.policies.scaling import Scaling
from semibandit.policies.view import View
from semibandit.theory.surrogate import Logistic, Square, Surrogate

__all__ = ["choose_slates", "find_probes", "judge_labels", "prepare", "scale_contexts"]

PART = 1 << 16


def scale_contexts(X: Floats, scaling: Scaling) -> Floats | None:
    """`Scaling.scaled` of many dense contexts; None if it has to be asked itself."""
    if scaling.kind == "none" or (scaling.learns and not scaling.seen_all):
        return None
    out = np.empty((len(X), X.shape[1] + scaling.bias))
    if scaling.learns:
        n = scaling.n + 1.0 - scaling.unknown
        sums = scaling.origin, scaling.sum, scaling.sum2, n
        good = all(compiled.standardise_many(X[b], sums, scaling.bias, out[b]) for b in _parts(X))
    else:
        good = all(compiled.unit_many(X[b], scaling.bias, out[b]) for b in _parts(X))
    return out if good else None


def judge_labels(spread: float, loss: Surrogate, margin: Floats, norm2: Floats) -> View:
    """The view for margins and squared norms (B×K), if the surrogate is Square or Logistic."""
    margin, norm2 = np.array(margin, order="C"), np.ascontiguousarray(norm2)
    width, estimate, score, prob = (np.empty_like(margin) for _ in range(4))
    view = View(margin, width, estimate, score, prob, norm2)
    logistic = isinstance(loss, Logistic)
    for b in _parts(margin):
        part = tuple(array[b] for array in view.arrays)
        if not compiled.judge_many(spread, loss.R, logistic, norm2[b], part):
            raise InputError(
                "a label's margin or width is nan, not finite, at one of these contexts"
            )
    return view


def choose_slates(
    score: Floats, prob: Floats, tie: Floats, slots: Sequence[int | None], rule: FastRule
) -> tuple[Ints, Ints]:
    """For each line of scores (B×K) the best labels (B×S), and how many of them to show.

    These are the choices of the plain `order` and `cut`, for decreasing or constant costs.
    """
    K = score.shape[1]
    limits = np.array([K if s is None else min(s, K) for s in slots])
    best = np.zeros((len(score), int(limits.max())), dtype=np.intp)
    sizes = np.zeros(len(score), dtype=np.intp)
    for b in _parts(score):
        how = rule.a, rule.at_least, rule.cost_kind
        compiled.choose_many(score[b], prob[b], tie, limits[b], how, best[b], sizes[b])
    return best, sizes


def find_probes(
    views: View, c_L2: float, tie: Floats, choices: Sequence[Choice]
) -> list[int | None]:
    """`_probe` for every choice that has room for one more label; None for the others."""
    assert views.norm2 is not None
    found: list[int | None] = [None] * len(choices)
    alike: dict[int, list[int]] = {}  # choices among the same rows
    for b, one in enumerate(choices):
        if one.has_room:
            alike.setdefault(id(one.rows), []).append(b)
    norm2 = np.ascontiguousarray(views.norm2)
    for which in alike.values():
        rows = choices[which[0]].rows
        picked, sizes = padded([choices[b].picked for b in which])
        out = np.zeros(len(which), dtype=np.intp)
        among = np.arange(len(tie)) if rows is None else rows
        where = np.array(which), picked, sizes
        compiled.probe_many(views.margin, norm2, c_L2, tie, among, *where, out)
        for b, row in zip(which, out.tolist(), strict=True):
            found[b] = row
    return found


def _parts(numbers: Floats) -> Iterator[slice]:
    """Slices of its lines, each with about PART numbers."""
    some = max(1, PART // max(1, numbers.shape[1]))
    return (slice(first, first + some) for first in range(0, len(numbers), some))


def prepare(dtype: str) -> None:
    """Compile now all that groups of contexts need, so that nobody waits for it later."""
    compiled_looks.prepare(dtype)  # type: ignore[no-untyped-call]
    for kind in ("unit", "standard"):
        scaling = Scaling(kind, 2, bias=True)
        scaling.add(np.ones(2))
        scale_contexts(np.ones((1, 2)), scaling)
    view = judge_labels(1.0, Square(), np.zeros((1, 2)), np.ones((1, 2)))
    sizes, best = np.zeros(1, dtype=np.intp), np.zeros((1, 1), dtype=np.intp)
    how = 0.5, 0, DECREASING
    compiled.choose_many(view.score, view.prob, np.zeros(2), np.ones(1, np.intp), how, best, sizes)
    coins_of(0, 1, [(0, np.ones(2))] * 2)
    find_probes(view, 1.0, np.zeros(2), [Choice(best[0], None, 2, 2)])
