"""Deciding: requests to rank in, decisions out, all of a group at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from semibandit._util.ids import new_id
from semibandit.errors import ClusterError, Conflict, InputError
from semibandit.models.model import dense
from semibandit.policies.batch import find_errors, rank_requests
from semibandit.policies.distributions.propensities import propensities_of
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised, rank_with_distributions
from semibandit.policies.slate import Slate
from semibandit.service.engine.holdout import Holdout, HoldoutSlates
from semibandit.service.engine.requests import AnswerFuture, InternalError, PendingRank, Reply
from semibandit.store.event import Decision

__all__ = ["decide", "decide_alone"]

log = logging.getLogger("semibandit")


def decide(
    policy: Learner | Randomised,
    pending: list[PendingRank],
    known: Mapping[str, Decision],
    find: Callable[[set[str]], Mapping[str, Decision]],
    first: int,
    now: float,
    since: int = 0,
    holdout: Holdout | None = None,
) -> tuple[list[tuple[Decision, list[AnswerFuture]]], list[Reply], list[Slate]]:
    """New decisions with those who wait for them, replies that need no decision, and the slates.

    Parameters
    ----------
    policy : Learner or Randomised
        Who decides: a learner, or a policy that draws around it.
    pending : list of PendingRank
        The requests.
    known : mapping
        Decisions that have one of the ids asked for: the same id gives the same decision.
    find : function
        Finds the log's decisions with these ids: a request that is wrong now may have been decided
        long ago.
    first : int
        The place in the log of the first new decision, and its draw; every one has its own.
    now : float
        The time of the decisions.
    since : int
        The seq of the event that brought the learner.
    holdout : Holdout, optional
        Visits that the learner does not decide.
    """
    replies: list[Reply] = []
    fresh: dict[str, list[PendingRank]] = {}
    for one in pending:
        id = new_id() if one.id is None else one.id
        if id in known:
            replies.append(_repeat(one, known[id]))
        else:
            fresh.setdefault(id, []).append(one)
    words, learner = _words(policy), _learner(policy)
    shown = _rank_all(policy, {id: waiting[0] for id, waiting in fresh.items()}, first, holdout)
    decided: list[tuple[Decision, list[AnswerFuture]]] = []
    slates: list[Slate] = []
    again: list[PendingRank] = []
    for (id, waiting), slate in zip(fresh.items(), shown.slates, strict=True):
        before = None
        if isinstance(slate, Exception) and waiting[0].id is not None:
            before = find({id}).get(id)
        if before is not None:
            replies += [_repeat(one, before) for one in waiting]
            continue
        same = [one for one in waiting if one is waiting[0] or one.asked == waiting[0].asked]
        others = [one for one in waiting if one not in same]
        if isinstance(slate, Exception):
            replies += [(one.answer, slate) for one in same]
            again += others  # the id is still free for them
        else:
            replies += [(one.answer, _conflict(id)) for one in others]
            marks = {} if holdout is None else holdout.marks(id in shown.members)
            decision = _decision(
                id, now, waiting[0], slate, words, learner.scaling_learns, since, marks
            )
            decided.append((decision, [one.answer for one in same]))
            slates.append(slate)
    if again:
        first += len(decided)
        more = decide(policy, again, known, find, first, now, since, holdout)
        decided, replies, slates = decided + more[0], replies + more[1], slates + more[2]
    return decided, replies, slates


def decide_alone(policy: Learner | Randomised, one: PendingRank, now: float) -> Decision:
    """The policy's decision on one request, in any thread, with the draw that it has.

    It is never the holdout's, which would say nothing about the learner.

    Raises an `InputError` if the request is wrong, or an `InternalError` if we are.
    """
    slate = _rank_alone(policy, one, drawn=False)
    if isinstance(slate, Exception):
        raise slate
    return _decision(one.id or "", now, one, slate, _words(policy), False, 0, {})


def _rank_all(
    policy: Learner | Randomised, asked: Mapping[str, PendingRank], first: int,
    holdout: Holdout | None,
) -> HoldoutSlates:  # fmt: skip
    """What is shown, by the policy and by the holdout, and who belongs to the holdout.

    The learner's slates and the holdout's are of one set of labels: if labels come or go in
    between, the probabilities would be those of neither set, so all are ranked again.
    """
    pending, learner = list(asked.values()), _learner(policy)
    if holdout is None:
        return HoldoutSlates(_rank(policy, pending, first, drawn=False), ())
    while True:
        labels = learner.label_changes
        slates = _rank(policy, pending, first, drawn=True)
        found = holdout.apply(learner, pending, list(asked), slates)
        if learner.label_changes == labels:
            return found


def _rank(
    policy: Learner | Randomised, pending: list[PendingRank], first: int, *, drawn: bool
) -> list[Slate | Exception]:
    """All at once; those that are wrong are left out, and get an `InputError`.

    If a shard of the learner is lost, all get a `ClusterError`.
    With `drawn`, slates say how likely each slate was, also if the learner decides by itself.
    A bug in ranking is logged; requests are then ranked one by one, and those that it hits get an
    `InternalError`.
    """
    if not pending:
        return []
    for draw, one in enumerate(pending, first):
        one.draw = draw
    try:
        return [*_slates(policy, pending, drawn)]
    except ClusterError as why:  # it holds for all of them
        return [type(why)(str(why)) for _ in pending]
    except InputError:
        errors = find_errors(_learner(policy), pending)
    except Exception:
        log.exception("ranking %d requests together failed", len(pending))
        errors = []
    if not any(errors):  # and yet they cannot be ranked together
        slates: list[Slate | Exception] = []
        for one in pending:
            one.draw = first
            slates.append(_rank_alone(policy, one, drawn=drawn))
            first += not isinstance(slates[-1], Exception)
        return slates
    right = [one for one, error in zip(pending, errors, strict=True) if error is None]
    ranked = iter(_rank(policy, right, first, drawn=drawn))
    return [next(ranked) if error is None else InputError(str(error)) for error in errors]


def _rank_alone(
    policy: Learner | Randomised, one: PendingRank, *, drawn: bool
) -> Slate | Exception:
    """A request by itself; an `InputError` if it is wrong, an `InternalError` if we are."""
    for _ in range(2):  # labels may change between ranking and finding the error
        try:
            return _slates(policy, [one], drawn)[0]
        except InputError:
            (error,) = find_errors(_learner(policy), [one])
            if error is not None:  # an unknown label is a mistake in the request, no missing page
                return InputError(str(error))
            log.exception("ranking refused a request that has no error")
        except ClusterError as why:
            return why
        except Exception:
            log.exception("ranking a request failed")
            break
    return InternalError("ranking failed")


def _slates(policy: Learner | Randomised, pending: list[PendingRank], drawn: bool) -> list[Slate]:
    if drawn or isinstance(policy, Randomised):
        return rank_with_distributions(policy, pending)
    return rank_requests(policy, pending)


def _learner(policy: Learner | Randomised) -> Learner:
    return policy.learner if isinstance(policy, Randomised) else policy


def _words(policy: Learner | Randomised) -> str | None:
    return policy.words if isinstance(policy, Randomised) else None


def _repeat(one: PendingRank, before: Decision) -> Reply:
    """The reply to a request whose id has a decision."""
    return one.answer, before if one.same_as(before) else _conflict(before.id)


def _conflict(id: str) -> Conflict:
    return Conflict(
        f"id = {id!r} was given to another request: "
        "its context, slots, candidates, exclude or subject differ"
    )


def _decision(
    id: str,
    now: float,
    one: PendingRank,
    slate: Slate,
    policy: str | None,
    keep_seen: bool,
    since: int,
    marks: Mapping[str, Any],
) -> Decision:
    assert slate.t is not None
    assert slate.given is not None
    return Decision(
        id,
        now,
        dense(slate.given),
        one.slots,
        one.candidates,
        one.exclude,
        slate.labels,
        slate.prob.tolist(),
        slate.estimate.tolist(),
        slate.width.tolist(),
        slate.t,
        one.draw,
        slate.propensity,
        slate.leader,
        slate.probe,
        dense(slate.x) if keep_seen else None,
        None if one.named is None else dict(one.named),
        slate.new,
        since,
        one.subject,
        *_drawn(policy, slate),
        **marks,
    )


def _drawn(policy: str | None, slate: Slate) -> tuple[Any, ...]:
    """What the log keeps of how the slate was drawn, in the order of the fields of `Decision`."""
    if slate.distribution is None:
        return ()
    found = propensities_of(slate.distribution, slate.labels)
    return policy, slate.distribution.json(), *found
