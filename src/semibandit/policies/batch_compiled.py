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
from semibandit.models import compiled_best, compiled_looks, compiled_partial_looks
from semibandit.policies import compiled
from semibandit.policies.choice import Choice, padded
from semibandit.policies.fast_rule import DECREASING, FastRule
from semibandit.policies.randomness import coins_of
from semibandit.policies.scaling import Scaling
from semibandit.policies.view import View, Views, starts
from semibandit.theory.slate import SCORE_GRID
from semibandit.theory.surrogate import Logistic, Square, Surrogate

__all__ = ["choose_slates", "find_probes", "judge_labels", "prepare", "scale_contexts"]

PART = 1 << 16


def scale_contexts(X: Floats, scaling: Scaling) -> Floats | None:
    """`Scaling.scaled` of many dense contexts; None if it has to be asked itself."""
    if scaling.kind == "none" or (scaling.learns and not scaling.seen_all):
        return None
    out = np.empty((len(X), X.shape[1] + scaling.bias))
    parts = _parts(np.arange(len(X) + 1) * X.shape[1])
    if scaling.learns:
        n = scaling.n + 1.0 - scaling.unknown
        sums = scaling.origin, scaling.sum, scaling.sum2, n
        good = all(compiled.standardise_many(X[b], sums, scaling.bias, out[b]) for b in parts)
    else:
        good = all(compiled.unit_many(X[b], scaling.bias, out[b]) for b in parts)
    return out if good else None


def judge_labels(spread: float, loss: Surrogate, margin: Floats, norm2: Floats) -> View:
    """The view for margins and squared norms, if the surrogate is Square or Logistic.

    They are flat, those of one context after those of another.
    """
    margin, norm2 = np.array(margin), np.ascontiguousarray(norm2)
    width, estimate, score, prob = (np.empty_like(margin) for _ in range(4))
    view = View(margin, width, estimate, score, prob, norm2)
    logistic = isinstance(loss, Logistic)
    for first in range(0, len(margin), PART):
        part = slice(first, first + PART)
        arrays = tuple(array[part] for array in view.arrays)
        if not compiled.judge_many(spread, loss.R, logistic, norm2[part], arrays):
            raise InputError(
                "a label's margin or width is nan, not finite, at one of these contexts"
            )
    return view


def choose_slates(views: Views, slots: Sequence[int | None], rule: FastRule) -> tuple[Ints, Ints]:
    """For each view the best places (B×S), and how many of them to show.

    These are the choices of the plain `order` and `cut`, for decreasing or constant costs.
    """
    n, (tie, tie_at) = np.diff(views.ptr), views.ties(rule.tie)
    limits = np.array(
        [k if s is None else min(s, k) for s, k in zip(slots, n.tolist(), strict=True)]
    )
    best = np.zeros((len(views), int(limits.max())), dtype=np.intp)
    sizes = np.zeros(len(views), dtype=np.intp)
    how = rule.a, rule.at_least, rule.cost_kind, rule.grid
    score, prob = views.flat.score, views.flat.prob
    for b in _parts(views.ptr):
        ptr = views.ptr[b.start : b.stop + 1]
        compiled.choose_many(score, prob, tie, ptr, tie_at[b], limits[b], how, best[b], sizes[b])
    return best, sizes


def find_probes(
    views: Views, c_L2: float, tie: Floats, grid: float, choices: Sequence[Choice]
) -> list[int | None]:
    """`_probe` for every choice that has room for one more label; None for the others."""
    assert views.flat.norm2 is not None
    found: list[int | None] = [None] * len(choices)
    which = [b for b, one in enumerate(choices) if one.has_room]
    if not which:
        return found
    picked, sizes = padded([choices[b].picked for b in which])
    ties, tie_at = views.ties(tie)
    out = np.zeros(len(which), dtype=np.intp)
    numbers = views.flat.margin, np.ascontiguousarray(views.flat.norm2), ties
    where = views.ptr, tie_at, np.array(which, dtype=np.intp), picked, sizes
    compiled.probe_many(*numbers, c_L2, grid, *where, out)
    for b, place in zip(which, out.tolist(), strict=True):
        found[b] = place
    return found


def _parts(ptr: Ints) -> Iterator[slice]:
    """Slices of views that begin at `ptr`, each with about PART numbers."""
    first = 0
    while first < len(ptr) - 1:
        end = int(np.searchsorted(ptr, ptr[first] + PART, side="right")) - 1
        end = min(max(end, first + 1), len(ptr) - 1)
        yield slice(first, end)
        first = end


def prepare(dtype: str) -> None:
    """Compile now all that groups of contexts need, so that nobody waits for it later."""
    compiled_looks.prepare(dtype)  # type: ignore[no-untyped-call]
    compiled_partial_looks.prepare(dtype)  # type: ignore[no-untyped-call]
    compiled_best.prepare(dtype)  # type: ignore[no-untyped-call]
    for kind in ("unit", "standard"):
        scaling = Scaling(kind, 2, bias=True)
        scaling.add(np.ones(2))
        scale_contexts(np.ones((1, 2)), scaling)
    flat = judge_labels(1.0, Square(), np.zeros(2), np.ones(2))
    views = Views(flat, starts([2]), [None])
    sizes, best = np.zeros(1, dtype=np.intp), np.zeros((1, 1), dtype=np.intp)
    how = 0.5, 0, DECREASING, SCORE_GRID
    where = np.zeros(2), views.ptr, np.zeros(1, np.intp), np.ones(1, np.intp)
    compiled.choose_many(flat.score, flat.prob, *where, how, best, sizes)
    coins_of(0, 1, [(0, np.ones(2))] * 2)
    find_probes(views, 1.0, np.zeros(2), SCORE_GRID, [Choice(best[0], 2, 2)])
