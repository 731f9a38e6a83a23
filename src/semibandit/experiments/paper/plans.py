"""The paper's section 5 as data: the settings of every run that its figures and tables need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from semibandit.experiments.setting import Setting

__all__ = [
    "BASELINE",
    "FIGURE_WIDTH",
    "METHODS",
    "PRICE_WIDTHS",
    "SLOTS",
    "SQUARE",
    "WIDTHS",
    "FigurePlan",
    "Method",
    "Panel",
    "figure_plan",
    "price_runs",
    "width_runs",
]

Method: TypeAlias = str
Run: TypeAlias = dict[str, Any]  # a setting as JSON
Result: TypeAlias = dict[str, Any]
Panel: TypeAlias = dict[Method, dict[int | None, Result]]  # method -> slots -> its result

METHODS: dict[Method, dict[str, Any]] = {
    "SlateUCB, square": {"loss": "square"},
    "SlateUCB, logistic R=1": {"loss": "logistic:1"},
    "SlateUCB, logistic R=2": {"loss": "logistic:2"},
    "SlateUCB, logistic R=4": {"loss": "logistic:4"},
    "OBR (full information)": {"learner": "OBR", "loss": "square"},
}
SQUARE, BASELINE = "SlateUCB, square", "OBR (full information)"
FIGURE_WIDTH = "scaled:1"
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
PRICE_WIDTHS = ("scaled:0.05", "scaled:0.1", "scaled:0.25", "scaled:0.5", "scaled:1")
SLOTS = 10  # of the runs over widths and of the price of partial feedback


@dataclass(frozen=True)
class FigurePlan:
    """One figure of the paper: its data set, methods and values of S."""

    data: str
    width: str
    methods: Sequence[Method]
    slots: Sequence[int]
    model: str = "full"
    bias: bool = False
    seed: int = 0

    def setting(self, method: Method, cost: str, slots: int | None) -> Run:
        """The setting of one point or curve."""
        base: dict[str, Any] = {"model": self.model, "width": self.width}
        base |= {"bias": self.bias, "seed": self.seed}
        return Setting(self.data, **(base | METHODS[method]), cost=cost, slots=slots).json()

    def runs(self) -> dict[tuple[str, Method, int | None], Run]:
        """The settings by (panel, method, S); the left panel has no limit on the slate."""
        runs: dict[tuple[str, Method, int | None], Run] = {}
        for method in self.methods:
            runs["left", method, None] = self.setting(method, "decreasing", None)
            for S in self.slots:
                runs["middle", method, S] = self.setting(method, "constant", S)
                runs["right", method, S] = self.setting(method, "decreasing", S)
        return runs


def figure_plan(data: str, width: str, seed: int = 0) -> FigurePlan:
    """The plan for Mediamill in full; for other sets with fewer methods and slots, to save time."""
    if data.startswith("mediamill"):
        return FigurePlan(data, width, tuple(METHODS), (1, 2, 5, 10, 20, 50, 101), seed=seed)
    few = (SQUARE, "SlateUCB, logistic R=2", BASELINE)
    model = "diagonal" if data == "delicious" else "full"
    return FigurePlan(data, width, few, (1, 5, 20, 50), model=model, seed=seed)


def width_runs(data: str, seeds: int) -> dict[tuple[str, int], Run]:
    """The settings by (width, seed): the loss against how much is explored."""
    return {
        (width, seed): Setting(data, width=width, slots=SLOTS, seed=seed).json()
        for width in WIDTHS
        for seed in range(seeds)
    }


def price_runs(sets: Sequence[str], seeds: int) -> dict[tuple[str, str, int], Run]:
    """The settings by (data set, player, seed), with a bias and the same for all data sets.

    A player is a width of SlateUCB, or another learner. OBR needs only one seed.
    """
    runs: dict[tuple[str, str, int], Run] = {}
    for data in sets:
        base: dict[str, Any] = {"data": data, "slots": SLOTS, "bias": True}
        for seed in range(seeds):
            for width in PRICE_WIDTHS:
                runs[data, width, seed] = Setting(**base, width=width, seed=seed).json()
            runs[data, "Greedy", seed] = Setting(**base, learner="Greedy", seed=seed).json()
        runs[data, "OBR", 0] = Setting(**base, learner="OBR").json()
    return runs
