"""The paper's runs, as data: every point of its figures has one, and their settings stay."""

import hashlib
import json

from semibandit.experiments.paper import plans
from semibandit.experiments.paper.regret_lab import lab_runs

METHODS = list(plans.METHODS)


def test_a_plan_has_a_run_for_every_point_and_says_who_is_who():
    plan = plans.figure_plan("mediamill", "scaled:0.5")
    runs = plan.runs()
    assert len(runs) == len(METHODS) * (1 + 2 * len(plan.slots))
    square = runs["middle", plans.SQUARE, 10]
    assert (square["cost"], square["slots"], square["width"]) == ("constant", 10, "scaled:0.5")
    assert runs["left", plans.BASELINE, None]["learner"] == "OBR"
    assert runs["right", METHODS[2], 1]["loss"] == "logistic:2"
    assert plans.figure_plan("delicious", "scaled:1").model == "diagonal"


def test_settings_stay_so_that_kept_runs_are_found():
    """The hash is that of version 0.1.0: a folder of runs made by it is not run again."""
    runs = [
        *plans.figure_plan("mediamill", "scaled:1").runs().values(),
        *plans.figure_plan("sony-like", "scaled:1").runs().values(),
        *plans.figure_plan("delicious", "scaled:1").runs().values(),
        *plans.width_runs("mediamill", 3).values(),
        *plans.price_runs(["emotions", "yeast"], 3).values(),
        *lab_runs(1000, 3).values(),
    ]
    text = json.dumps(runs, sort_keys=True)
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "acf8d50165595aac82e8172f74504413b0dc4050a34cf06debcb02f9aecc5db6"
    )
