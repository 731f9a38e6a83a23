"""Over many logs the estimators are right on average under the click models that they claim."""

import numpy as np
import pytest
from slate_worlds import World

from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.estimators import ESTIMATORS
from semibandit.evaluation.off_policy.reward import read_reward

LOGS, VISITS = 400, 150
ALWAYS = ["IPS", "DR"]
CASCADE = [*ALWAYS, "RIPS", "Cascade-DR"]
INDEPENDENT = [*CASCADE, "IIPS", "IIPS-DR", "PI"]
CONSISTENT = ["SNIPS", "snRIPS"]  # biased in small logs, so they are judged in all visits together


def estimates(reward, clicks, wrong_model=False):
    """The world, each estimator's values in the logs, whose visits come in turns, and in all."""
    world, random = World(), np.random.default_rng(3)
    groups = [f"log {i % LOGS}" for i in range(LOGS * VISITS)]
    visits, targets = world.visits(random, LOGS * VISITS, clicks, groups)
    sums = Accumulator(read_reward(reward))
    for start in range(0, len(visits), 4096):
        part = slice(start, start + 4096)
        sums.add(visits[part], targets[part], world.items)
        if wrong_model and sums.model.w is not None:
            sums.model.w = sums.model.w[::-1] * 3.0  # other labels' rates, and three times as high
    cells = {name: values[:LOGS] for name, values in sums.sums.sums.items()}
    totals = sums.sums.total()
    return (
        world,
        {one.name: one.value(cells) for one in ESTIMATORS},
        {one.name: float(one.value(totals)) for one in ESTIMATORS},
    )


def deviation(values, truth):
    """How many standard errors the mean is away from the truth."""
    return (values.mean() - truth) / (values.std(ddof=1) / np.sqrt(len(values)))


def test_unbiased_if_clicks_depend_on_label_and_position():
    world, found, in_all = estimates("clicks", "independent")
    truth = world.value(world.target, "independent")
    assert truth > 1.1 * world.value(world.log, "independent")  # so that there is much to correct
    for name in INDEPENDENT:
        assert abs(deviation(found[name], truth)) < 3, name
    for name in (*CONSISTENT, "snIIPS", "DM"):
        assert in_all[name] == pytest.approx(truth, rel=0.02), name
    # the less of the slate a weight is of, the less it varies; a model helps
    spread = {name: values.std() for name, values in found.items()}
    assert spread["IPS"] > spread["RIPS"] > spread["IIPS"] > spread["IIPS-DR"]
    assert spread["IPS"] > spread["DR"]
    assert spread["RIPS"] > spread["Cascade-DR"]


def test_cascade_clicks_mislead_estimators_that_look_at_positions_alone():
    world, found, in_all = estimates("clicks", "cascade")
    truth = world.value(world.target, "cascade")
    for name in CASCADE:
        assert abs(deviation(found[name], truth)) < 3, name
    for name in CONSISTENT:
        assert in_all[name] == pytest.approx(truth, rel=0.02), name
    for name in ("IIPS", "snIIPS", "IIPS-DR"):
        assert deviation(found[name], truth) > 3, name
        assert found[name].mean() > 1.05 * truth, name


@pytest.mark.parametrize("reward", ["any", "dcg"])
def test_other_rewards(reward):
    world, found, _ = estimates(reward, "independent")
    p = world.expected_clicks("independent")
    if reward == "any":  # the first click: p_k times the chance of none above
        none = np.cumprod(1 - p, axis=2)
        before = np.concatenate([np.ones_like(p[:, :, :1]), none[:, :, :-1]], axis=2)
        truth = world.value(world.target, "independent", before)
    else:
        truth = world.value(world.target, "independent", 1 / np.log2(np.arange(2, 5)))
    for name in CASCADE if reward == "any" else INDEPENDENT:
        assert abs(deviation(found[name], truth)) < 3, name


def test_doubly_robust_with_a_wrong_model():
    world, found, _ = estimates("clicks", "independent", wrong_model=True)
    truth = world.value(world.target, "independent")
    assert found["DM"].mean() > 1.5 * truth
    for name in ("DR", "IIPS-DR", "Cascade-DR"):
        assert abs(deviation(found[name], truth)) < 3, name
