"""The paper's statements are checked for real: a panel made to break one is found out."""

import copy

import pytest

from semibandit.experiments.paper import plans as paper

METHODS = list(paper.METHODS)
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


def test_all_hold_where_all_is_well():
    found = paper.findings("mediamill", good_panels())
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
    method = paper.SQUARE
    change(panels[panel][method], method)
    assert not paper.findings("mediamill", panels)[number].holds


def test_a_plan_has_a_run_for_every_point_and_says_who_is_who():
    plan = paper.plan_of("mediamill", "scaled:0.5")
    runs = plan.runs()
    assert len(runs) == len(METHODS) * (1 + 2 * len(plan.slots))
    square = runs["middle", paper.SQUARE, 10]
    assert (square["cost"], square["slots"], square["width"]) == ("constant", 10, "scaled:0.5")
    assert runs["left", paper.BASELINE, None]["learner"] == "OBR"
    assert runs["right", METHODS[2], 1]["loss"] == "logistic:2"
    assert paper.plan_of("delicious", "scaled:1").model == "diagonal"
