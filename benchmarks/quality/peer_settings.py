"""How each peer is played in the synthetic worlds: its grid, the best of it, and its rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SMALL, LARGE = "d = 120, K = 101", "d = 98, K = 632"


@dataclass(frozen=True)
class Played:
    """A peer's learner; its slowest ones play fewer rounds, so that all of it takes minutes."""

    name: str
    script: str
    grid: tuple[dict[str, Any], ...]
    best: dict[str, dict[str, Any]]  # of the grid, as `--grid` found it (or the page says how)
    rounds: dict[str, int]
    rate: dict[str, float]  # rounds a second, about


WIDTHS = tuple({"alpha": alpha} for alpha in (0.25, 0.5, 1.0))
DOUBLE = tuple(width | {"single": False} for width in WIDTHS)  # as fast as single, if not faster

PLAYED = (
    Played(
        "contextualbandits, LinUCB", "contextualbandits_linucb.py", DOUBLE,
        {SMALL: DOUBLE[1], LARGE: DOUBLE[1]},
        {SMALL: 12_000, LARGE: 2_000}, {SMALL: 240, LARGE: 57},
    ),
    Played(
        "MABWiser, LinUCB", "mabwiser_linucb.py", WIDTHS,
        {SMALL: WIDTHS[1], LARGE: WIDTHS[1]},
        {SMALL: 3_000, LARGE: 1_000}, {SMALL: 157, LARGE: 67},
    ),
    Played(
        "river, LinUCBDisjoint", "river_linucb.py",
        tuple({"beta": beta} for beta in (1.0, 4.0, 16.0)),
        {SMALL: {"beta": 4.0}, LARGE: {"beta": 4.0}},
        {SMALL: 3_000, LARGE: 1_000}, {SMALL: 140, LARGE: 32},
    ),
    Played(
        "river, logistic regression", "river_logistic.py",
        tuple({"rate": rate} for rate in (0.01, 0.03, 0.1, 0.3)),
        {SMALL: {"rate": 0.03}, LARGE: {"rate": 0.1}},
        {SMALL: 20_000, LARGE: 12_000}, {SMALL: 1500, LARGE: 240},
    ),
    Played(
        "Vowpal Wabbit, squarecb", "vowpalwabbit_squarecb.py",
        (
            *({"rate": rate} for rate in (0.002, 0.005, 0.02, 0.05)),
            {"rate": 0.02, "drawn": True, "gamma": 1000},
            {"rate": None, "drawn": True, "gamma": 1000},
        ),
        {SMALL: {"rate": 0.005}, LARGE: {"rate": 0.02}},
        {SMALL: 20_000, LARGE: 6_000}, {SMALL: 1300, LARGE: 300},
    ),
    Played(
        "Vowpal Wabbit, ccb", "vowpalwabbit_ccb.py",
        (
            *({"rate": rate, "epsilon": 0.0} for rate in (0.02, 0.05, 0.3)),
            {"rate": 0.05, "epsilon": 0.05},
            {"rate": None, "epsilon": 0.05},
        ),
        {SMALL: {"rate": 0.05, "epsilon": 0.0}, LARGE: {"rate": 0.05, "epsilon": 0.0}},
        {SMALL: 3_000, LARGE: 500}, {SMALL: 160, LARGE: 42},
    ),
    Played(
        "bayesianbandits, Thompson", "bayesianbandits_thompson.py",
        tuple({"alpha": alpha} for alpha in (0.05, 0.1, 0.25)),
        {SMALL: {"alpha": 0.1}, LARGE: {"alpha": 0.1}},
        {SMALL: 3_000, LARGE: 500}, {SMALL: 55, LARGE: 12},
    ),
)  # fmt: skip
