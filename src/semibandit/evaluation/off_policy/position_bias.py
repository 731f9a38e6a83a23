"""Position bias: how likely each position is looked at, from slates that were drawn at random.

In the position-based click model a label of relevance p is clicked at position k with probability
θ_k p. If every label is as likely at position k as at the first one, the click rates of these
positions differ by θ_k/θ_1 alone. The log need not be uniform: a label that was shown at position k
with probability m_k gets the weight w_k = (1/n)/m_k, with n labels that could be shown, and

    θ_k/θ_1 = (Σ w_k c_k / Σ w_k) / (Σ w_1 c_1 / Σ w_1),

c_k the clicks, both over visits that had room for k labels.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.checks import finite_number, whole_number
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.chunk import Chunk, Codes, padded
from semibandit.evaluation.off_policy.estimators import Estimator, Sums
from semibandit.evaluation.off_policy.intervals import CellSums, bootstrap, percentiles
from semibandit.evaluation.off_policy.read_visits import VisitLog, read_visits
from semibandit.evaluation.off_policy.result_text import counted, plain_table
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.evaluation.off_policy.weights import impossible, logged_propensities
from semibandit.policies.labels import Label

__all__ = ["PositionBias", "PositionEstimate", "position_bias"]

LEAST_VISITS = 100.0  # effective ones, at a position
LEAST_CLICKS = 30.0  # effective ones: the ratio is then known to about a quarter
DEVIATIONS = 3.0  # standard errors that the mean weight may be away from 1
TOLERATED = 0.01

ZERO = "shown with probability 0"
UNKNOWN = "decisions without the probabilities of labels at positions"
NEEDED = "serve with --randomise mixed:0.05 or more, or with --holdout 0.02 or more"


@dataclass(frozen=True)
class PositionEstimate:
    """What was found about one position.

    Parameters
    ----------
    position : int
        From 1.
    examination : float or None
        θ_k/θ_1: how much more or less likely it is looked at than the first one. None if the log
        cannot say.
    low, high : float or None
        A bootstrap interval over visitors.
    click_rate : float
        The click rate that the position would have with labels drawn uniformly at random.
    mean_weight : float
        It should be 1.
    effective_visits, effective_clicks : float
        So many visits with equal weights, and clicks in them, would say as much.
    problem : str or None
        Why the log cannot say.
    """

    position: int
    examination: float | None
    low: float | None
    high: float | None
    click_rate: float
    mean_weight: float
    effective_visits: float
    effective_clicks: float
    problem: str | None

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "position", "looked at", "from", "to", "click rate", "visits", "clicks", "mean weight",
    )  # fmt: skip

    @property
    def row(self) -> tuple[str, ...]:
        """The numbers as a table shows them, in the order of `COLUMNS`."""
        known = (
            "-" if value is None else f"{value:.3f}"
            for value in (self.examination, self.low, self.high)
        )
        sizes = f"{self.effective_visits:,.0f}", f"{self.effective_clicks:,.0f}"
        rate = f"{self.click_rate:.4f}"
        return str(self.position), *known, rate, *sizes, f"{self.mean_weight:.3f}"


@dataclass(frozen=True, repr=False)
class PositionBias:
    """How likely each position is looked at, relative to the others.

    Parameters
    ----------
    positions : list of PositionEstimate
        The positions, the first one first.
    visits : int
        How many visits were used.
    left_out : mapping
        How many were not, by reason.
    refused : str or None
        Why there is no result, and what log would be needed.
    """

    positions: Sequence[PositionEstimate]
    visits: int
    left_out: Mapping[str, int]
    refused: str | None

    @property
    def examination(self) -> list[float]:
        """What a learner takes as `examination`: the largest is 1, the last holds for the rest.

        Raises
        ------
        InputError
            If the log has too little to say.
        """
        if self.refused is not None:
            raise InputError(self.refused)
        known = [one.examination for one in self._known() if one.examination is not None]
        return [one / max(known) for one in known]

    @property
    def words(self) -> str:
        """The same in words, as commands take it: "1,0.712,0.498"."""
        return ",".join(f"{max(one, 0.001):.3g}" for one in self.examination)

    @property
    def notes(self) -> list[str]:
        """What should be known besides the numbers."""
        n, problems = len(self._known()), [one.problem for one in self.positions if one.problem]
        if self.refused is not None or n == len(self.positions):
            return []
        return [f"{problems[0]}; what holds for position {n} is taken for those after it"]

    def json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "examination": None if self.refused is not None else self.examination,
            "positions": [asdict(one) for one in self.positions],
            "visits": self.visits,
            "left_out": dict(self.left_out),
            "refused": self.refused,
            "notes": self.notes,
        }

    def __str__(self) -> str:
        rows = [one.row for one in self.positions]
        out = [f"left out: {counted(n, reason)}" for reason, n in self.left_out.items()]
        last = self.refused if self.refused is not None else f"examination: {self.words}"
        return "\n".join([
            f"{counted(self.visits, 'visits')}; looked at, relative to the first position:",
            *plain_table(PositionEstimate.COLUMNS, rows), *out, *self.notes, last,
        ])  # fmt: skip

    def __repr__(self) -> str:
        known = "refused" if self.refused is not None else f"examination={self.words!r}"
        return f"PositionBias({known}, {counted(self.visits, 'visits')})"

    def _known(self) -> list[PositionEstimate]:
        """The positions up to the first that the log cannot say anything about."""
        end = next((i for i, one in enumerate(self.positions) if one.problem), len(self.positions))
        return list(self.positions[:end])


def position_bias(
    log: str | os.PathLike[str] | Iterable[VisitChunk],
    *,
    since: float | None = None,
    until: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> PositionBias:
    """Estimate how likely each position is looked at, from a log with randomised slates.

    Parameters
    ----------
    log : path-like or iterable of VisitChunk
        A store, a file of `semibandit export`, or "open-bandit/random/all"; or what `read_visits`
        gives. Its slates must be drawn with known probabilities, each label now and then at each
        position: by `Mixed` or `PlackettLuce` (`serve --randomise`), or in a holdout.
    since, until : float, optional
        Only visits of this time and later, and before this one, in seconds since 1970.
    confidence : float
        That of the intervals.
    seed : int
        Decides the bootstrap samples.

    Returns
    -------
    PositionBias
        Its `examination` is what `SlateUCB(examination=...)` takes.

    Raises
    ------
    InputError
        If no visit of the log can be used.
    MissingFile, FileError
        If there is no such log, or it is damaged.

    Examples
    --------
    >>> from semibandit.evaluation.off_policy.visit import LoggedVisit
    >>> from semibandit.policies.distributions.uniform import UniformSlates
    >>> from semibandit.policies.request import Request
    >>> slates, drawn, visits = UniformSlates(n=4, length=2), np.random.default_rng(1), []
    >>> for i in range(2000):  # the second position is looked at half as often as the first
    ...     shown = slates.sample(drawn, range(4))
    ...     visits.append(LoggedVisit(
    ...         Request(np.empty(0), 2, None, None, i), shown, drawn.random(2) < [0.4, 0.2],
    ...         slates.slate_propensity(shown), slates.prefix_propensity(shown),
    ...         slates.item_propensity(shown), slates, group=""))
    >>> found = position_bias([VisitChunk(visits=visits, items=[[0, 1, 2, 3]] * 2000)])
    >>> [round(one, 1) for one in found.examination]
    [1.0, 0.5]
    """
    if not 0.0 < finite_number("confidence", confidence) < 1.0:
        raise InputError(f"confidence = {confidence!r}, but it must be between 0 and 1")
    whole_number("seed", seed, least=0)
    if isinstance(log, str | os.PathLike):
        log = read_visits(log, since=since, until=until)
    sums = _Positions()
    for chunk in log:
        sums.add(chunk.visits, chunk.items)
    left_out = Counter(sums.left_out)
    if isinstance(log, VisitLog):
        log.check_used()
        left_out.update(log.left_out)
    estimates = sums.estimates(confidence, seed)
    return PositionBias(estimates, sums.visits, left_out, _refusal(estimates))


class _Positions:
    """Sums over visits, by position."""

    def __init__(self) -> None:
        self.sums, self.codes = CellSums(), Codes()
        self.visits, self.left_out = 0, Counter[str]()
        # visits with room for the position, squares of weights, and of weights with a click
        self.rooms = self.squares = self.click_squares = np.zeros(1)

    def add(self, visits: Sequence[LoggedVisit], items: Sequence[Sequence[Label]]) -> None:
        """Add visits, with the labels that there were at each of them."""
        if not visits:
            return
        chunk = Chunk.of(visits, items[-1], self.codes)
        logged = logged_propensities(chunk)
        zero, unknown = impossible(chunk, logged), np.isnan(logged.item).any(axis=1)
        for reason, out in ((ZERO, zero & ~unknown), (UNKNOWN, unknown)):
            if out.any():
                self.left_out[reason] += int(out.sum())
        used = np.flatnonzero(~zero & ~unknown)
        alone = np.isnan(logged.slate) & np.isnan(logged.prefix).any(axis=1)
        n = np.array([_n_items(v, i) for v, i in zip(visits, items, strict=True)])
        if len(used):
            self._add(chunk.select(used), logged.item[used], alone[used], n[used])

    def _add(self, chunk: Chunk, item: Floats, alone: Bools, n: Ints) -> None:
        self.visits += len(chunk.visits)
        k, present = np.arange(chunk.positions), chunk.present
        slots = [v.request.slots for v in chunk.visits]
        room = np.minimum(n, [m if s is None else s for s, m in zip(slots, n, strict=True)])
        has_room = k < room[:, None]
        w = np.where(present, 1.0 / (n[:, None] * np.where(present, item, 1.0)), 0.0)
        clicks = w * chunk.clicked
        terms = {
            "weight": w, "click": clicks,
            "first_weight": w[:, :1] * has_room, "first_click": clicks[:, :1] * has_room,
        }  # fmt: skip
        self.sums.add(self.sums.cells([v.group for v in chunk.visits]), terms)
        rooms = np.where(alone[:, None], present, has_room).sum(axis=0).astype(np.float64)
        self.rooms = _added(self.rooms, rooms)
        self.squares = _added(self.squares, (w**2).sum(axis=0))
        self.click_squares = _added(self.click_squares, (clicks**2).sum(axis=0))

    def estimates(self, confidence: float, seed: int) -> list[PositionEstimate]:
        """What is known of each position."""
        if not self.visits:
            return []
        total = self.sums.total()
        positions = range(len(total["weight"]))
        each = [Estimator(str(k), "item", "", _ratio(k), False) for k in positions]
        samples = bootstrap(self.sums, each, seed)
        found = []
        for k in positions:
            problem = self._problem(total, k)
            value = None if problem else float(each[k].value(total))
            low, high = (None, None) if problem else percentiles(samples[str(k)], confidence)
            rate = float(total["click"][k] / max(total["weight"][k], 1e-300))
            found.append(
                PositionEstimate(k + 1, value, low, high, rate, *self._sizes(total, k), problem)
            )
        return found

    def _sizes(self, total: Sums, k: int) -> tuple[float, float, float]:
        """The mean weight, the effective visits, and the effective clicks at a position."""
        weight, click = float(total["weight"][k]), float(total["click"][k])
        return (
            weight / max(float(self.rooms[k]), 1.0),
            weight**2 / max(float(self.squares[k]), 1e-300),
            click**2 / max(float(self.click_squares[k]), 1e-300),
        )

    def _problem(self, total: Sums, k: int) -> str | None:
        """Why the log cannot say how likely the position is looked at, if it cannot."""
        mean, visits, clicks = self._sizes(total, k)
        n = max(float(self.rooms[k]), 1.0)
        error = np.sqrt(max(float(self.squares[k]) / n - mean**2, 0.0) / n)
        short = max(LEAST_VISITS / max(visits, 1e-9), LEAST_CLICKS / max(clicks, 1e-9))
        if short > 1.0:
            more = f"about {np.ceil(short * self.visits):,.0f} visits" if clicks else "many more"
            return (
                f"position {k + 1} has {visits:,.0f} effective visits and {clicks:,.0f} effective "
                f"clicks, but {LEAST_VISITS:,.0f} and {LEAST_CLICKS:,.0f} are needed: {more} "
                "like these"
            )
        if abs(mean - 1.0) > DEVIATIONS * error + TOLERATED:
            return (
                f"the mean weight at position {k + 1} is {mean:.3f}, but it should be 1: the "
                "logged probabilities are not those of what was shown, or some labels are never "
                "shown there"
            )
        return None


def _ratio(k: int) -> Any:
    """θ_k/θ_1 from the sums over visits."""

    def value(sums: Sums) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            here = sums["click"][..., k] / sums["weight"][..., k]
            return np.asarray(here / (sums["first_click"][..., k] / sums["first_weight"][..., k]))

    return value


def _refusal(estimates: Sequence[PositionEstimate]) -> str | None:
    """Why there is no result at all, if so."""
    if not estimates:
        return f"no visit of the log has known probabilities: {NEEDED}"
    problem = next((one.problem for one in estimates[:2] if one.problem), None)
    if problem is not None:
        return f"{problem} ({NEEDED})"
    return None if len(estimates) > 1 else "slates have one position: there is nothing to compare"


def _n_items(visit: LoggedVisit, items: Sequence[Label]) -> int:
    """How many labels could be shown."""
    request = visit.request
    allowed = items if request.candidates is None else request.candidates
    return len(set(allowed) - set(request.exclude)) if request.exclude else len(allowed)


def _added(before: Floats, more: Floats) -> Floats:
    """The sum of both, which may have different lengths."""
    size = max(len(before), len(more))
    return padded(before, size) + padded(more, size)
