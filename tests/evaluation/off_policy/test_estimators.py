"""Expectations over all slates of a log, computed exactly, and each term the slow way."""

from itertools import permutations

import numpy as np
import pytest
from slate_worlds import ListedSlates, World

from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.estimators import ESTIMATORS, model_terms, weighted_terms
from semibandit.evaluation.off_policy.probabilities import read_distributions
from semibandit.evaluation.off_policy.pseudo_inverse import pseudo_inverse_weights
from semibandit.evaluation.off_policy.reward_model import Predictions
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.weights import logged_propensities, weights
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

ITEMS = ["a", "b", "c", "d"]
SLATES = [list(s) for n in range(4) for s in permutations(ITEMS, n)]


def chunk_of(slates, log, items, positions=1, candidates=None):
    visits = [
        LoggedVisit(
            Request(np.empty(0), len(s), candidates, None, 0), list(s),
            np.zeros(len(s), dtype=bool), None, None, None, log, "",
        )
        for s in slates
    ]  # fmt: skip
    return Chunk.of(visits, items, Codes(), positions)


def random_predictions(chunk, random):
    """A model that knows nothing, so that only exact expectations of it keep estimates right."""
    size = (len(chunk.codes), 2)
    x = random.normal(size=(len(chunk.visits), 2))
    return Predictions(chunk, x, random.normal(size=size), random.random(chunk.positions) + 0.5)


def expectations(world, clicks):
    """The exact expectation of each linear estimator, if rewards are their expectations."""
    random = np.random.default_rng(1)
    labels = [world.names(s) for s in world.slates]
    mean = {}
    for c in range(world.contexts):
        chunk = chunk_of(labels, world.log[c], world.items)
        e = read_distributions([world.target[c]] * len(labels), chunk.codes, world.items)
        b = read_distributions([world.log[c]] * len(labels), chunk.codes)
        w = weights(chunk, e, logged_propensities(chunk))
        w_pi, _ = pseudo_inverse_weights(chunk, b, e)
        rewards = world.expected_clicks(clicks)[c]
        q = random_predictions(chunk, random)
        q.x[:] = q.x[0]  # one context
        terms = weighted_terms(rewards, w, w_pi) | model_terms(chunk, rewards, w, e, q)
        chances = world.by_slate(world.log)[c]
        for name, values in terms.items():
            mean[name] = mean.get(name, 0.0) + chances @ values / world.contexts
    return {one.name: float(one.value(mean)) for one in ESTIMATORS}


def test_exact_expectations_if_positions_do_not_interact():
    world = World(n=6, seed=5)
    found, truth = expectations(world, "independent"), world.value(world.target, "independent")
    for name in found.keys() - {"DM"}:
        assert found[name] == pytest.approx(truth, rel=1e-10), name


def test_exact_expectations_if_clicks_are_a_cascade():
    world = World(n=6, seed=5)
    found, truth = expectations(world, "cascade"), world.value(world.target, "cascade")
    for name in ("IPS", "SNIPS", "RIPS", "snRIPS", "DR", "Cascade-DR"):
        assert found[name] == pytest.approx(truth, rel=1e-10), name
    for name in ("IIPS", "snIIPS", "IIPS-DR"):
        assert found[name] > 1.07 * truth, name
    assert abs(found["PI"] / truth - 1) > 0.005


TARGETS = [
    FixedSlate(["a", "b"]),
    FixedSlate(["c"], "a", 0.25),
    UniformSlates(4, 2),
    Mixture([(0.6, FixedSlate(["b", "a", "d"])), (0.4, UniformSlates(4, 3))]),
    ListedSlates({("a", "b"): 0.5, ("c",): 0.25, (): 0.25}),
]


@pytest.mark.parametrize("target", TARGETS)
def test_slates_of_all_lengths(target):
    """A log that shows anything, a reward that depends on all labels above, a wrong model."""
    random = np.random.default_rng(2)
    table = dict(zip(map(tuple, SLATES), random.dirichlet(np.ones(len(SLATES))), strict=True))
    log = ListedSlates(table)
    reward_of = {s: random.random() for s in map(tuple, SLATES)}  # of the last label
    chunk = chunk_of(SLATES, log, ITEMS, 3)
    rewards = np.zeros((len(SLATES), 3))
    for row, slate in enumerate(SLATES):
        for k in range(len(slate)):
            rewards[row, k] = reward_of[tuple(slate[: k + 1])]
    e = read_distributions([target] * len(SLATES), chunk.codes, ITEMS)
    w = weights(chunk, e, logged_propensities(chunk))
    q = random_predictions(chunk, random)
    q.x[:] = q.x[0]
    terms = weighted_terms(rewards, w, np.zeros(len(SLATES)))
    terms |= model_terms(chunk, rewards, w, e, q)
    chances = np.array(list(table.values()))
    mean = {name: chances @ values for name, values in terms.items()}
    truth = sum(
        target.slate_propensity(slate) * rewards[row].sum() for row, slate in enumerate(SLATES)
    )
    for one in ESTIMATORS:
        if one.weights in ("slate", "prefix"):
            assert one.value(mean) == pytest.approx(truth, rel=1e-10), one.name


@pytest.mark.parametrize("target", TARGETS)
def test_terms_the_slow_way(target):
    random = np.random.default_rng(4)
    log = Mixture([(0.5, FixedSlate(["a", "b", "c"])), (0.5, UniformSlates(4, 3))])
    slates = [s for s in SLATES if len(s) == 3]
    chunk = chunk_of(slates, log, ["z", *ITEMS], 4, candidates=ITEMS)
    rewards = random.random(chunk.shown.shape) * chunk.present
    e = read_distributions([target] * len(slates), chunk.codes)
    w = weights(chunk, e, logged_propensities(chunk))
    q = random_predictions(chunk, random)
    terms = model_terms(chunk, rewards, w, e, q)
    marginals = target.marginals(ITEMS, 4)
    for row, slate in enumerate(slates):
        of = {label: q.weights[chunk.codes.of[label]] @ q.x[row] for label in ITEMS}
        table = np.array([of[label] for label in ITEMS])
        direct = sum(table @ marginals[:, k] * q.factor[k] for k in range(4))
        item = prefix = direct
        slate_w = target.slate_propensity(slate) / log.slate_propensity(slate)
        rest = [rewards[row, k] - of[slate[k]] * q.factor[k] for k in range(3)]
        item_w = target.item_propensity(slate) / log.item_propensity(slate)
        prefix_w = target.prefix_propensity(slate) / log.prefix_propensity(slate)
        item = direct + item_w @ rest
        before = [1.0, *prefix_w]
        prefix = prefix_w @ rest + sum(
            before[k] * q.factor[k] * (target.next_item(slate[:k], ITEMS) @ table) for k in range(4)
        )
        assert terms["dm"][row] == pytest.approx(direct)
        assert terms["dr"][row] == pytest.approx(direct + slate_w * sum(rest))
        assert terms["item dr"][row] == pytest.approx(item)
        assert terms["prefix dr"][row] == pytest.approx(prefix)
