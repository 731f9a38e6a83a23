"""Many requests ranked together: by one matrix product, and one compiled loop if it is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.numba import has_numba, use_compiled
from semibandit.errors import InputError
from semibandit.models.model import Vector
from semibandit.policies.fast_rule import TABLE, FastRule
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = ["find_errors", "prepare", "rank_requests", "read_contexts", "worth_compiling"]

LEAST = 64  # numbers from which one compiled loop is faster than numpy's many calls
TO_LOAD = 10_000_000  # numbers that are worth a second for loading it, or 20 for compiling it
TOGETHER = 1 << 23  # margins of contexts ranked together: more would only take memory
SMALL = 100_000  # numbers in all matrices of a learner that numpy is fast enough for


def rank_requests(learner: Learner, requests: Sequence[Request]) -> list[Slate]:
    """The slates of `rank` for requests that were read, all from one state of the learner."""
    slates: list[Slate] = []
    with learner._lock.reading():
        some = max(1, TOGETHER // max(1, len(learner._tie)))
        for first in range(0, len(requests), some):
            part = requests[first : first + some]
            views = learner._views([r.x for r in part], [r.draw for r in part])
            slates += _decide(learner, views, part)
    return slates


def read_contexts(learner: Learner, X: Sequence[Floats]) -> Sequence[Vector]:
    """`learner.read_context` for each of these arrays, which have the right length.

    They are the same to the bit if the learner draws: its draws follow from the bits of x.
    """
    rule = learner.fast_rule()
    draws_nothing = rule is not None and rule.loss is not None
    plain = draws_nothing and learner.normalize and not learner.takes_sparse
    if plain and worth_compiling(len(X) * learner.n_features, to_load=None):
        from semibandit.policies import batch_compiled

        found = batch_compiled.read_contexts(np.array(X), learner.bias)
        if found is not None:
            return list(found)
    return [learner.read_context(x) for x in X]


def find_errors(
    learner: Learner, requests: Sequence[Request], contexts: Sequence[Floats]
) -> list[InputError | None]:
    """For each request the error that `rank` would raise, or None if it can be ranked."""
    found: list[InputError | None] = []
    with learner._lock.reading():
        for request, context in zip(requests, contexts, strict=True):
            try:
                learner.read_context(context)
                learner._labels.allowed(request.candidates, request.exclude)
                found.append(None)
            except InputError as why:
                found.append(why)
    return found


def prepare(learner: Learner, say: Callable[[str], object]) -> None:
    """Compile what groups of requests need, so that no request waits for it later.

    Nothing is compiled if numpy is fast enough for this learner, or numba is not installed. `say`
    is told if it takes its time.
    """
    model = getattr(learner, "model", None)
    small = learner.n_labels * max(learner.n_inputs, 50) ** 2 < SMALL
    if model is None or small or not has_numba():
        return
    say("getting ready: a second, or some 20 if it has to compile, the first time on a machine")
    from semibandit.policies import batch_compiled

    batch_compiled.prepare(getattr(model, "dtype", "float64"))


def worth_compiling(numbers: int, to_load: int | None = TO_LOAD) -> bool:
    """Whether so many numbers, one per context and label or feature, pay for a compiled loop."""
    return use_compiled("policies", numbers, least=LEAST, to_load=to_load)


def _decide(learner: Learner, views: View, requests: Sequence[Request]) -> list[Slate]:
    """A slate for each request: all at once if the learner has a rule and nothing is special."""
    rule = learner.fast_rule()
    free = [r.candidates is None and r.exclude is None for r in requests]
    fast = rule is not None and rule.cost_kind != TABLE and any(free)
    if rule is None or not fast or not worth_compiling(views.score.size):
        return [_decide_one(learner, views.at(b), r) for b, r in enumerate(requests)]
    slates = _decide_together(learner, rule, views, requests)
    for b, request in enumerate(requests):
        if not free[b]:
            slates[b] = _decide_one(learner, views.at(b), request)
    return slates


def _decide_one(learner: Learner, view: View, r: Request) -> Slate:
    rows = learner._labels.allowed(r.candidates, r.exclude)
    return learner._decide(view, r.x, r.slots, rows, r.draw)


def _decide_together(
    learner: Learner, rule: FastRule, views: View, requests: Sequence[Request]
) -> list[Slate]:
    """`_decide_one` for requests for which every label may be shown."""
    from semibandit.policies.batch_compiled import choose_slates

    rows = rule.labels.allowed(None, None)
    score, prob, tie = views.score, views.prob, rule.tie
    if rows is not None:
        score, prob, tie = score.take(rows, 1), prob.take(rows, 1), tie[rows]
    slots = [r.slots for r in requests]
    best, sizes = choose_slates(score, prob, tie, slots, rule.a, rule.cost_kind)
    best = best if rows is None else rows[best]
    there = best + (np.arange(len(best)) * len(rule.tie))[:, None]
    columns = views.margin, views.width, views.estimate, views.prob
    margin, width, estimate, prob = (column.take(there) for column in columns)
    chosen, names = best.tolist(), rule.labels.names
    form, t = learner.context_format, learner.t
    slates = []
    for b, (r, size) in enumerate(zip(requests, sizes.tolist(), strict=True)):
        labels = [names[row] for row in chosen[b][:size]]
        here = margin[b, :size], width[b, :size], estimate[b, :size], prob[b, :size]
        slates.append(Slate(labels, *here, r.slots, r.x, form, t=t))
    return slates
