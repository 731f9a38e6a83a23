"""Many requests ranked together: by one matrix product, and one compiled loop if it is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.numba import has_numba, use_compiled
from semibandit.errors import InputError
from semibandit.models.model import Sparse, Vector
from semibandit.models.partial import Aim
from semibandit.policies import feedback_batch
from semibandit.policies.choice import Choice
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.fast_rule import TABLE, FastRule
from semibandit.policies.feedback_batch import can_compile
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import Views

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
    "search_of_own",
    "worth_compiling",
]

T = TypeVar("T")

LEAST = 64  # numbers from which one compiled loop is faster than numpy's many calls
TO_LOAD = 10_000_000  # numbers that are worth a second for loading it, or 20 for compiling it
TOGETHER = 1 << 23  # margins of contexts ranked together: more would only take memory
SMALL = 100_000  # numbers in all matrices of a learner that numpy is fast enough for
LARGE = 10_000_000  # and from which two searches cost less than a look at all labels


class Group(NamedTuple):
    """Requests, and what a learner thinks of the labels that may be shown for each of them."""

    learner: Learner
    views: Views
    xs: Sequence[Vector]
    requests: Sequence[Request]

    @property
    def rule(self) -> FastRule | None:
        """The rule by which one compiled loop chooses all slates; None if it is not worth it."""
        rule = self.learner.fast_rule()
        if rule is None or rule.cost_kind == TABLE:
            return None
        return rule if worth_compiling(len(self.views.flat)) else None


# requests that have aims, with the labels that were found for them
Search: TypeAlias = Callable[["Learner", Sequence[Request], Sequence[Aim]], Group]


def rank_requests(learner: Learner, requests: Sequence[Request]) -> list[Slate]:
    """The slates of `rank` for requests that were read, all from one state of the learner."""
    return from_one_state(learner, requests, _decide, search=_searched)


def from_one_state(
    learner: Learner, requests: Sequence[Request], decide: Callable[[Group], list[T]], *,
    search: Search | None = None,
    best: Callable[[Sequence[Request]], Sequence[bool]] = lambda requests: [True] * len(requests),
) -> list[T]:  # fmt: skip
    """What `decide` makes of these requests, all from one state of the learner.

    `best` says for which of them the labels that `search` finds are enough. These are found without
    a look at all labels, if that costs less.
    """
    with learner._lock.reading():
        aims = [] if search is None else learner._aims(requests)
        if search is None or not any(aims):
            return _looked_at(learner, requests, decide)
        requests = _encoded(learner, requests, 0)
        chosen = [
            (b, request, aim)
            for b, (request, aim, enough) in enumerate(
                zip(requests, aims, best(requests), strict=True)
            )
            if aim is not None and enough
        ]
        found: dict[int, T] = {}
        if chosen:
            which, some, wanted = zip(*chosen, strict=True)
            found |= zip(which, decide(search(learner, some, wanted)), strict=True)
        rest = [b for b in range(len(requests)) if b not in found]
        found |= zip(rest, _looked_at(learner, [requests[b] for b in rest], decide), strict=True)
        return [found[b] for b in range(len(requests))]


def _looked_at(
    learner: Learner, requests: Sequence[Request], decide: Callable[[Group], list[T]]
) -> list[T]:
    """The same by a look at all labels that may be shown."""
    found: list[T] = []
    some = max(1, TOGETHER // max(1, len(learner._tie)))
    for first in range(0, len(requests), some):
        part = _encoded(learner, requests[first : first + some], first)
        xs = _scaled(learner, [r.given for r in part])
        views = learner._views_of(xs, part, _allowed(learner, part)).at_turns(_turns(part))
        learner.looks.add(len(views.flat), len(views.flat))
        found += decide(Group(learner, views, xs, part))
    return found


def _searched(learner: Learner, requests: Sequence[Request], aims: Sequence[Aim]) -> Group:
    """Requests that have an aim, with views of the best labels alone."""
    xs = _scaled(learner, [r.given for r in requests])
    views = Views.joined(learner._best_views(xs, requests, aims)).at_turns(_turns(requests))
    return Group(learner, views, xs, requests)


def search_of_own(learner: Learner) -> Search | None:
    """How to find all that the learner itself may show; None if a look at all labels costs less."""
    return _search_own if learner.n_labels * learner.n_inputs**2 >= LARGE else None


def _search_own(learner: Learner, requests: Sequence[Request], aims: Sequence[Aim]) -> Group:
    """Requests that have an aim, with views of the best labels, and of those that may be tried."""
    group = _searched(learner, requests, aims)
    choices = choices_of(group)
    some = [b for b, one in enumerate(choices) if one.has_room and learner._probing]
    if not some:
        return group
    views = [group.views.at(b) for b in range(len(requests))]
    opened = learner._with_probes(
        [views[b] for b in some], [group.xs[b] for b in some], [requests[b] for b in some],
        [choices[b].picked for b in some],
    )  # fmt: skip
    for b, (view, _) in zip(some, opened, strict=True):
        views[b] = view
    return group._replace(views=Views.joined(views).at_turns(_turns(requests)))


def _turns(requests: Sequence[Request]) -> list[float]:
    """Where the order among equal labels begins for each request."""
    return [request.turn for request in requests]


def choices_of(group: Group) -> list[Choice]:
    """What the learner would show for each request, before its coins are tossed."""
    learner, views, _, requests = group
    rule = group.rule
    if rule is None:
        return [learner._choose(views.at(b), r) for b, r in enumerate(requests)]
    best, sizes = _choose_together(rule, views, requests)
    room = cache(learner.room)
    found = zip(best, sizes.tolist(), views.n, requests, strict=True)
    return [Choice(line[:size], n, room(n, r.slots)) for line, size, n, r in found]


def make_slates(
    group: Group, best: Ints, sizes: Sequence[int], probed: Sequence[bool] | None = None,
    distributions: Sequence[SlateDistribution | None] | None = None,
) -> list[Slate]:  # fmt: skip
    """A slate for each request: the first so many of these places, a line per request.

    `probed` says whether the last place is there only to be tried.
    """
    learner, views, xs, requests = group
    there, flat = best + views.ptr[:-1, None], views.flat
    columns = flat.margin, flat.width, flat.estimate, flat.prob
    margin, width, estimate, prob = (column.take(there, mode="clip") for column in columns)
    form, t, ever = learner.context_format, learner.t, learner.n_labels_ever
    missing = views.missing or [0] * len(requests)
    slates = []
    for b, (r, size) in enumerate(zip(requests, sizes, strict=True)):
        labels = learner._labels.at(views.rows[b], best[b, :size])
        here = margin[b, :size], width[b, :size], estimate[b, :size], prob[b, :size]
        probe = labels[-1] if probed is not None and probed[b] else None
        drawn = None if distributions is None else distributions[b]
        slates.append(
            Slate(
                labels, *here, r.slots, xs[b], form,
                t=t, given=r.given, probe=probe, new=r.new, distribution=drawn,
                missing=missing[b], labels_ever=ever,
            )
        )  # fmt: skip
    return slates


def find_errors(learner: Learner, requests: Sequence[Request]) -> list[InputError | None]:
    """For each request the error that `rank` would raise, or None if it can be ranked."""
    found: list[InputError | None] = []
    with learner._lock.reading():
        for request in requests:
            try:
                given = learner.check_context(learner.encoded(request).given)
                learner.scaled(given, to_rank=True)
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
    """`learner.scaled` for each of these contexts."""
    usual = learner.fast_rule() is not None and Sparse not in set(map(type, given))
    if usual and worth_compiling(len(given) * learner.n_features, to_load=None):
        from semibandit.policies import batch_compiled

        found = batch_compiled.scale_contexts(np.array(given), learner._rank_scaling)
        if found is not None:
            return list(found)
    return [learner.scaled(learner.check_context(x), to_rank=True) for x in given]


def _allowed(learner: Learner, requests: Sequence[Request]) -> list[Ints | None]:
    """The rows that may be shown for each of these requests."""
    labels = learner._labels
    found: dict[tuple[int, int], Ints | None] = {}  # those of the same labels are one object
    rows = []
    for r in requests:
        key = id(r.candidates), id(r.exclude)
        if key not in found:
            found[key] = labels.allowed(r.candidates, r.exclude)
        rows.append(found[key])
    return rows


def _decide(group: Group) -> list[Slate]:
    """A slate for each request: all at once if the learner has a rule."""
    learner, views, xs, requests = group
    rule = group.rule
    if rule is None:
        return [learner._decide(views.at(b), xs[b], r) for b, r in enumerate(requests)]
    best, sizes = _choose_together(rule, views, requests)
    slates = make_slates(group, best, sizes.tolist())
    which = _probed(group, slates) if rule.coins is not None else []
    if which:
        some = [views.at(b) for b in which], [xs[b] for b in which], [requests[b] for b in which]
        tried = learner._slates_with_probes(*some, [best[b, : len(slates[b])] for b in which])
        for b, slate in zip(which, tried, strict=True):
            slates[b] = slate
    return slates


def _probed(group: Group, slates: Sequence[Slate]) -> list[int]:
    """The requests that get one more label, to be tried."""
    learner, views, _, requests = group
    room, n = cache(learner.room), views.n
    free = [b for b, r in enumerate(requests) if len(slates[b]) < room(n[b], r.slots)]
    tossed = learner._coins_of([requests[b] for b in free])
    return [b for b, yes in zip(free, tossed, strict=True) if yes]


def _choose_together(
    rule: FastRule, views: Views, requests: Sequence[Request]
) -> tuple[Ints, Ints]:
    """The best places, a line per request, and how many of them to show."""
    from semibandit.policies.batch_compiled import choose_slates

    return choose_slates(views, [r.slots for r in requests], rule)
