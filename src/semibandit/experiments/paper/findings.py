"""The paper's statements about its experiments, checked against the numbers of a run."""

from __future__ import annotations

from dataclasses import dataclass

from semibandit.experiments.paper.plans import BASELINE, SQUARE, Method, Panel, Result

__all__ = ["Finding", "findings"]


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
    """
    left, middle, right = (panels[name] for name in ("left", "middle", "right"))
    partial = [method for method in left if method != BASELINE]
    return [
        _improves(data, {method: left[method][None] for method in partial}),
        _has_best_slots(data, "Hamming loss", middle, "hamming"),
        _has_best_slots(data, "ranking loss / S", right, "rank_per_slot"),
        _close_to_baseline(data, panels),
        _square_is_better(data, "Hamming loss", middle, "hamming", expected=True),
        _square_is_better(
            data, "ranking loss / S", right, "rank_per_slot", expected=data != "mediamill"
        ),
    ]


def _improves(data: str, runs: dict[Method, Result]) -> Finding:
    numbers, holds = [], True
    for method, result in runs.items():
        T = result["rounds"]
        early = next(
            value
            for mark, value in zip(result["marks"], result["curve"], strict=True)
            if mark >= T // 10
        )
        holds &= result["ac"] < early
        numbers.append(f"{method}: {early:.3f} → {result['ac']:.3f}")
    text = "performance is improving over time (average ℓ_{a,c} after a tenth → after all rounds)"
    return Finding(text, data, holds, "; ".join(numbers))


def _has_best_slots(data: str, what: str, panel: Panel, key: str) -> Finding:
    runs = panel[SQUARE]
    best = min(runs, key=lambda S: float(runs[S][key]))
    values = sorted(S for S in runs if S is not None)
    inside = best not in (values[0], values[-1])
    shown = ", ".join(f"S={S}: {runs[S][key]:.3f}" for S in values)
    return Finding(
        f"there is an S that balances exploration and exploitation ({what}, square loss)",
        data,
        inside,
        f"best at S={best}; {shown}",
    )


def _close_to_baseline(data: str, panels: dict[str, Panel]) -> Finding:
    numbers, worst = [], 0.0
    for name, key, what in (
        ("left", "ac", "ℓ_{a,c}"),
        ("middle", "hamming", "Hamming"),
        ("right", "rank", "ranking"),
    ):
        ratios = [
            panels[name][SQUARE][S][key] / panels[name][BASELINE][S][key]
            for S in panels[name][SQUARE]
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
    logistic = [method for method in panel if "logistic" in method]
    wins = [
        panel[SQUARE][S][key] <= min(panel[method][S][key] for method in logistic)
        for S in panel[SQUARE]
    ]
    share = sum(wins) / len(wins)
    statement = (
        f"in many experiments the square loss is better ({what}; more than half of the S)"
        if expected
        else f"the exception: logistic is better for {what} (at least half of the S)"
    )
    return Finding(
        statement,
        data,
        share > 0.5 if expected else share <= 0.5,
        f"square is better at {sum(wins)} of {len(wins)} values of S",
    )
