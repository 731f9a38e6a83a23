"""The paper's runs, as data: every point of its figures has one, and their settings stay."""

import hashlib
import json

import pytest

from semibandit.experiments.paper import plans
from semibandit.experiments.paper.regret_lab import lab_runs

METHODS = list(plans.METHODS)


def test_a_plan_has_a_run_for_every_point_and_order():
    plan = plans.figure_plan("mediamill", 101, "scaled:0.5", seeds=3)
    runs = plan.runs()
    assert plan.slots == (1, 2, 5, 10, 20, 101)
    assert len(runs) == 3 * len(METHODS) * (1 + 2 * 6 + 5)  # with a = 1 up to 20 slots
    square = runs["middle", plans.SQUARE, 10, 2]
    assert (square["cost"], square["slots"], square["width"]) == ("constant", 10, "scaled:0.5")
    assert (square["seed"], square["order"], square["a"]) == (2, 2, 0.5)
    assert runs["left", plans.BASELINE, None, 1]["learner"] == "OBR"
    assert runs["right", METHODS[2], 1, 0]["loss"] == "logistic:2"
    assert runs["ranking", plans.BASELINE, 20, 0]["a"] == 1.0
    assert ("ranking", plans.SQUARE, 101, 0) not in runs


@pytest.mark.parametrize(("labels", "slots"), [(632, (1, 5, 20, 632)), (9, (1, 5, 9))])
def test_the_last_S_is_no_limit_and_no_run_is_made_twice(labels, slots):
    plan = plans.figure_plan("tags-world", labels, "scaled:1")
    assert plan.slots == slots
    runs = plan.runs()
    assert runs["right", plans.SQUARE, labels, 0] == runs["left", plans.SQUARE, None, 0]
    assert runs["middle", plans.SQUARE, labels, 0]["slots"] is None


def test_every_learner_is_figure_2s():
    """But for the bias in the prices, and what a run is about: its loss, width, cost and slots."""
    runs = [
        *plans.figure_plan("mediamill", 101, "scaled:1", 2).runs().values(),
        *plans.width_runs("mediamill", 2).values(),
    ]
    for name, value in plans.FIGURE_2.items():
        assert {run[name] for run in runs} == {value}
    for run in plans.price_runs(["yeast"], 1).values():
        assert {name: run[name] for name in plans.FIGURE_2} == {**plans.FIGURE_2, "bias": True}


def test_widths_have_a_run_of_each_seed_but_the_theorems_have_one():
    runs = plans.width_runs("mediamill", 3)
    assert {width for width, _ in runs} == {*plans.WIDTHS}
    for width in plans.WIDTHS:
        seeds = [seed for one, seed in runs if one == width]
        assert seeds == ([0] if width in ("known:1", "unknown") else [0, 1, 2])


def test_settings_stay_so_that_kept_runs_are_found():
    """A folder of runs is not run again by a later version, unless settings really changed."""
    runs = [
        *plans.price_runs(["emotions", "yeast"], 3).values(),
        *lab_runs(1000, 3).values(),
    ]
    text = json.dumps(runs, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "41263ea9d8a5b7755bb6eb01cca081c9f8dcd43e5e778527d0d2f22c90850a3d"
    )
