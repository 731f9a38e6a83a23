"""What is wrong with a service, in plain sentences, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Observed", "Problem", "find_problems"]

FEW = 50  # visits or requests below which a share says nothing
MOSTLY = 0.5  # share of empty lists from which a service is called silent
TOO_MANY_ERRORS = 0.01
BEHIND = 0.1  # share of the backlog's limit
PLENTY = 20  # visits for each item, after which every item should have been shown
PLENTY_AT_LEAST = 1000
NAMED = 5  # features that are named in a sentence


@dataclass(frozen=True)
class Problem:
    """A sentence that says what is wrong, and one that says what to do."""

    what: str
    do: str


@dataclass(frozen=True)
class Observed:
    """The numbers that problems are found in.

    Parameters
    ----------
    not_ready : str or None
        Why the service cannot decide or learn, as `Engine.problem` says it.
    a : float or None
        The learner's trade-off between showing and not showing, if it has one.
    recent_decisions, recent_empty : float
        Decisions of the last ten minutes, and those of them with an empty slate.
    hour_decisions, hour_feedback : float
        Decisions of the last hour, and feedback by users in that time.
    day_decisions, day_feedback : float
        Those of the last day.
    feedback : float
        Feedback by users since the first event.
    backlog, backlog_limit : int
        Events that are not yet learned, and how many there may be.
    requests, errors, refused : int
        Requests of the last five minutes, those that failed, and those that were wrong.
    labels, never_shown : int
        Labels that can be shown, and those of them that never were.
    decisions_since_labels_changed : int
        Decisions since labels last came or went.
    most_gained : float or None
        The most that the learner may gain over the holdout in visits with a click, relative to
        those of the holdout; None if there is none, or if it cannot be told.
    left_out : str or None
        What the last decisions before this start were drawn by, or held out, if it is not any more.
    ahead : float
        Seconds by which the log is ahead of the clock.
    constant, drifting : sequence of str
        Features that do not change any more, and those whose values have moved away.
    """

    not_ready: str | None = None
    a: float | None = None
    recent_decisions: float = 0
    recent_empty: float = 0
    hour_decisions: float = 0
    hour_feedback: float = 0
    day_decisions: float = 0
    day_feedback: float = 0
    feedback: float = 0
    backlog: int = 0
    backlog_limit: int = 10_000
    requests: int = 0
    errors: int = 0
    refused: int = 0
    labels: int = 0
    never_shown: int = 0
    decisions_since_labels_changed: int = 0
    constant: Sequence[str] = field(default=())
    drifting: Sequence[str] = field(default=())
    most_gained: float | None = None
    left_out: str | None = None
    ahead: float = 0.0


def find_problems(seen: Observed) -> list[Problem]:
    """What is wrong, the worst first; an empty list if all is well.

    Examples
    --------
    >>> find_problems(Observed(recent_decisions=400, recent_empty=12))
    []
    >>> find_problems(Observed(not_ready="the store is away"))[0].what
    'The service cannot work at the moment: the store is away.'
    """
    found = [
        _not_ready(seen),
        _errors(seen),
        _ahead(seen),
        _silent(seen),
        _no_feedback(seen),
        _worse_than_holdout(seen),
        _left_out(seen),
        _behind(seen),
        _refused(seen),
        _constant(seen),
        _drifting(seen),
        _never_shown(seen),
    ]
    return [one for one in found if one is not None]


def _not_ready(seen: Observed) -> Problem | None:
    if seen.not_ready is None:
        return None
    if seen.not_ready.startswith("following"):
        what = f"This is a standby: it is {seen.not_ready}."
        return Problem(what, "Ask the other one. This one takes over by itself when that ends.")
    if "--randomise" in seen.not_ready:
        what, _, do = seen.not_ready.partition(". ")
        return Problem(f"It cannot decide: {what}.", f"{do}, or put another learner in its place.")
    if "while it was open" in seen.not_ready:
        what, _, do = seen.not_ready.partition(". ")
        return Problem(f"The service cannot work: {what}.", f"{do}.")
    if "learn" in seen.not_ready:
        what = f"It no longer learns: {seen.not_ready}."
        do = (
            "Nothing recorded is lost. Leave it running: it still decides. The service's log has "
            "the traceback. A version without the bug goes on from this event; this one would not "
            "start again."
        )
        return Problem(what, do)
    what = f"The service cannot work at the moment: {seen.not_ready}."
    return Problem(
        what,
        "Check the database or the disk that it writes to. It goes on by itself once that is back.",
    )


def _errors(seen: Observed) -> Problem | None:
    if seen.requests < FEW or seen.errors <= TOO_MANY_ERRORS * seen.requests:
        return None
    what = f"{_share(seen.errors, seen.requests)} of the requests of the last 5 minutes failed."
    return Problem(what, "Read the service's log. Visitors should see your usual list meanwhile.")


def _ahead(seen: Observed) -> Problem | None:
    if not seen.ahead:
        return None
    days = seen.ahead / 86400
    far = f"{days:.1f} days" if days >= 1 else f"{seen.ahead:.0f} seconds"
    return Problem(
        f"The log has events that are {far} ahead of this machine's clock.",
        "Check that the clock is right now. If so, it was ahead before: those events count from "
        "when this was seen, and nothing else need be done.",
    )


def _refused(seen: Observed) -> Problem | None:
    if seen.requests < FEW or seen.refused <= TOO_MANY_ERRORS * seen.requests:
        return None
    share = _share(seen.refused, seen.requests)
    what = f"{share} of the requests of the last 5 minutes were turned away as mistaken."
    return Problem(what, "The answers say what is wrong with them: look at the calling program.")


def _silent(seen: Observed) -> Problem | None:
    if seen.recent_decisions < FEW or seen.recent_empty <= MOSTLY * seen.recent_decisions:
        return None
    share = _share(seen.recent_empty, seen.recent_decisions)
    what = f"{share} of the visits of the last 10 minutes were shown nothing at all."
    if seen.a is None:
        return Problem(what, "Check that requests leave it something to choose from.")
    worth = f"{100 * (1 - seen.a):.2g}%"
    return Problem(
        what,
        f"An item is shown if it is expected to be clicked about {worth} of the time or more, and "
        "what is not shown is not learned. If clicks are rarer here, choose a higher value of a "
        f"(now {seen.a:g}): “semibandit replay” tries it on the log.",
    )


def _no_feedback(seen: Observed) -> Problem | None:
    """None ever, or none for an hour though there used to be some, or none for a day."""
    if seen.hour_decisions < FEW or seen.hour_feedback > 0:
        return None
    before = seen.day_decisions - seen.hour_decisions
    expected = seen.day_feedback * seen.hour_decisions / before if before > 0 else 0.0
    if seen.feedback > 0 and seen.day_feedback > 0 and expected < FEW:
        return None
    since = "yet" if seen.feedback == 0 else "in the last hour"
    return Problem(
        f"Nobody has told it what was clicked {since}, "
        f"though {seen.hour_decisions:,.0f} visits were served.",
        "Check that your site sends feedback for every visit, also if nothing was clicked.",
    )


def _worse_than_holdout(seen: Observed) -> Problem | None:
    if seen.most_gained is None or seen.most_gained >= 0:
        return None
    return Problem(
        f"Visits that it decides have at least {-100 * seen.most_gained:.2g}% fewer clicks than "
        "those of the holdout, which it does not decide.",
        "Do not rely on it now. Check that feedback names the right visit, and try other settings "
        "on the log with “semibandit evaluate”.",
    )


def _left_out(seen: Observed) -> Problem | None:
    if seen.left_out is None:
        return None
    what, _, do = seen.left_out.partition(": ")
    return Problem(f"It was started in another way: {what}.", f"{do[0].upper()}{do[1:]}.")


def _behind(seen: Observed) -> Problem | None:
    if seen.backlog <= BEHIND * seen.backlog_limit:
        return None
    return Problem(
        f"Learning is behind: {seen.backlog:,} events wait to be learned, "
        f"of at most {seen.backlog_limit:,}.",
        "Visitors are still served. If the number keeps growing, it needs a faster processor or "
        "a smaller model; beyond the limit, feedback is turned away.",
    )


def _constant(seen: Observed) -> Problem | None:
    if not seen.constant:
        return None
    return Problem(
        f"{_listed(seen.constant)} always the same, so nothing can be learned from it.",
        "Check that your site still sends the real value.",
    )


def _drifting(seen: Observed) -> Problem | None:
    if not seen.drifting:
        return None
    return Problem(
        f"{_listed(seen.drifting)} far from the values of the first week.",
        "Check its unit and where it comes from. If it is right, learn anew from recent visits "
        "with “semibandit replay --since”.",
    )


def _never_shown(seen: Observed) -> Problem | None:
    visits = seen.decisions_since_labels_changed
    if not seen.never_shown or visits < max(PLENTY_AT_LEAST, PLENTY * seen.labels):
        return None
    were = "item has" if seen.never_shown == 1 else "items have"
    return Problem(
        f"{seen.never_shown:,} {were} never been shown, in {visits:,} visits.",
        "Check that requests do not leave them out (candidates, exclude), or retire them.",
    )


def _share(part: float, whole: float) -> str:
    share = 100 * part / whole
    return f"{share:.1f}%" if share < 10 else f"{share:.0f}%"


def _listed(names: Sequence[str]) -> str:
    """The start of a sentence about these features."""
    shown = ", ".join(f"“{name}”" for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"The feature {shown} is" if len(names) == 1 else f"The features {shown}{more} are"
