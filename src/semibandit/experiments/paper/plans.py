"""The paper's section 5 as data: which runs its figures need, and what it says they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from semibandit.experiments.setting import Setting

__all__ = ["Finding", "Method", "Panel", "Plan", "findings", "plan_of", "price_runs", "width_runs"]

Method: TypeAlias = str
Result: TypeAlias = dict[str, Any]
Panel: TypeAlias = dict[Method, dict[int | None, Result]]  # method -> slots -> its result

METHODS: dict[Method, dict[str, str]] = {
    "SlateUCB, square": {"loss": "square"},
    "SlateUCB, logistic R=1": {"loss": "logistic:1"},
    "SlateUCB, logistic R=2": {"loss": "logistic:2"},
    "SlateUCB, logistic R=4": {"loss": "logistic:4"},
    "OBR (full information)": {"learner": "OBR", "loss": "square"},
}
SQUARE, BASELINE = "SlateUCB, square", "OBR (full information)"
WIDTHS = (
    "scaled:0",
    "scaled:0.1",
    "scaled:0.25",
    "scaled:0.5",
    "scaled:1",
    "scaled:2",
    "known:1",
    "unknown",
)


@dataclass(frozen=True)
class Plan:
    """One figure: its data set, methods and values of S; `runs` are its settings."""

    data: str
    width: str
    methods: Sequence[Method]
    slots: Sequence[int]
    model: str = "full"
    bias: bool = False
    seed: int = 0

    def setting(self, method: Method, cost: str, slots: int | None) -> dict[str, Any]:
        base = {"model": self.model, "width": self.width, "bias": self.bias, "seed": self.seed}
        return Setting(self.data, **(base | METHODS[method]), cost=cost, slots=slots).json()  # type: ignore[arg-type]

    def runs(self) -> dict[tuple[str, Method, int | None], dict[str, Any]]:
        """(panel, method, S) -> setting; the left panel has no limit."""
        found: dict[tuple[str, Method, int | None], dict[str, Any]] = {}
        for method in self.methods:
            found["left", method, None] = self.setting(method, "decreasing", None)
            for S in self.slots:
                found["middle", method, S] = self.setting(method, "constant", S)
                found["right", method, S] = self.setting(method, "decreasing", S)
        return found


def plan_of(data: str, width: str, seed: int = 0) -> Plan:
    """Mediamill in full; the sets in Sony's place with fewer values, to keep it short."""
    if data.startswith("mediamill"):
        return Plan(data, width, tuple(METHODS), (1, 2, 5, 10, 20, 50, 101), seed=seed)
    few = (SQUARE, "SlateUCB, logistic R=2", BASELINE)
    model = "diagonal" if data == "delicious" else "full"
    return Plan(data, width, few, (1, 5, 20, 50), model=model, seed=seed)


def width_runs(data: str, seeds: int, slots: int = 10) -> dict[tuple[str, int], dict[str, Any]]:
    """(width, seed) -> setting: the loss against how much is explored."""
    return {
        (width, seed): Setting(data, width=width, slots=slots, seed=seed).json()
        for width in WIDTHS
        for seed in range(seeds)
    }


def price_runs(
    sets: Sequence[str], widths: Sequence[str], seeds: int, slots: int = 10
) -> dict[tuple[str, str, int], dict[str, Any]]:
    """(set, who, seed) -> setting: the same for all sets, with a bias; OBR needs one seed.

    Who is a width of SlateUCB, or another learner.
    """
    found = {}
    for data in sets:
        base = {"data": data, "slots": slots, "bias": True}
        for seed in range(seeds):
            for width in widths:
                found[data, width, seed] = Setting(**base, width=width, seed=seed).json()  # type: ignore[arg-type]
            found[data, "Greedy", seed] = Setting(**base, learner="Greedy", seed=seed).json()  # type: ignore[arg-type]
        found[data, "OBR", 0] = Setting(**base, learner="OBR").json()  # type: ignore[arg-type]
    return found


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, whether it holds in our run, and the numbers."""

    statement: str
    data: str
    holds: bool
    numbers: str


def findings(data: str, panels: dict[str, Panel]) -> list[Finding]:
    """The paper's statements, one by one, against the panels of one data set."""
    left, middle, right = (panels[name] for name in ("left", "middle", "right"))
    partial = [method for method in left if method != BASELINE]
    return [
        *_improves(data, {method: left[method][None] for method in partial}),
        _balances(data, "Hamming loss", middle, "hamming"),
        _balances(data, "ranking loss / S", right, "rank_per_slot"),
        _close(data, panels),
        _square(data, "Hamming loss", middle, "hamming", wanted=True),
        _square(data, "ranking loss / S", right, "rank_per_slot", wanted=data != "mediamill"),
    ]


def _improves(data: str, runs: dict[Method, Result]) -> list[Finding]:
    parts, fine = [], True
    for method, result in runs.items():
        T = result["rounds"]
        early = next(
            value
            for mark, value in zip(result["marks"], result["curve"], strict=True)
            if mark >= T // 10
        )
        fine &= result["ac"] < early
        parts.append(f"{method}: {early:.3f} → {result['ac']:.3f}")
    text = "performance is improving over time (average ℓ_{a,c} after a tenth → after all rounds)"
    return [Finding(text, data, fine, "; ".join(parts))]


def _balances(data: str, what: str, panel: Panel, key: str) -> Finding:
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


def _close(data: str, panels: dict[str, Panel]) -> Finding:
    parts, worst = [], 0.0
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
        parts.append(f"{what} {span}")
    return Finding(
        "always pretty close to OBR, though feedback is partial (loss ÷ OBR's, at most 1.25)",
        data,
        worst <= 1.25,
        "; ".join(parts),
    )


def _square(data: str, what: str, panel: Panel, key: str, *, wanted: bool) -> Finding:
    logistic = [method for method in panel if "logistic" in method]
    wins = [
        panel[SQUARE][S][key] <= min(panel[method][S][key] for method in logistic)
        for S in panel[SQUARE]
    ]
    share = sum(wins) / len(wins)
    statement = (
        f"in many experiments the square loss is better ({what}; more than half of the S)"
        if wanted
        else f"the exception: logistic is better for {what} (at least half of the S)"
    )
    return Finding(
        statement,
        data,
        share > 0.5 if wanted else share <= 0.5,
        f"square is better at {sum(wins)} of {len(wins)} values of S",
    )
