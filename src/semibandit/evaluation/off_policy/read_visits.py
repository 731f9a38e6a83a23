"""The visits of a log: decisions with their feedback and propensities, in chunks.

Whatever cannot be used is left out and counted by its reason, never guessed.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from semibandit.data.open_bandit import is_open_bandit
from semibandit.errors import FileError, InputError
from semibandit.evaluation.off_policy.check_log import check_log, check_times
from semibandit.evaluation.off_policy.lesson import NOT_LEARNED, Lesson
from semibandit.evaluation.off_policy.read_propensities import NOT_LOGGED, read_propensities
from semibandit.evaluation.off_policy.result_text import counted
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request
from semibandit.store.log_rows import LogRow, open_rows

__all__ = ["SIZE", "VisitLog", "read_visits"]

SIZE = 4096  # feedback in a chunk
EVENTS = 4  # times as many events, if many have no feedback
OPEN = 200_000  # decisions that may wait for feedback; each takes about 1.5 kB
SCORES = 16  # of Plackett-Luce that take as much memory as a decision

NO_FEEDBACK = "decisions without feedback"
DROPPED = "decisions without feedback before too many others waited for theirs"
UNANSWERED = NO_FEEDBACK  # how both begin
FEW = 0.01  # of all decisions: values may be too high by as much
NO_DECISION = "feedback before or without its decision"
NOT_SHOWN = "clicks on what was not shown"
TWICE = "decisions with the id of another"
CUT_OFF = "lines cut off at the end of the log"


class _OpenDecision(NamedTuple):
    """A decision that waits for its feedback."""

    row: LogRow | None  # if lessons are asked for
    visit: LoggedVisit | str  # or the reason why it cannot be used
    items: list[Label]
    size: int  # how many plain decisions take as much memory


class VisitLog:
    """The visits of a log, which can be read any number of times.

    Parameters
    ----------
    log : str or path
        A store (a folder or postgresql://...), or a file of `semibandit export`.
    since, until : float, optional
        Only visits that were decided at this time or later, and before this one, in seconds since
        1970. Lessons are of all times before `until`.
    size : int
        How much feedback a chunk has, at most.
    lessons : bool
        Whether chunks have lessons.
    waiting : int
        How many decisions may wait for their feedback; the oldest is given up if there are more.
        Memory is bounded by it: a decision with many scores counts as several.

    Attributes
    ----------
    left_out : Counter
        How many decisions or answers could not be used so far, by reason.
    used : int
        How many visits there were so far.
    removed : int
        Feedback up to this seq has left the log, at least in part; 0 if none has.
    replaced : int
        How many times another learner took the place of the one before so far.

    Raises
    ------
    MissingFile, FileError, MissingExtra
        When it is read: if there is no such log, or it is damaged other than at its end.
    """

    has_lessons = True  # whether there is anything to learn along it

    def __init__(
        self,
        log: str | os.PathLike[str],
        *,
        since: float | None = None,
        until: float | None = None,
        size: int = SIZE,
        lessons: bool = False,
        waiting: int = OPEN,
    ) -> None:
        self.log, self.size, self.lessons, self.waiting = os.fspath(log), size, lessons, waiting
        self.since = -math.inf if since is None else since
        self.until = math.inf if until is None else until
        self.left_out: Counter[str] = Counter()
        self.used = self.removed = self.replaced = 0
        self._open: dict[str, _OpenDecision] = {}
        self._open_size = 0  # of all of them
        self._items: list[Label] = []

    def learner(self) -> Learner:
        """The learner before the first event, anew at each call."""
        with open_rows(self.log) as opened:
            return opened.learner

    def labels(self) -> list[Label]:
        """The labels before the first event."""
        return list(self.learner().labels)

    def __iter__(self) -> Iterator[VisitChunk]:
        self.left_out.clear()
        self._open.clear()
        self.used = self.replaced = self._open_size = 0
        with open_rows(self.log, self._count_cut_off, seen=False) as opened:
            self._items = list(opened.learner.labels)
            self._ever = opened.learner.n_labels_ever
            self.removed = opened.removed
            yield from self._chunks(opened.rows)
        self._count(NO_FEEDBACK, len(self._open))
        self._open.clear()

    def check_used(self) -> None:
        """Raise an `InputError` if no visit could be used, which says what the log lacks."""
        if self.used:
            return
        reasons = "; ".join(counted(n, reason) for reason, n in self.left_out.most_common())
        raise InputError(
            f"{self.log} has no visit that can be evaluated"
            + (f" ({reasons})" if reasons else ": it has no feedback in this time")
            + _advice(self.left_out)
        )

    def notes(self) -> list[str]:
        """What whoever reads values from this log should know of it."""
        notes = []
        waiting = sum(n for reason, n in self.left_out.items() if reason.startswith(UNANSWERED))
        if waiting > FEW * (waiting + self.used):
            notes.append(
                f"{counted(waiting, UNANSWERED)} left out: if visitors who click nothing send "
                "none, values are too high (serve --wait counts them); if they send it later, "
                "leave out the last visits (--until)"
            )
        if self.removed:
            notes.append(f"feedback up to event {self.removed} has left the log, at least in part")
        if self.replaced:
            times = "once" if self.replaced == 1 else f"{self.replaced:,} times"
            notes.append(
                f"another learner took over {times}; changes in words are changes to the first one"
            )
        return notes

    # -- inside --------------------------------------------------------------------------------

    def _chunks(self, rows: Iterator[LogRow]) -> Iterator[VisitChunk]:
        chunk = VisitChunk()
        for row in rows:
            chunk.events += 1
            if row.kind == "decision":
                self._add_decision(chunk, row)
            elif row.kind == "feedback":
                self._add_feedback(chunk, row)
            elif row.kind == "labels":
                self._change_labels(row)
                if self.lessons and row.at < self.until:
                    chunk.lessons.append(Lesson(row, None))
            full = chunk.answers >= self.size or chunk.events >= EVENTS * self.size
            self.replaced += row.kind == "learner"
            if full or row.kind == "labels":  # visits are judged before labels change
                yield chunk
                chunk = VisitChunk()
        yield chunk

    def _add_decision(self, chunk: VisitChunk, row: LogRow) -> None:
        if row.at >= self.until:
            return
        if row.id in self._open or row.id is None:
            self._count(TWICE)
            return
        visit = _visit(row)
        size = _size(visit)
        self._open[row.id] = _OpenDecision(self._kept(row), visit, self._items, size)
        self._open_size += size
        if self.lessons and isinstance(visit, LoggedVisit) and row.at >= self.since:
            chunk.decided.append(visit)
            chunk.decided_items.append(self._items)
        while self._open_size > self.waiting:
            oldest = self._open.pop(next(iter(self._open)))
            self._open_size -= oldest.size
            self._count(DROPPED)
            if isinstance(oldest.visit, LoggedVisit):
                chunk.given_up.append(oldest.visit)

    def _kept(self, row: LogRow) -> LogRow | None:
        """The decision's row, if lessons are asked for, without what learners need not know."""
        if not self.lessons:
            return None
        for key in NOT_LEARNED:
            row.body.pop(key, None)
        return row

    def _add_feedback(self, chunk: VisitChunk, row: LogRow) -> None:
        found = self._open.pop(str(row.id), None)
        if found is None:
            if self.since <= row.at < self.until:
                self._count(NO_DECISION)
            return
        self._open_size -= found.size
        chunk.answers += 1
        lesson = None if found.row is None else Lesson(row, found.row)
        visit = found.visit
        if isinstance(visit, str):
            self._count(visit)
        elif visit.at >= self.since:
            clicked = _clicked(visit.shown, row)
            if clicked is None:
                self._count(NOT_SHOWN)
                chunk.given_up.append(visit)
                return  # a learner would refuse it as well
            visit.clicked = clicked
            if found.items is not self._items and visit.request.candidates is None:
                visit.request.candidates = list(found.items)  # labels came or went since
            chunk.visits.append(visit)
            chunk.items.append(found.items)
            chunk.lesson_of.append(lesson)
            self.used += 1
        if lesson is not None and lesson.counts:
            chunk.lessons.append(lesson)

    def _change_labels(self, row: LogRow) -> None:
        """New lists, because visits hold those of their time."""
        add, retire = row.body.get("add"), row.body.get("retire") or ()
        if isinstance(add, int):
            add = range(self._ever, self._ever + add)
            self._ever = add.stop
        gone = set(retire)
        self._items = [item for item in self._items if item not in gone] + list(add or ())

    def _count(self, reason: str, n: int = 1) -> None:
        if n:
            self.left_out[reason] += n

    def _count_cut_off(self) -> None:
        self._count(CUT_OFF)


def read_visits(
    log: str | os.PathLike[str], *, since: float | None = None, until: float | None = None
) -> VisitLog:
    """The visits of a log: iterate over the chunks, then look at `left_out`.

    Parameters
    ----------
    log : str or path
        A store (a folder or postgresql://...), or a file of `semibandit export`; or a log of the
        Open Bandit Dataset, "open-bandit/bts/all".
    since, until : float, optional
        Only visits of this time and later, and before this one, in seconds since 1970.

    Returns
    -------
    VisitLog
        It yields a `VisitChunk` at a time; memory is bounded.

    Examples
    --------
    >>> import tempfile, semibandit as sb
    >>> from semibandit.store.store import Store
    >>> folder = tempfile.mkdtemp()
    >>> Store.create(folder, sb.SlateUCB(n_features=2, labels=["tea", "coffee"])).close()
    >>> sum(len(chunk.visits) for chunk in read_visits(folder))
    0
    """
    check_log(log)
    check_times(since=since, until=until)
    if is_open_bandit(log):
        from semibandit.evaluation.off_policy.open_bandit import OpenBanditVisits

        return OpenBanditVisits(log, since=since, until=until)
    return VisitLog(log, since=since, until=until)


def _visit(row: LogRow) -> LoggedVisit | str:
    """The visit without its clicks; or why it cannot be used."""
    body = row.body
    try:
        labels, slots = body["labels"], body["slots"]
        limits, draw = (body["candidates"], body["exclude"]), int(body["draw"])
    except (KeyError, TypeError, ValueError):
        raise FileError(f"event {row.seq} of the log is a damaged decision, {row.id!r}") from None
    assert row.context is not None  # rows of decisions have one
    found = read_propensities(body, labels)
    if isinstance(found, str):
        return found
    request = Request(row.context, slots, *limits, draw, named=body.get("named"))
    group = row.id if row.subject is None else row.subject
    return LoggedVisit(
        request, labels, _NOTHING, found.slate, found.prefix, found.item, found.logging, str(group),
        row.seq, row.at,
    )  # fmt: skip


_NOTHING: list[bool] = []


def _size(visit: LoggedVisit | str) -> int:
    """How many decisions without scores take as much memory."""
    return 1 if isinstance(visit, str) else 1 + _scores(visit.logging) // SCORES


def _scores(distribution: SlateDistribution | None) -> int:
    """How many scores a distribution has."""
    kind = type(distribution)  # isinstance takes ten times as long: their base class is abstract
    if kind is FixedSlate or kind is UniformSlates:
        return 0
    if isinstance(distribution, Mixture):
        return sum(_scores(part) for _, part in distribution.parts)
    return len(distribution.scores) if isinstance(distribution, PlackettLuceSlates) else 0


def _clicked(shown: list[Label], row: LogRow) -> list[bool] | None:
    """Which positions were clicked; None if something else was."""
    clicked: list[Label] = row.body["clicked"]
    if not clicked:
        return [False] * len(shown)
    hits = set(clicked)
    found = [label in hits for label in shown]
    return found if sum(found) == len(hits) else None


def _advice(left_out: Counter[str]) -> str:
    if NOT_LOGGED in left_out or not left_out:
        return (
            ". A log can be evaluated if its slates were drawn with known probabilities: run the "
            "service with `semibandit serve --randomise mixed:0.05`, or with `--holdout 0.02`"
        )
    return ""
