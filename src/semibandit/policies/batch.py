"""Many requests ranked together: by one matrix product, and one compiled loop if it is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.numba import has_numba, use_compiled
from semibandit.errors import InputError
from semibandit.models.model import Sparse, Vector
from semibandit.policies import feedback_batch
from semibandit.policies.choice import Choice
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.fast_rule import TABLE, FastRule
from semibandit.policies.feedback_batch import can_compile
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = [
    "Group",
    "choices_of",
    "find_errors",
    "from_one_state",
    "make_slates",
    "prepare",
    "rank_requests",
    "worth_compiling",
]

T = TypeVar("T")

LEAST = 64  # numbers from which one compiled loop is faster than numpy's many calls
TO_LOAD = 10_000_000  # numbers that are worth a second for loading it, or 20 for compiling it
TOGETHER = 1 << 23  # margins of contexts ranked together: more would only take memory
SMALL = 100_000  # numbers in all matrices of a learner that numpy is fast enough for


class Group(NamedTuple):
    """Requests, and what a learner thinks of every label for each of them."""

    learner: Learner
    views: View
    xs: Sequence[Vector]
    requests: Sequence[Request]

    @property
    def together(self) -> bool:
        """Whether the slates of free requests are chosen in one compiled loop."""
        rule = self.learner.fast_rule()
        fast = rule is not None and rule.cost_kind != TABLE
        fast = fast and any(request.unrestricted for request in self.requests)
        return fast and worth_compiling(self.views.score.size)


def rank_requests(learner: Learner, requests: Sequence[Request]) -> list[Slate]:
    """The slates of `rank` for requests that were read, all from one state of the learner."""
    return from_one_state(learner, requests, _decide)


def from_one_state(
    learner: Learner, requests: Sequence[Request], decide: Callable[[Group], list[T]]
) -> list[T]:
    """What `decide` makes of these requests, all from one state of the learner."""
    found: list[T] = []
    with learner._lock.reading():
        some = max(1, TOGETHER // max(1, len(learner._tie)))
        for first in range(0, len(requests), some):
            part = _encoded(learner, requests[first : first + some], first)
            xs = _scaled(learner, [r.given for r in part])
            views = learner._views(xs, [r.draw for r in part])
            found += decide(Group(learner, views, xs, part))
    return found


def choices_of(group: Group) -> list[Choice]:
    """What the learner would show for each request, before its coins are tossed."""
    learner, views, xs, requests = group
    rule, together = learner.fast_rule(), group.together
    if rule is None or not together:
        return [learner._choose(views.at(b), xs[b], r) for b, r in enumerate(requests)]
    best, sizes, rows = _choose_together(rule, views, requests)
    n, choices = learner.n_labels, []
    room = {slots: learner.room(n, slots) for slots in {request.slots for request in requests}}
    for b, (request, size) in enumerate(zip(requests, sizes.tolist(), strict=True)):
        if request.unrestricted:
            choices.append(Choice(best[b, :size], rows, n, room[request.slots]))
        else:
            choices.append(learner._choose(views.at(b), xs[b], request))
    return choices


def make_slates(
    group: Group, best: Ints, sizes: Sequence[int], probed: Sequence[bool] | None = None,
    distributions: Sequence[SlateDistribution | None] | None = None,
) -> list[Slate]:  # fmt: skip
    """A slate for each request: the first so many of these rows, a line per request.

    `probed` says whether the last row is there only to be tried.
    """
    learner, views, xs, requests = group
    there = best + (np.arange(len(best)) * len(learner._tie))[:, None]
    columns = views.margin, views.width, views.estimate, views.prob
    margin, width, estimate, prob = (column.take(there) for column in columns)
    chosen, names = best.tolist(), learner._labels.names
    form, t = learner.context_format, learner.t
    slates = []
    for b, (r, size) in enumerate(zip(requests, sizes, strict=True)):
        labels = [names[row] for row in chosen[b][:size]]
        here = margin[b, :size], width[b, :size], estimate[b, :size], prob[b, :size]
        probe = labels[-1] if probed is not None and probed[b] else None
        drawn = None if distributions is None else distributions[b]
        slates.append(
            Slate(
                labels, *here, r.slots, xs[b], form,
                t=t, given=r.given, probe=probe, new=r.new, distribution=drawn,
            )
        )  # fmt: skip
    return slates


def find_errors(learner: Learner, requests: Sequence[Request]) -> list[InputError | None]:
    """For each request the error that `rank` would raise, or None if it can be ranked."""
    found: list[InputError | None] = []
    with learner._lock.reading():
        for request in requests:
            try:
                learner.scaled(learner.check_context(learner.encoded(request).given))
                learner._labels.allowed(request.candidates, request.exclude)
                found.append(None)
            except InputError as why:
                found.append(why)
    return found


def prepare(learner: Learner, say: Callable[[str], object]) -> None:
    """Compile what groups of requests and of feedback need, so that nobody waits for it later.

    Nothing is compiled if numpy is fast enough for this learner, or numba is not installed. `say`
    is told if it takes its time.
    """
    model = getattr(learner, "model", None)
    small = learner.n_labels * max(learner.n_inputs, 50) ** 2 < SMALL
    ranks, learns = model is not None and not small and has_numba(), can_compile(learner)
    if ranks or learns:
        say("getting ready: a second, or some 20 if it has to compile, the first time on a machine")
    if learns:
        feedback_batch.prepare(learner)
    if ranks:
        from semibandit.policies import batch_compiled

        batch_compiled.prepare(getattr(model, "dtype", "float64"))


def worth_compiling(numbers: int, to_load: int | None = TO_LOAD) -> bool:
    """Whether so many numbers, one per context and label or feature, pay for a compiled loop."""
    return use_compiled("policies", numbers, least=LEAST, to_load=to_load)


def _encoded(learner: Learner, requests: Sequence[Request], first: int) -> Sequence[Request]:
    """The requests with their contexts as numbers; an error names the row, counted from first."""
    if learner.features is None:
        return requests
    encoded: list[Request] = []
    for request in requests:
        try:
            encoded.append(learner.encoded(request))
        except InputError as why:
            raise InputError(f"row {first + len(encoded)} of X: {why}") from None
    return encoded


def _scaled(learner: Learner, given: Sequence[Vector]) -> Sequence[Vector]:
    """`learner.scaled` for each of these contexts.

    They are the same to the bit if the learner draws: its draws follow from the bits of x.
    """
    rule = learner.fast_rule()
    draws_nothing = rule is not None and rule.loss is not None
    plain = draws_nothing and not any(isinstance(x, Sparse) for x in given)
    if plain and worth_compiling(len(given) * learner.n_features, to_load=None):
        from semibandit.policies import batch_compiled

        found = batch_compiled.scale_contexts(np.array(given), learner._scaling)
        if found is not None:
            return list(found)
    return [learner.scaled(learner.check_context(x)) for x in given]


def _decide(group: Group) -> list[Slate]:
    """A slate for each request: all at once if the learner has a rule and nothing is special."""
    learner, views, xs, requests = group
    rule = learner.fast_rule()
    if rule is None or not group.together:
        return [learner._decide(views.at(b), xs[b], r) for b, r in enumerate(requests)]
    best, sizes, rows = _choose_together(rule, views, requests)
    slates = make_slates(group, best, sizes.tolist())
    for b in _probed(learner, requests, slates) if rule.coins is not None else ():
        one = views.at(b), xs[b], requests[b], rows, best[b][: len(slates[b])]
        slates[b] = learner._slate_with_probe(*one)
    for b, request in enumerate(requests):
        if not request.unrestricted:
            slates[b] = learner._decide(views.at(b), xs[b], request)
    return slates


def _probed(learner: Learner, requests: Sequence[Request], slates: Sequence[Slate]) -> list[int]:
    """The free requests that get one more label, to be tried."""
    K = learner.n_labels
    room = [
        b
        for b, request in enumerate(requests)
        if request.unrestricted and len(slates[b]) < learner.room(K, request.slots)
    ]
    tossed = learner._coins_of([requests[b] for b in room])
    return [b for b, yes in zip(room, tossed, strict=True) if yes]


def _choose_together(
    rule: FastRule, views: View, requests: Sequence[Request]
) -> tuple[Ints, Ints, Ints | None]:
    """The best rows if every label may be shown, a line per request; how many of them to show;
    and the rows that hold a label, None if all do."""
    from semibandit.policies.batch_compiled import choose_slates

    rows = rule.labels.allowed(None, None)
    score, prob, tie = views.score, views.prob, rule.tie
    if rows is not None:
        score, prob, tie = score.take(rows, 1), prob.take(rows, 1), tie[rows]
    best, sizes = choose_slates(score, prob, tie, [r.slots for r in requests], rule)
    return best if rows is None else rows[best], sizes, rows
