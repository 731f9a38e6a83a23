"""The numbers of `semibandit reproduce`, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from semibandit.experiments.paper.findings import Finding
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.point import Panel

__all__ = ["Results", "geometric_mean"]


@dataclass
class Results:
    """Every number of a report.

    Attributes
    ----------
    options : ReproduceOptions
        What was run.
    panels : dict
        Data set -> "left", "middle", "right" or "ranking" -> method -> S -> point; S is None on
        the left.
    bayes : dict
        Data set -> S -> the losses of Bayes by their keys, if its truth is known.
    findings : list of Finding
        The paper's statements, checked.
    widths : dict
        Width -> the loss of each seed, on the data set `width_data`.
    width_baseline : float
        OBR's loss on the same data set with the same slots.
    losses : dict
        Data set -> player -> the loss of each seed; a player is a width of SlateUCB, or a learner.
    regret_lab : dict
        Picture -> line -> regret, slopes and bounds.
    data : dict
        Data set -> its size, source and checksum.
    seconds : dict
        Part -> how long it took.
    notes : list of str
        What a reader must know, such as a data set that was replaced.
    machine : dict
        What the numbers were computed on and with.
    """

    options: ReproduceOptions
    panels: dict[str, dict[str, Panel]] = field(default_factory=dict)
    bayes: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    widths: dict[str, list[float]] = field(default_factory=dict)
    width_data: str = ""
    width_baseline: float = 0.0
    losses: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    regret_lab: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=dict)

    @property
    def prices(self) -> dict[str, dict[str, float]]:
        """Data set -> player -> its mean loss divided by OBR's: the price of partial feedback."""
        return {
            data: {
                player: sum(values) / len(values) / losses["OBR"][0]
                for player, values in losses.items()
                if player != "OBR"
            }
            for data, losses in self.losses.items()
        }

    @property
    def orders(self) -> dict[str, int]:
        """Data set -> in how many orders its rows were played."""
        return {
            data: len(next(iter(panels["left"].values()))[None].results)
            for data, panels in self.panels.items()
        }

    def mean_prices(self, *, weighted: bool) -> dict[str, float]:
        """Player -> the geometric mean of its prices, weighted by the data sets' rounds or not."""
        prices = self.prices
        weights = {data: self.data[data]["rows"] if weighted else 1.0 for data in prices}
        players = next(iter(prices.values()))
        return {
            player: geometric_mean({data: row[player] for data, row in prices.items()}, weights)
            for player in players
        }

    def json(self) -> dict[str, Any]:
        """Every number, with the keys that results.json has had from the start.

        A point of a panel is the list of its results, one of each seed.
        """
        content = asdict(self)
        content["wanted"] = content.pop("options")
        content["width_of"] = content.pop("width_data")
        content["lab"] = content.pop("regret_lab")
        content["panels"] = {
            data: {
                panel: {
                    method: {
                        "none" if S is None else str(S): point.results
                        for S, point in points.items()
                    }
                    for method, points in methods.items()
                }
                for panel, methods in panels.items()
            }
            for data, panels in self.panels.items()
        }
        content["prices"] = self.prices
        content["price overall"] = {
            "sets": self.mean_prices(weighted=False),
            "rounds": self.mean_prices(weighted=True),
        }
        content["command"] = self.options.command
        return content


def geometric_mean(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """exp(Σ w log v / Σ w): the weighted geometric mean.

    >>> round(geometric_mean({"a": 1.0, "b": 8.0}, {"a": 1.0, "b": 2.0}), 12)
    4.0
    """
    total = sum(weights.values())
    return math.exp(sum(weights[name] * math.log(v) for name, v in values.items()) / total)
