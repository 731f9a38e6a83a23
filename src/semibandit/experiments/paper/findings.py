"""The paper's statements about its experiments, checked against the numbers of a run.

A statement is judged by the means over seeds. The sentences are those of section 5, "Results".
"""

from __future__ import annotations

from dataclasses import dataclass

from semibandit.experiments.paper.plans import BASELINE, SQUARE
from semibandit.experiments.paper.point import Panel

__all__ = ["HAMMING", "RANKING", "Finding", "findings"]

HAMMING = "hamming"  # of the middle panel
RANKING = "p_rank_per_slot"  # of the right panel: ℓ_{p-rank,t} ÷ S


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, whether it holds in this run, and the numbers that say so."""

    statement: str
    data: str
    holds: bool
    numbers: str


def findings(data: str, panels: dict[str, Panel]) -> list[Finding]:
    """Check the paper's statements, one by one, against the panels of one data set.

    Parameters
    ----------
    data : str
        The data set. Some statements are about Mediamill alone.
    panels : dict of Panel
        The results of the paper's figure: "left", "middle" and "right".

    Returns
    -------
    list of Finding
        One of each statement.
    """
    middle, right = panels["middle"], panels["right"]
    return [
        _improves(data, panels["left"]),
        _has_best_slots(data, "Hamming loss", middle, HAMMING),
        _has_best_slots(data, "ranking loss ÷ S", right, RANKING),
        _close_to_baseline(data, panels),
        _square_is_better(data, "Hamming loss", middle, HAMMING, expected=True),
        _square_is_better(data, "ranking loss ÷ S", right, RANKING, expected=data != "mediamill"),
    ]


def _improves(data: str, left: Panel) -> Finding:
    """ "The performance is improving over time on both datasets." """
    numbers, holds = [], True
    for method, points in left.items():
        point = points[None]
        marks = point.results[0]["marks"]
        tenth = next(i for i, mark in enumerate(marks) if mark >= marks[-1] // 10)
        early, final = float(point.values("curve")[:, tenth].mean()), point.mean("ac")
        holds &= final < early or method == BASELINE  # OBR's are there to compare with
        numbers.append(f"{method}: {early:.3f} → {final:.3f}")
    text = "performance is improving over time (average ℓ_{a,c} after a tenth → after all rounds)"
    return Finding(text, data, holds, "; ".join(numbers))


def _has_best_slots(data: str, what: str, panel: Panel, key: str) -> Finding:
    """ "There is an optimal value of S that allows to balance exploration and exploitation." """
    means = _means(panel, SQUARE, key)
    best = min(means, key=means.__getitem__)
    shown = ", ".join(f"S={S}: {mean:.4f}" for S, mean in means.items())
    return Finding(
        f"there is an S that balances exploration and exploitation ({what}, square loss)",
        data,
        min(means) < best < max(means),
        f"best at S={best}; {shown}",
    )


def _close_to_baseline(data: str, panels: dict[str, Panel]) -> Finding:
    """ "Always pretty close to the performance of OBR, even if [...] only partial feedback." """
    numbers, worst = [], 0.0
    for name, key, what in (
        ("left", "ac", "ℓ_{a,c}"),
        ("middle", HAMMING, "Hamming"),
        ("right", RANKING, "ranking"),
    ):
        panel = panels[name]
        ratios = [
            point.mean(key) / panel[BASELINE][S].mean(key) for S, point in panel[SQUARE].items()
        ]
        worst = max(worst, *ratios)
        span = f"{min(ratios):.2f}" if len(ratios) == 1 else f"{min(ratios):.2f}–{max(ratios):.2f}"
        numbers.append(f"{what} {span}")
    return Finding(
        "always pretty close to OBR, though feedback is partial (loss ÷ OBR's, at most 1.25)",
        data,
        worst <= 1.25,
        "; ".join(numbers),
    )


def _square_is_better(data: str, what: str, panel: Panel, key: str, *, expected: bool) -> Finding:
    """ "In many experiments the square loss seems to give better results. Exception is [...]" """
    square = _means(panel, SQUARE, key)
    logistic = [_means(panel, method, key) for method in panel if "logistic" in method]
    wins = [S for S, mean in square.items() if mean <= min(other[S] for other in logistic)]
    statement = (
        f"in many experiments the square loss is better ({what}; more than half of the S)"
        if expected
        else f"the exception: logistic is better for {what} (at least half of the S)"
    )
    return Finding(
        statement,
        data,
        (len(wins) > len(square) / 2) == expected,
        f"square is better than every R at {len(wins)} of {len(square)} values of S"
        + (f" ({', '.join(map(str, wins))})" if wins else ""),
    )


def _means(panel: Panel, method: str, key: str) -> dict[int, float]:
    """The means of one line, by S in increasing order."""
    points = panel[method]
    return {S: points[S].mean(key) for S in sorted(S for S in points if S is not None)}
