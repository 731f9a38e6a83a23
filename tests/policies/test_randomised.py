"""Policies around a learner: exact probabilities, reproducible draws, and learning as before."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError, UnknownLabel
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.mixed import Mixed
from semibandit.policies.plackett_luce import PlackettLuce
from semibandit.policies.randomised import distributions_for, randomised
from semibandit.policies.request import Request

K, D = 6, 3
LEARNERS = {
    "SlateUCB": lambda **more: sb.SlateUCB(D, K, probe=0.4, a=0.6, **more),
    "ranking": lambda **more: sb.SlateUCB(D, K, a=1.0, **more),
    "Greedy": lambda **more: sb.Greedy(D, K, **more),
    "EpsilonGreedy": lambda **more: sb.EpsilonGreedy(D, K, epsilon=0.3, **more),
    "Thompson": lambda **more: sb.Thompson(D, K, probe=0.4, **more),
    "Random": lambda **more: sb.Random(D, K, **more),
    "Confidit": lambda **more: sb.Confidit(D, K, **more),
    "OBR": lambda **more: sb.OBR(D, K, **more),
    "Dual": lambda **more: sb.SlateUCB(D, K, model=sb.Dual(sb.rbf(1.0)), probe=0.4, **more),
}
POLICIES = {
    "mixed": lambda one: Mixed(one, 0.3),
    "plackett-luce": lambda one: PlackettLuce(one, 0.2),
}


def taught(kind, rounds=40, **more):
    """A learner that has learned that labels 0 and 1 are often relevant."""
    learner, random = LEARNERS[kind](**more), np.random.default_rng(3)
    for _ in range(rounds):
        slate = learner.rank(random.normal(size=D), None if learner.one_slot else 3)
        if learner.full_information:
            learner.learn(slate, [0] if random.random() < 0.7 else [1])
        else:
            learner.learn(slate, [one for one in slate.labels if one < 2 and random.random() < 0.7])
    return learner


def all_slates(most, labels=range(K)):
    return [list(s) for k in range(most + 1) for s in permutations(labels, k)]


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_slates_come_as_often_as_they_say(kind, policy):
    """The probabilities add up to 1, and draws (by other draw numbers) have them."""
    one = POLICIES[policy](taught(kind))
    x, slots = np.array([0.3, -1.0, 0.5]), 1 if one.one_slot else 3
    slates = [one.rank(x, slots, draw=draw) for draw in range(600)]
    if kind == "Thompson":  # its own draws are taken as given, and differ from draw to draw
        assert all(slate.slate_propensity > 0 for slate in slates)
        return
    expected = {tuple(s): slates[0].distribution.slate_propensity(s) for s in all_slates(slots)}
    assert sum(expected.values()) == pytest.approx(1.0, abs=1e-9)
    drawn = Counter(tuple(slate.labels) for slate in slates)
    assert all(expected[s] > 0 for s in drawn)
    few = sum(p for p in expected.values() if p < 0.01)
    often = {s: p for s, p in expected.items() if p >= 0.01}
    for s, p in often.items():
        assert abs(drawn[s] / 600 - p) < 4.5 * np.sqrt(p * (1 - p) / 600)
    rest = 1 - sum(drawn[s] for s in often) / 600
    assert abs(rest - few) < 4.5 * np.sqrt(few * (1 - few) / 600) + 1e-3


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", LEARNERS)
def test_rank_many_draws_what_rank_draws(kind, policy):
    one = POLICIES[policy](taught(kind))
    X = np.random.default_rng(1).normal(size=(40, D))
    slots = 1 if one.one_slot else 3
    for more in ({}, {"candidates": [5, 0, 2, 3], "exclude": [3]}):
        many = one.rank_many(X, slots, draw=7, **more)
        for x, slate in zip(X, many, strict=True):
            alone = one.rank(x, slots, draw=7, **more)
            assert (alone.labels, alone.probe) == (slate.labels, slate.probe)
            assert alone.prob == pytest.approx(slate.prob, abs=1e-12)
            assert alone.prefix_propensity == pytest.approx(slate.prefix_propensity, abs=1e-12)
            assert alone.item_propensity == pytest.approx(slate.item_propensity, abs=1e-9)
            assert set(slate.labels) <= set(more.get("candidates", range(K))) - {3} or not more


@pytest.mark.parametrize("kind", [kind for kind in LEARNERS if kind != "Confidit"])
def test_without_draws_it_is_the_learner_itself(kind):
    """Also its probes, which it says how likely they were."""
    learner = taught(kind)
    policy, X = Mixed(learner, 0), np.random.default_rng(2).normal(size=(60, D))
    for x, slate in zip(X, policy.rank_many(X, 4), strict=True):
        own = learner.rank(x, 4)
        assert (own.labels, own.probe, own.t) == (slate.labels, slate.probe, slate.t)
        assert own.x == pytest.approx(slate.x, abs=1e-12)
        assert slate.slate_propensity > 0
    (found,) = distributions_for(learner, [Request(X[0], 4, None, None, 0)])
    assert found == policy.rank(X[0], 4).distribution


@pytest.mark.parametrize("size", [1, 64])
def test_the_probe_is_known_also_if_the_coin_says_no(size):
    """To compiled code, and one by one."""
    learner = sb.SlateUCB(8, 101, a=0.3, probe=0.25, width=sb.Scaled(0.1))
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 8))
    for x in X:
        slate = learner.rank(x, 10)
        learner.learn(slate, [one for one in slate.labels if random.random() < 0.1 * (one < 9)])
    learner.retire_labels([3, 50])
    asked = [Request(x, 10, None, None, i) for i, x in enumerate(X)]
    found = [
        one
        for first in range(0, len(asked), size)
        for one in distributions_for(learner, asked[first : first + size])
    ]
    shown = [learner.rank(x, 10, draw=i) for i, x in enumerate(X)]
    assert sum(slate.probe is not None for slate in shown) > 20
    for slate, one in zip(shown, found, strict=True):
        assert one.probing == 0.25
        assert one.probe is not None
        assert one.probe not in one.slate
        assert list(one.slate) == slate.labels[: len(one.slate)]
        assert slate.probe in (None, one.probe)


def test_propensities_of_the_mix_in_closed_form():
    learner = taught("SlateUCB")
    x = [0.3, -1.0, 0.5]
    policy = Mixed(learner, 0.2)
    own = distributions_for(learner, [Request(np.array(x), 5, None, None, 0)])[0]
    assert isinstance(own, FixedSlate)
    assert own.probing == 0.4
    slates = [policy.rank(x, 5, draw=draw) for draw in range(100)]
    uniform = next(slate for slate in slates if len(slate) == 5)
    probed = next(slate for slate in slates if slate.probe is not None)
    plain = next(slate for slate in slates if slate.labels == list(own.slate))
    k = len(plain)
    u = 1 / np.cumprod(np.arange(K, K - 5, -1.0))
    assert plain.slate_propensity == pytest.approx(0.8 * 0.6)
    assert plain.prefix_propensity == pytest.approx(0.8 + 0.2 * u[:k])
    assert plain.item_propensity == pytest.approx([0.8 + 0.2 / K] * k)
    assert probed.slate_propensity == pytest.approx(0.8 * 0.4)
    assert probed.prefix_propensity[k] == pytest.approx(0.8 * 0.4 + 0.2 * u[k])
    assert probed.item_propensity[k] == pytest.approx(0.8 * 0.4 + 0.2 / K)
    if uniform.labels[:1] != plain.labels[:1]:
        assert uniform.prefix_propensity == pytest.approx(0.2 * u)
    assert uniform.slate_propensity == pytest.approx(0.2 * u[-1])


def test_scores_of_plackett_luce_are_those_of_the_learner():
    learner = taught("SlateUCB")
    x = [0.3, -1.0, 0.5]
    slate = PlackettLuce(learner, 0.2).rank(x, 4, exclude=[2])
    scores = learner.scores(x)
    expected = {i: p / 0.2 for i, p in enumerate(scores.prob.tolist()) if i != 2}
    assert slate.distribution.scores == pytest.approx(expected)
    assert slate.distribution.length == len(learner.rank(x, 4, exclude=[2])) - (
        learner.rank(x, 4, exclude=[2]).probe is not None
    )
    assert slate.distribution.probing == 0.4


def test_targets_of_learners_that_draw():
    x = Request(np.array([0.3, -1.0, 0.5]), 3, None, None, 0)
    (random,) = distributions_for(sb.Random(D, K), [x])
    assert random == UniformSlates(K, 3) == Mixed(sb.Random(D, K), 0).rank(x.given, 3).distribution
    few = Request(x.given, None, [5, 0, 2], [0], 0)
    assert distributions_for(sb.Random(D, K), [few]) == [UniformSlates(2, 2)]
    (greedy,) = distributions_for(taught("EpsilonGreedy"), [x])
    assert greedy.parts[1] == (0.3, UniformSlates(K, len(greedy.parts[0][1].slate)))
    (banditron,) = distributions_for(sb.Banditron(D, K, gamma=0.1), [x])
    assert banditron.parts[1] == (0.1, UniformSlates(K, 1))
    (drawn,) = distributions_for(PlackettLuce(taught("Greedy")), [x])
    assert isinstance(drawn, PlackettLuceSlates)
    (mix,) = distributions_for(Mixed(taught("Greedy")), [x])
    assert isinstance(mix, Mixture)
    assert distributions_for(taught("Greedy"), []) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_draws_follow_from_seed_round_draw_and_context(policy):
    one, x = POLICIES[policy](taught("ranking")), [0.3, -1.0, 0.5]

    def drawn(policy, x):
        return [policy.rank(x, 3, draw=draw).labels for draw in range(40)]

    before = drawn(one, x)
    assert drawn(POLICIES[policy](taught("ranking")), x) == before
    assert drawn(one, [0.3, -1.0, 0.6]) != before
    assert drawn(POLICIES[policy](taught("ranking", seed=5)), x) != before
    one.learn(one.rank(x, 3), [])
    assert drawn(one, x) != before


def test_the_policy_s_coin_is_not_that_of_the_probe():
    """Both coins say yes as often together as independent ones do."""
    learner = sb.SlateUCB(D, K, a=0.3, probe=0.5)
    for _ in range(3):
        learner.learn(learner.shown(np.ones(D), range(K)), [])
    X = np.random.default_rng(4).normal(size=(2000, D))
    own = [slate.probe is not None for slate in learner.rank_many(X, 6)]
    drawn = [len(slate) == 6 for slate in Mixed(learner, 0.5).rank_many(X, 6)]
    assert 0.45 < np.mean(own) < 0.55
    assert abs(np.corrcoef(own, drawn)[0, 1]) < 0.09


@pytest.mark.parametrize("policy", POLICIES)
def test_named_features_labels_that_come_and_go_and_learning(policy):
    features = sb.Features(hour="number", device="category")
    twin, learner = (sb.SlateUCB(features, ["a", "b", "c", "d"], probe=0.5) for _ in range(2))
    one = POLICIES[policy](learner)
    contexts = [{"hour": h, "device": f"phone-{h % 5}"} for h in range(60)]
    for h, context in enumerate(contexts):
        slate = one.rank(context, 2, draw=h)
        assert [slate.labels] == [s.labels for s in one.rank_many([context], 2, draw=h)]
        twin.learn(twin.shown(context, slate.labels, 2), slate.labels[:1])
        one.learn(slate, slate.labels[:1])
        if h == 20:
            for each in (one, twin):
                each.retire_labels(["b"])
                each.add_labels(["e", "f"])
        if h > 20:
            assert "b" not in slate.labels
    assert (one.t, one.n_labels, one.labels) == (61, 5, twin.labels)
    mine, other = (each.scores({"hour": 3.0}) for each in (one, twin))
    assert mine.prob == pytest.approx(other.prob, abs=1e-9)


def test_it_plays_and_replays_as_a_learner_does():
    world = sb.Synthetic(5, 8, seed=1)
    policy = Mixed(sb.SlateUCB(5, 8, width=sb.Scaled(0.5), a=0.8), 0.1)
    played = sb.play(policy, world, rounds=300, slots=3, coverage=True)
    assert policy.t == 301
    assert played.covered.shape == (300,)
    floor = sb.play(Mixed(sb.Random(5, 8), 0.1), world, rounds=300, slots=3)
    assert played.regret[-1] < floor.regret[-1]
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(50, 5)), random.integers(0, 2, size=(50, 8))
    for learner in (sb.SlateUCB(5, 8), sb.OBR(5, 8)):
        trace = sb.replay(PlackettLuce(learner, 0.2), X, Y, slots=3)
        assert learner.t == 51
        assert len(trace.sizes) == 50
    plain = sb.replay(sb.SlateUCB(5, 8), X, Y, slots=3, plain=True)
    same = sb.replay(Mixed(sb.SlateUCB(5, 8), 0), X, Y, slots=3)
    assert np.array_equal(plain.slates, same.slates)


def test_words():
    learner = taught("Greedy")
    for words in ("mixed:0.05", "mixed:0", "plackett-luce:0.1", "plackett-luce:2"):
        assert randomised(words)(learner).words == words
    assert randomised("mixed")(learner).words == "mixed:0.05"
    assert repr(Mixed(learner)).startswith("Mixed(Greedy(")
    for words in ("mix:0.1", "", "mixed:", "mixed:x", "mixed:1.5", "mixed:nan",
                  "plackett-luce:0", "plackett-luce:-1", "plackett-luce:inf"):  # fmt: skip
        with pytest.raises(InputError):
            randomised(words)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="Banditron draws what it shows itself"):
        Mixed(sb.Banditron(D, K))
    with pytest.raises(InputError, match="takes a learner"):
        Mixed(Mixed(sb.Greedy(D, K)))
    with pytest.raises(InputError, match="did you mean 'epsilon'"):
        Mixed(sb.Greedy(D, K), epsilom=0.1)
    with pytest.raises(InputError, match=r"epsilon = 2, but a probability"):
        Mixed(sb.Greedy(D, K), 2)
    policy = Mixed(sb.Greedy(D, K))
    with pytest.raises(AttributeError, match=r"policy.learner.save\(path\)"):
        policy.save("file.npz")
    with pytest.raises(AttributeError, match=r"its learner is \.learner"):
        policy.fast_rule()
    with pytest.raises(InputError, match="context has 2 features"):
        policy.rank([1.0, 2.0])
    with pytest.raises(InputError, match="row 1 of X"):
        policy.rank_many([[1.0, 2.0, 3.0], [1.0]])
    with pytest.raises(UnknownLabel, match="candidates names 9"):
        policy.rank([1.0, 2.0, 3.0], candidates=[9])
    for more in ({"slots": 0}, {"candidates": []}):
        slate = policy.rank([1.0, 2.0, 3.0], **more)
        assert slate.labels == []
        assert slate.slate_propensity == 1
