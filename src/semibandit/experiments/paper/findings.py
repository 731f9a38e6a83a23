"""The paper's statements about its experiments, judged by the numbers of a run.

The sentences are those of section 5, "Results". A statement holds or differs if confidence
intervals say so, and is undecided otherwise. They are paired: two methods have played the same
rows in the same orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.experiments.paper.plans import BASELINE, LEFT, MIDDLE, RANKING, RIGHT, SQUARE
from semibandit.experiments.paper.point import Panel, Point

__all__ = ["PANELS", "Finding", "Interval", "Verdict", "findings", "lost_labels", "mean_interval"]

Verdict: TypeAlias = Literal["holds", "differs", "undecided"]
PANELS: dict[str, tuple[str, str]] = {  # panel -> the key of its loss, and what that is
    LEFT: ("ac", "ℓ with decreasing costs"),
    MIDDLE: ("hamming", "Hamming loss"),
    RIGHT: ("p_rank_per_slot", "ranking loss ÷ S, a = ½"),
    RANKING: ("p_rank_per_slot", "ranking loss ÷ S, a = 1"),
}
ERROR = 0.05  # of all intervals of a statement together
CLOSE = 1.25  # times OBR's loss, at most, is what we read "pretty close" as


@dataclass(frozen=True)
class Finding:
    """A statement of the paper and what this run says of it.

    Attributes
    ----------
    data : str
        The data set.
    statement : str
        What was judged, in our words.
    paper : str
        The paper's words.
    verdict : {"holds", "differs", "undecided"}
        Whether the statement holds in this run.
    numbers : str
        The numbers that say so.
    reason : str
        Why it differs, in a sentence with a figure; empty if it does not.
    """

    data: str
    statement: str
    paper: str
    verdict: Verdict
    numbers: str
    reason: str = ""


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3g} ({self.low:.3g} to {self.high:.3g})"


def mean_interval(values: Floats, error: float = ERROR) -> Interval:
    """The mean over orders and rows, and where it lies but with a probability of `error`.

    Parameters
    ----------
    values : array of orders × blocks
        A number for each order of the data and each block of its rows, such as the difference of
        two methods' losses; or one number of each order alone.
    error : float
        How likely the interval may fail, from above or from below.

    Returns
    -------
    Interval
        By Student's t. The variance of the mean is that over orders plus that over blocks, so the
        interval is about other orders and other rows; one order says nothing of others, and its
        interval is everything.

    Examples
    --------
    >>> print(mean_interval(np.array([1.0, 2.0, 3.0])))
    2 (-0.484 to 4.48)
    """
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=np.float64)
    mean, orders = float(values.mean()), len(values)
    if orders == 1:
        return Interval(mean, -np.inf, np.inf)
    variance, degrees = 0.0, orders - 1
    for means in [values] if values.ndim == 1 else [values.mean(axis=1), values.mean(axis=0)]:
        if len(means) > 1:
            variance += float(means.var(ddof=1)) / len(means)
            degrees = min(degrees, len(means) - 1)
    reach = float(stdtrit(degrees, 1 - error / 2)) * variance**0.5
    return Interval(mean, mean - reach, mean + reach)


def findings(data: str, panels: Mapping[str, Panel]) -> list[Finding]:
    """Judge the paper's statements, one by one, by the panels of one data set.

    Parameters
    ----------
    data : str
        The data set. One statement is about Mediamill alone.
    panels : mapping of Panel
        The results of the paper's figure, by the panel.

    Returns
    -------
    list of Finding
        One of each statement.
    """
    judge = Judge(data, panels)
    return [
        judge.improves(),
        *(judge.has_best_slots(panel) for panel in (MIDDLE, RIGHT, RANKING)),
        *(judge.close_to_baseline(panel) for panel in PANELS),
        *(judge.square_is_better(panel) for panel in (MIDDLE, RIGHT, RANKING)),
    ]


class Judge:
    """Judges the statements about one data set."""

    def __init__(self, data: str, panels: Mapping[str, Panel]) -> None:
        self.data, self.panels = data, panels

    def improves(self) -> Finding:
        """Compare the average loss after a tenth of the rounds with that after all of them."""
        methods = {name: points[None] for name, points in self.panels[LEFT].items()}
        falls, numbers = [], []
        for method, point in methods.items():
            marks = point.results[0]["marks"]
            tenth = next(i for i, mark in enumerate(marks) if mark >= marks[-1] // 10)
            curves = point.values("curve")
            early, final = curves[:, tenth], curves[:, -1]
            fall = mean_interval(early - final, ERROR / (len(methods) - 1))
            if method != BASELINE:  # OBR's are there to compare with
                falls.append(fall)
            numbers.append(f"{method}: {early.mean():.3f} → {final.mean():.3f}, by {fall}")
        verdict = _verdict(
            all(fall.low > 0 for fall in falls), any(fall.high < 0 for fall in falls)
        )
        worst = min(falls, key=lambda fall: fall.mean)
        return Finding(
            self.data,
            "the average loss falls from a tenth of the rounds to all of them",
            "“the performance is improving over time on both datasets”",
            verdict,
            "; ".join(numbers),
            f"the average loss of one method changes by {-worst.mean:+.3f}, so the last rows cost "
            "more than the first ones"
            if verdict == "differs"
            else "",
        )

    def has_best_slots(self, panel: str) -> Finding:
        """Compare the best S in between with the least and the largest S."""
        key, what = PANELS[panel]
        points = self._by_slots(panel, SQUARE)
        first, *inner, last = points
        verdict: Verdict = "undecided"
        numbers = ", ".join(f"S={S}: {point.mean(key):.3f}" for S, point in points.items())
        reason = ""
        if inner:
            best = min(inner, key=lambda S: points[S].mean(key))
            gains = {S: self._difference(points[S], points[best], key, 2) for S in (first, last)}
            verdict = _verdict(
                all(gain.low > 0 for gain in gains.values()),
                any(gain.high < 0 for gain in gains.values()),
            )
            numbers += "".join(f"; S={S} minus S={best}: {gain}" for S, gain in gains.items())
            end = min(gains, key=lambda S: gains[S].mean)
            reason = self._why_at_the_end(panel, points, end) if verdict == "differs" else ""
        return Finding(
            self.data,
            f"an S in between is the best ({what}, square loss)",
            "“there is an optimal value of S that allows to balance the exploration and the "
            "exploitation”",
            verdict,
            numbers,
            reason,
        )

    def _why_at_the_end(self, panel: str, points: Mapping[int, Point], end: int) -> str:
        key = PANELS[panel][0]
        baseline = self._by_slots(panel, BASELINE)
        best = min(baseline, key=lambda S: baseline[S].mean(key))
        sizes = ", ".join(f"{p.mean('size'):.1f} at S={S}" for S, p in points.items())
        why = (
            ": where the list ends decides, not exploration"
            if best == end
            else f", which shows {baseline[best].mean('size'):.1f} labels{self._lost(points[best])}"
        )
        return (
            f"the loss is least at S={end}, and OBR's, which does not explore, at S={best}{why}; "
            f"labels shown: {sizes}"
        )

    def close_to_baseline(self, panel: str) -> Finding:
        """Compare SlateUCB's loss with `CLOSE` times OBR's, at every S."""
        key, what = PANELS[panel]
        ours, baseline = self.panels[panel][SQUARE], self.panels[panel][BASELINE]
        excess = {
            S: mean_interval(point.blocks(key) - CLOSE * baseline[S].blocks(key), ERROR / len(ours))
            for S, point in ours.items()
        }
        verdict = _verdict(
            all(one.high <= 0 for one in excess.values()),
            any(one.low > 0 for one in excess.values()),
        )
        ratios = {S: point.mean(key) / baseline[S].mean(key) for S, point in ours.items()}
        shown = ", ".join(
            f"{ratio:.3f}" + ("" if S is None else f" at S={S}") for S, ratio in ratios.items()
        )
        worst = max(ratios, key=ratios.__getitem__)
        reason = (
            f"at its worst{'' if worst is None else f', S={worst},'} SlateUCB shows "
            f"{ours[worst].mean('size'):.1f} labels of which {ours[worst].mean('precision'):.0%} "
            f"are relevant, OBR {baseline[worst].mean('size'):.1f} of which "
            f"{baseline[worst].mean('precision'):.0%} are{self._lost(ours[worst])}"
        )
        return Finding(
            self.data,
            f"close to OBR: at most {CLOSE} times its loss ({what}, square loss)",
            "“always pretty close to the performance of OBR, even if our algorithm is receiving "
            "only partial feedback”",
            verdict,
            f"loss ÷ OBR's: {shown}",
            reason if verdict == "differs" else "",
        )

    def square_is_better(self, panel: str) -> Finding:
        """Count the values of S at which the square loss is better than with every R."""
        key, what = PANELS[panel]
        square = self._by_slots(panel, SQUARE)
        others = [name for name in self.panels[panel] if "logistic" in name]
        better, worse = [], []
        for S, point in square.items():
            gains = [
                self._difference(self.panels[panel][name][S], point, key, len(others) * len(square))
                for name in others
            ]
            if all(gain.low > 0 for gain in gains):
                better.append(S)
            if any(gain.high < 0 for gain in gains):
                worse.append(S)
        n, exception = len(square), self.data == "mediamill" and panel != MIDDLE
        open_ = n - len(better) - len(worse)
        if exception:
            verdict = _verdict(2 * len(worse) >= n, 2 * (len(worse) + open_) < n)
        else:
            verdict = _verdict(2 * len(better) > n, 2 * (len(better) + open_) <= n)
        numbers = (
            f"square is better than with every R at {_these(better)}, worse than with some R at "
            f"{_these(worse)}, undecided at {open_} of {n} values of S"
        )
        return Finding(
            self.data,
            f"the exception: logistic is better at half of the S or more ({what})"
            if exception
            else f"the square loss is better at more than half of the S ({what})",
            "“exception is the ranking loss on the Mediamill dataset”"
            if exception
            else "“in many experiments the square loss seems to give better results”",
            verdict,
            numbers,
            self._why_the_loss(panel, others) if verdict == "differs" else "",
        )

    def _why_the_loss(self, panel: str, others: Sequence[str]) -> str:
        """What square and the best logistic show, at the S where they are furthest apart."""
        key = PANELS[panel][0]
        square = self._by_slots(panel, SQUARE)
        best = {
            S: min((self.panels[panel][name][S] for name in others), key=lambda p: p.mean(key))
            for S in square
        }
        S = max(square, key=lambda S: abs(square[S].mean(key) / best[S].mean(key) - 1))
        ours, other = square[S], best[S]
        return (
            f"at S={S}, where they are furthest apart, square has a loss of {ours.mean(key):.3f} "
            f"and shows {ours.mean('size'):.1f} labels ({ours.mean('precision'):.0%} relevant), "
            f"the best logistic {other.mean(key):.3f} with {other.mean('size'):.1f} "
            f"({other.mean('precision'):.0%}){self._lost(ours)}"
        )

    def _lost(self, point: Point) -> str:
        """In how many orders a frequent label was not shown again, from how early on."""
        lost = [lost_labels(result) for result in point.results]
        with_loss = [labels for labels in lost if labels]
        if not with_loss:
            return ""
        counts = np.array([len(labels) for labels in lost])
        first = min(last for labels in with_loss for last in labels.values())
        return (
            f"; in {len(with_loss)} of {len(lost)} orders frequent labels are lost, "
            f"{counts.mean():.1f} of the ten most frequent ones on average, the first after "
            f"round {first:,}"
        )

    def _by_slots(self, panel: str, method: str) -> dict[int, Point]:
        points = self.panels[panel][method]
        return {S: points[S] for S in sorted(S for S in points if S is not None)}

    def _difference(self, one: Point, other: Point, key: str, together: int) -> Interval:
        """By how much the first loss is larger; `together` intervals of a statement."""
        return mean_interval(one.blocks(key) - other.blocks(key), ERROR / together)


def lost_labels(result: Mapping[str, object]) -> dict[str, int]:
    """The frequent labels that were not shown in the second half, and when they were last."""
    last, rounds = result["last_shown"], result["rounds"]
    assert isinstance(last, dict)
    assert isinstance(rounds, int)
    return {label: when for label, when in last.items() if when < rounds / 2}


def _verdict(holds: bool, differs: bool) -> Verdict:
    return "holds" if holds else "differs" if differs else "undecided"


def _these(slots: Sequence[int]) -> str:
    return "none" if not slots else "S=" + ", ".join(map(str, slots))
