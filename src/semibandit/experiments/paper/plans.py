"""The paper's section 5 as data: the settings of every run that its figures and tables need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from semibandit.experiments.paper.point import Method
from semibandit.experiments.setting import Setting

__all__ = [
    "BASELINE",
    "FIGURE_2",
    "FIGURE_WIDTH",
    "LEFT",
    "METHODS",
    "MIDDLE",
    "PRICE_WIDTHS",
    "RANKING",
    "RIGHT",
    "SLOTS",
    "SQUARE",
    "WIDTHS",
    "FigurePlan",
    "figure_plan",
    "price_runs",
    "width_runs",
]

Run: TypeAlias = dict[str, Any]  # a setting as JSON

FIGURE_2: dict[str, Any] = {  # the learner, to the letter
    "scale": "unit",
    "bias": False,
    "project": "all",
    "probe": 0.0,
    "at_least": 0,
    "forget": None,
}
METHODS: dict[Method, dict[str, Any]] = {
    "SlateUCB, square": {"loss": "square"},
    "SlateUCB, logistic R=1": {"loss": "logistic:1"},
    "SlateUCB, logistic R=2": {"loss": "logistic:2"},
    "SlateUCB, logistic R=4": {"loss": "logistic:4"},
    "OBR (full information)": {"learner": "OBR", "loss": "square"},
}
SQUARE, BASELINE = "SlateUCB, square", "OBR (full information)"
FIGURE_WIDTH = "scaled:0.8"  # the paper does not say; one alpha for all data sets and losses
WIDTHS = (
    "scaled:0",
    "scaled:0.1",
    "scaled:0.25",
    "scaled:0.5",
    FIGURE_WIDTH,
    "scaled:1",
    "scaled:2",
    "known:1",
    "unknown",
)
PRICE_WIDTHS = ("scaled:0.05", "scaled:0.1", "scaled:0.25", "scaled:0.5", "scaled:1")
LEFT, MIDDLE, RIGHT, RANKING = "left", "middle", "right", "ranking"  # the panels of a figure
MOST_FILLED = 20  # slots, in the panel with a = 1
SLOTS = 10  # of the runs over widths and of the price of partial feedback


@dataclass(frozen=True)
class FigurePlan:
    """One figure of the paper: its data set, methods, values of S and orders of the rows.

    Parameters
    ----------
    data : str
        The data set.
    labels : int
        K: an S of K is no limit.
    width : str
        SlateUCB's width, in words, in the same unit for every loss.
    methods : sequence of Method
        The lines of each panel.
    slots : sequence of int
        The values of S, at most K.
    seeds : int
        How many seeds each learner is run with. A seed orders the rows of the data, but 0, which
        leaves them in their own order, and labels that are equal.
    """

    data: str
    labels: int
    width: str
    methods: Sequence[Method]
    slots: Sequence[int]
    seeds: int = 1

    def setting(
        self, method: Method, cost: str, slots: int | None, seed: int = 0, a: float = 0.5
    ) -> Run:
        """The setting of one point or curve."""
        parts = {**FIGURE_2, "width": self.width, **METHODS[method]}
        limit = None if slots == self.labels else slots
        return Setting(self.data, **parts, cost=cost, slots=limit, a=a, seed=seed).json()

    def runs(self) -> dict[tuple[str, Method, int | None, int], Run]:
        """The runs of `replay_point` by (panel, method, S, seed).

        The left panel has no limit on the slate; its curve and the point with S = K on the right
        are one and the same run. With a = 1 all slots are filled, so S stops at `MOST_FILLED`:
        showing all labels in every round would tell a learner everything.
        """
        runs: dict[tuple[str, Method, int | None, int], Run] = {}
        for method in self.methods:
            for seed in range(self.seeds):
                runs[LEFT, method, None, seed] = self.setting(method, "decreasing", None, seed)
                for S in self.slots:
                    runs[MIDDLE, method, S, seed] = self.setting(method, "constant", S, seed)
                    runs[RIGHT, method, S, seed] = self.setting(method, "decreasing", S, seed)
                    if S <= MOST_FILLED:
                        run = self.setting(method, "decreasing", S, seed, a=1.0)
                        runs[RANKING, method, S, seed] = run
        return {name: {**run, "order": name[3]} for name, run in runs.items()}


def figure_plan(data: str, labels: int, width: str, seeds: int = 1) -> FigurePlan:
    """The plan for Mediamill in full; for other sets with fewer methods, to save time."""
    methods: tuple[Method, ...] = (SQUARE, "SlateUCB, logistic R=2", BASELINE)
    slots: tuple[int, ...] = (1, 5, 20)
    if data.startswith("mediamill"):
        methods, slots = tuple(METHODS), (1, 2, 5, 10, 20)
    limits = [limit for limit in slots if limit < labels]
    return FigurePlan(data, labels, width, methods, (*limits, labels), seeds)


def width_runs(data: str, seeds: int) -> dict[tuple[str, int], Run]:
    """The settings by (width, seed): the loss against how much is explored.

    The theorems' widths have one seed, to save time: they stay at their cap.
    """
    return {
        (width, seed): Setting(data, **FIGURE_2, width=width, slots=SLOTS, seed=seed).json()
        for width in WIDTHS
        for seed in range(seeds if width.startswith("scaled") else 1)
    }


def price_runs(sets: Sequence[str], seeds: int) -> dict[tuple[str, str, int], Run]:
    """The settings by (data set, player, seed), with a bias and the same for all data sets.

    A player is a width of SlateUCB, or another learner. OBR needs only one seed.
    """
    runs: dict[tuple[str, str, int], Run] = {}
    for data in sets:
        base: dict[str, Any] = {**FIGURE_2, "data": data, "slots": SLOTS, "bias": True}
        for seed in range(seeds):
            for width in PRICE_WIDTHS:
                runs[data, width, seed] = Setting(**base, width=width, seed=seed).json()
            runs[data, "Greedy", seed] = Setting(**base, learner="Greedy", seed=seed).json()
        runs[data, "OBR", 0] = Setting(**base, learner="OBR").json()
    return runs
