"""Deciding: requests to rank in, decisions out, all of a group at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from semibandit._util.ids import new_id
from semibandit.errors import InputError
from semibandit.policies.batch import find_errors, rank_requests, read_contexts
from semibandit.policies.learner import Learner
from semibandit.policies.slate import Slate
from semibandit.service.engine.requests import Answer, Rank, Refused, Reply
from semibandit.store.event import Decision

__all__ = ["decide", "next_in_line"]


def decide(
    learner: Learner,
    ranks: list[Rank],
    known: Mapping[str, Decision],
    find: Callable[[set[str]], Mapping[str, Decision]],
    first: int,
    now: float,
) -> tuple[list[tuple[Decision, list[Answer]]], list[Reply]]:
    """New decisions with those who wait for them, and replies that need no decision.

    known  decisions that have one of the ids asked for: the same id gives the same decision
    find   the log's decisions with these ids: what is wrong now may have been decided long ago
    first  the place in the log of the first new decision, and its draw; every one has its own
    """
    replies: list[Reply] = []
    fresh: dict[str, list[Rank]] = {}
    for job in ranks:
        id = new_id() if job.id is None else job.id
        if id in known:
            replies.append(_again(job, known[id]))
        else:
            fresh.setdefault(id, []).append(job)
    slates = _rank(learner, [jobs[0] for jobs in fresh.values()], first)
    decided: list[tuple[Decision, list[Answer]]] = []
    others: list[Rank] = []
    for (id, jobs), slate in zip(fresh.items(), slates, strict=True):
        before = None
        if isinstance(slate, Refused) and jobs[0].id is not None:
            before = find({id}).get(id)
        if before is not None:
            replies += [_again(job, before) for job in jobs]
            continue
        same = [job for job in jobs if job is jobs[0] or job.asked == jobs[0].asked]
        rest = [job for job in jobs if job not in same]
        if isinstance(slate, Refused):
            replies += [(job.answer, slate) for job in same]
            others += rest  # the id is still free for them
        else:
            replies += [(job.answer, _another(id)) for job in rest]
            decided.append((_decision(id, now, jobs[0], slate), [job.answer for job in same]))
    if others:
        first += len(decided)
        more_decided, more_replies = decide(learner, others, known, find, first, now)
        decided, replies = decided + more_decided, replies + more_replies
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


def _rank(learner: Learner, asked: list[Rank], first: int) -> list[Slate | Refused]:
    """All at once; those that are wrong are left out, and told why."""
    for draw, job in enumerate(asked, first):
        job.draw = draw
    try:
        for job, x in zip(
            asked, read_contexts(learner, [job.context for job in asked]), strict=True
        ):
            job.x = x
        return [*rank_requests(learner, asked)]
    except InputError as why:
        if len(asked) == 1:
            return [Refused(422, str(why))]
    wrong = find_errors(learner, asked, [job.context for job in asked])
    if not any(wrong):  # and yet they cannot be ranked together
        slates: list[Slate | Refused] = []
        for job in asked:
            slates += _rank(learner, [job], first)
            first += not isinstance(slates[-1], Refused)
        return slates
    right = [job for job, why in zip(asked, wrong, strict=True) if why is None]
    ranked = iter(_rank(learner, right, first))
    return [next(ranked) if why is None else Refused(422, str(why)) for why in wrong]


def _again(job: Rank, before: Decision) -> Reply:
    """The reply to a request whose id has a decision."""
    return job.answer, before if before.asked == job.asked else _another(before.id)


def _another(id: str) -> Refused:
    return Refused(
        409,
        f"id = {id!r} was given to another request: "
        "its context, slots, candidates or exclude differ",
    )


def _decision(id: str, now: float, job: Rank, slate: Slate) -> Decision:
    assert slate.t is not None
    return Decision(
        id,
        now,
        job.context,
        job.slots,
        job.candidates,
        job.exclude,
        slate.labels,
        slate.prob.tolist(),
        slate.estimate.tolist(),
        slate.width.tolist(),
        slate.t,
        job.draw,
        slate.propensity,
        slate.leader,
    )
