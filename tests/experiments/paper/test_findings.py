"""The paper's statements are checked for real: a panel made to break one is found out."""

import copy

import pytest

from semibandit.experiments.paper.findings import findings
from semibandit.experiments.paper.plans import METHODS as ALL_METHODS
from semibandit.experiments.paper.plans import SQUARE

METHODS = list(ALL_METHODS)
SLOTS = (1, 5, 20)


def good_panels():
    """Numbers in which every statement about Mediamill holds."""

    def result(value):
        half = value * 1.5
        return {
            "ac": value,
            "hamming": value,
            "rank": value,
            "rank_per_slot": value,
            "rounds": 1000,
            "marks": [1, 100, 1000],
            "curve": [2 * value, half, value],
        }

    by_slots = {1: 1.3, 5: 1.0, 20: 1.2}
    level = dict(zip(METHODS, (1.1, 1.2, 1.3, 1.4, 1.0), strict=True))
    panels = {"left": {}, "middle": {}, "right": {}}
    for method in METHODS:
        panels["left"][method] = {None: result(level[method])}
        panels["middle"][method] = {S: result(level[method] * f) for S, f in by_slots.items()}
        better = 0.95 if "logistic" in method else 1.0
        panels["right"][method] = {
            S: result((1.1 if "Slate" in method else 1.0) * f * better) for S, f in by_slots.items()
        }
    return panels


def test_all_hold_if_all_is_well():
    found = findings("mediamill", good_panels())
    assert [f.holds for f in found] == [True] * 6
    assert "best at S=5" in found[1].numbers


@pytest.mark.parametrize(
    ("number", "panel", "change"),
    [
        (0, "left", lambda runs, method: runs[None].update(curve=[0.1, 0.1, 0.1])),
        (1, "middle", lambda runs, method: runs[20].update(hamming=0.01)),
        (2, "right", lambda runs, method: runs[1].update(rank_per_slot=0.01)),
        (3, "left", lambda runs, method: runs[None].update(ac=99.0 if "Slate" in method else 1.0)),
        (4, "middle", lambda runs, method: [r.update(hamming=9) for r in runs.values()]),
        (5, "right", lambda runs, method: [r.update(rank_per_slot=0.1) for r in runs.values()]),
    ],
)
def test_each_can_fail(number, panel, change):
    panels = copy.deepcopy(good_panels())
    method = SQUARE
    change(panels[panel][method], method)
    assert not findings("mediamill", panels)[number].holds
