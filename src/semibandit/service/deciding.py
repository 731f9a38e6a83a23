"""Deciding: requests to rank in, decisions out, all of a group at once."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from semibandit._numba import has_numba
from semibandit.policies.learner import Learner, Request
from semibandit.policies.slate import Slate
from semibandit.policies.slate_ucb import SecondOrder
from semibandit.service.job import Answer, Rank, Refused, Reply
from semibandit.store.event import Decision

__all__ = ["decide", "next_in_line", "prepare"]

SMALL = 100_000  # numbers in all matrices of a learner for whose groups numpy will do


def prepare(learner: Learner, say: Callable[[str], object]) -> None:
    """Have compiled what groups of requests need, so that none of them has to wait for it."""
    small = learner.n_labels * max(learner._d, 50) ** 2 < SMALL
    if small or not isinstance(learner, SecondOrder) or not has_numba():
        return
    from semibandit.policies.together import prepare

    say("getting ready: a second, or some 20 where it has to compile, the first time on a machine")
    prepare(getattr(learner.model, "dtype", "float64"))


def decide(
    learner: Learner, ranks: list[Rank], known: Mapping[str, Decision], first: int, now: float
) -> tuple[list[tuple[Decision, list[Answer]]], list[Reply]]:
    """New decisions with those who wait for them, and replies that need no decision.

    known  decisions that have one of the ids asked for: the same id gives the same decision
    first  the draw of the first new decision; every one has its own
    """
    replies: list[Reply] = []
    fresh: dict[str, list[Rank]] = {}
    for job in ranks:
        id = secrets.token_hex(12) if job.id is None else job.id
        if id in known:
            same = known[id].asked == job.asked
            replies.append((job.answer, known[id] if same else _another(id)))
        elif id in fresh and fresh[id][0].asked != job.asked:
            replies.append((job.answer, _another(id)))
        else:
            fresh.setdefault(id, []).append(job)
    asked = [jobs[0].request for jobs in fresh.values()]
    requests = [
        Request(r.x, r.slots, r.candidates, r.exclude, draw) for draw, r in enumerate(asked, first)
    ]
    decided: list[tuple[Decision, list[Answer]]] = []
    slates = _rank(learner, requests)
    for (id, jobs), request, slate in zip(fresh.items(), requests, slates, strict=True):
        answers = [job.answer for job in jobs]
        if isinstance(slate, Refused):
            replies += [(answer, slate) for answer in answers]
        else:
            decided.append((_decision(id, now, jobs[0], request, slate), answers))
    return decided, replies


def next_in_line(learner: Learner, decision: Decision) -> dict[str, Any] | None:
    """The best label that might have been shown and was not, as the learner stands now."""
    scores = learner.scores(decision.context, draw=decision.draw)
    out = set(decision.labels) | set(decision.exclude or [])
    may = None if decision.candidates is None else set(decision.candidates)
    rest = [
        i
        for i, label in enumerate(scores.labels)
        if label not in out and (may is None or label in may)
    ]
    best = max(rest, key=lambda i: float(scores.prob[i]), default=None)
    if best is None:
        return None
    return {
        "label": scores.labels[best],
        "prob": float(scores.prob[best]),
        "estimate": float(scores.estimate[best]),
        "width": float(scores.width[best]),
    }


def _rank(learner: Learner, requests: list[Request]) -> list[Slate | Refused]:
    """All at once; where one of them is wrong, one by one, to say which."""
    try:
        return [*learner._rank_all(requests)]
    except ValueError as why:
        if len(requests) == 1:
            return [Refused(422, str(why))]
    return [slate for request in requests for slate in _rank(learner, [request])]


def _another(id: str) -> Refused:
    return Refused(
        409,
        f"id = {id!r} was given to another request: "
        "its context, slots, candidates or exclude differ",
    )


def _decision(id: str, now: float, job: Rank, request: Request, slate: Slate) -> Decision:
    assert slate.t is not None
    return Decision(
        id,
        now,
        job.context,
        request.slots,
        job.candidates,
        job.exclude,
        slate.labels,
        slate.prob.tolist(),
        slate.estimate.tolist(),
        slate.width.tolist(),
        slate.t,
        request.draw,
        slate.propensity,
        slate.leader,
    )
