"""Tuning by replay: which alpha, loss, bias and slots give the least loss on the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from semibandit._util.progress import ProgressOption
from semibandit.experiments.setting import Setting, run
from semibandit.experiments.sweep import sweep

__all__ = ["ALPHAS", "LOSSES", "SLOTS", "Tuned", "tune"]

ALPHAS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
LOSSES = ("square", "logistic:1", "logistic:2", "logistic:4")
SLOTS = (1, 2, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Tuned:
    """The best setting, and every one that was tried with its mean loss over seeds."""

    best: Setting
    loss: float
    tried: list[tuple[Setting, float]]

    def curves(self, slots: int | None) -> dict[str, dict[float, float]]:
        """By loss and bias: alpha -> loss, with the slots the search started from."""
        found: dict[str, dict[float, float]] = {}
        for setting, value in self.tried:
            if setting.slots == slots:
                name = f"{setting.loss}{' + bias' if setting.bias else ''}"
                found.setdefault(name, {})[float(setting.width.partition(":")[2])] = value
        return found


def tune(
    start: Setting,
    *,
    alphas: Sequence[float] = ALPHAS,
    losses: Sequence[str] = LOSSES,
    biases: Sequence[bool] = (False, True),
    slots: Sequence[int] = SLOTS,
    seeds: int = 1,
    folder: Path | None = None,
    backend: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    progress: ProgressOption = None,
) -> Tuned:
    """First alpha × loss × bias with the slots of `start`, then the slots of the best of these.

    What is made small is ℓ_{a,c}, which can be compared between slots: it counts what was missed.
    Slots are tried up to those of `start`; where it sets no limit, no limit is among them.
    """
    first = [
        replace(start, width=f"scaled:{alpha:g}", loss=loss, bias=bias)
        for bias in biases
        for loss in losses
        for alpha in alphas
    ]

    def measured(settings: Sequence[Setting]) -> list[tuple[Setting, float]]:
        runs = [replace(s, seed=s.seed + seed).json() for s in settings for seed in range(seeds)]
        found: list[dict[str, Any]] = sweep(
            run,
            runs,
            folder=folder,
            backend=backend,
            address=address,
            jobs=jobs,
            progress=progress,
        )
        losses = [result["ac"] for result in found]
        return [
            (setting, sum(losses[i * seeds : (i + 1) * seeds]) / seeds)
            for i, setting in enumerate(settings)
        ]

    tried = measured(first)
    best = min(tried, key=lambda pair: pair[1])[0]
    limits = [S for S in slots if start.slots is None or start.slots > S]
    tried += measured([replace(best, slots=S) for S in limits])
    best, loss = min(tried, key=lambda pair: pair[1])
    return Tuned(best, loss, tried)
