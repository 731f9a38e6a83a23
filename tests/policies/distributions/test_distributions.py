"""Laws of every distribution: its probabilities are those of all slates, added up."""

from itertools import permutations

import numpy as np
import pytest

from semibandit.errors import FileError
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.read import read_distribution
from semibandit.policies.distributions.uniform import UniformSlates


def plackett_luce(n, length, probing=0.0, deviation=1.0, seed=0):
    scores = np.random.default_rng(seed).normal(size=n) * deviation
    return n, PlackettLuceSlates(dict(zip(names(n), scores.tolist(), strict=True)), length, probing)


def names(n):
    return ["a", 1, "c", 3, "e", 5, "g", 7][:n]


FIXED = FixedSlate([1, "a"], "c", 0.3)
UNIFORM = UniformSlates(5, 3)
CASES = [
    (5, FixedSlate([3, "a", 1])),
    (5, FixedSlate([])),
    (5, FIXED),
    (5, UNIFORM),
    (4, UniformSlates(4, 4)),
    (4, UniformSlates(4, 0)),
    (5, Mixture([(0.9, FIXED), (0.1, UNIFORM)])),
    (5, Mixture([(0.98, Mixture([(0.9, FIXED), (0.1, UNIFORM)])), (0.02, UniformSlates(5, 2))])),
    plackett_luce(5, 2),
    plackett_luce(7, 3, 0.25, 3.0, 1),
    plackett_luce(8, 4, 0.0, 5.0, 2),
    plackett_luce(6, 0, 0.5, 2.0, 3),
    plackett_luce(5, 5, 0.0, 2.0, 4),
    plackett_luce(5, 4, 0.1, 60.0, 5),  # as with a low temperature
    (5, Mixture([(0.7, plackett_luce(5, 2, 0.2, 4.0)[1]), (0.3, UNIFORM)])),
]
IDS = [f"{n}-{type(one).__name__}-{i}" for i, (n, one) in enumerate(CASES)]


@pytest.mark.parametrize(("n", "distribution"), CASES, ids=IDS)
def test_probabilities_are_those_of_all_slates(n, distribution):
    items, most = names(n), min(n, 5)
    slates = [list(s) for k in range(most + 1) for s in permutations(items, k)]
    chance = {tuple(s): distribution.slate_propensity(s) for s in slates}
    assert min(chance.values()) >= 0
    assert sum(chance.values()) == pytest.approx(1.0, abs=1e-9)

    prefix, marginals, lengths = {}, np.zeros((n, most)), np.zeros(most)
    place = {item: i for i, item in enumerate(items)}
    for slate, p in chance.items():
        for k, label in enumerate(slate):
            prefix[slate[: k + 1]] = prefix.get(slate[: k + 1], 0.0) + p
            marginals[place[label], k] += p
            lengths[k] += p
    assert distribution.marginals(items, most) == pytest.approx(marginals, abs=1e-9)
    assert distribution.lengths(most) == pytest.approx(lengths, abs=1e-9)
    for slate in (slates[i] for i in np.linspace(0, len(slates) - 1, 150).astype(int)):
        begins = [prefix[tuple(slate[: k + 1])] for k in range(len(slate))]
        at = [marginals[place[label], k] for k, label in enumerate(slate)]
        assert distribution.prefix_propensity(slate) == pytest.approx(begins, abs=1e-9)
        assert distribution.item_propensity(slate) == pytest.approx(at, abs=1e-9)
        whole = begins[-1] if slate else 1.0
        after = [prefix.get((*slate, item), 0.0) if item not in slate else 0.0 for item in items]
        found = distribution.next_item(slate, items)
        assert found * whole == pytest.approx(after, abs=1e-9)
        assert whole > 0 or not found.any()


@pytest.mark.parametrize(("n", "distribution"), CASES, ids=IDS)
def test_samples_have_these_probabilities(n, distribution):
    items, random, times = names(n), np.random.default_rng(7), 2000
    drawn = np.zeros((n, n))
    for _ in range(times):
        slate = distribution.sample(random, items)
        assert distribution.slate_propensity(slate) > 0
        for k, label in enumerate(slate):
            drawn[items.index(label), k] += 1
    p = distribution.marginals(items, n)
    assert np.all(abs(drawn / times - p) <= 5 * np.sqrt(p * (1 - p + 1e-9) / times) + 3 / times)


@pytest.mark.parametrize(("n", "distribution"), CASES, ids=IDS)
def test_it_comes_back_from_json(n, distribution):
    again = read_distribution(distribution.json())
    assert again == distribution
    assert again.json() == distribution.json()


@pytest.mark.parametrize("given", [
    None, 7, [], "slate", {}, {"slate": 3}, {"slate": ["a"], "probe": "b", "probing": 2},
    {"uniform": [2, 3]}, {"uniform": "many"}, {"mixture": []}, {"mixture": [[0.5, {"slate": []}]]},
    {"mixture": [[1.0, {"slate": 1}]]}, {"plackett_luce": [["a"], [0.0]]},
    {"plackett_luce": [["a", "a"], [0.0, 1.0]], "length": 1},
    {"plackett_luce": [["a", "b"], [0.0]], "length": 1},
    {"plackett_luce": [["a"], [0.0]], "length": 1, "probing": 0.5},
    {"plackett_luce": [["a"], [float("nan")]], "length": 1},
])  # fmt: skip
def test_what_is_no_distribution_is_refused(given):
    with pytest.raises(FileError, match="no distribution of slates"):
        read_distribution(given)


def test_labels_that_may_not_be_shown_have_probability_0():
    for _, one in (plackett_luce(5, 3, 0.2), (5, FIXED)):
        assert one.slate_propensity(["a", "x", "c"]) == 0
        assert one.prefix_propensity(["x", "a"]).tolist() == [0, 0]
        assert one.item_propensity(["x", "x"]).tolist() == [0, 0]
        assert one.next_item(["x"], names(5)).tolist() == [0] * 5
        assert one.marginals(["x"], 2).tolist() == [[0, 0]]
    assert plackett_luce(5, 3)[1].prefix_propensity(["a", "a"])[1] == 0


def test_low_temperatures_lose_no_digits():
    """One label has almost all of the mass: the others are as likely among themselves as before."""
    scores = {"top": 600.0, "a": 1.0, "b": 0.0}
    found = PlackettLuceSlates(scores, 3).prefix_propensity(["top", "b", "a"])
    assert found == pytest.approx([1, 1 / (1 + np.e), 1 / (1 + np.e)], rel=1e-12)
    at = PlackettLuceSlates(scores, 3).item_propensity(["top", "b", "a"])
    assert at == pytest.approx([1, 1 / (1 + np.e), 1 / (1 + np.e)], rel=1e-9)
