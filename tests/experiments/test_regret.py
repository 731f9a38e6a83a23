"""The theorems, measured: coverage of the confidence intervals, regret under the bounds, growth."""

import numpy as np
import pytest

import semibandit as sb
from semibandit import bounds
from semibandit.experiments.bayes import Bayes

D, K = 5, 6


@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(R=1.0)], ids=repr)
def test_known_norm_covers_every_label_and_round_in_95_percent_of_seeds(loss):
    covered = []
    for seed in range(40):
        world = sb.Synthetic(D, K, loss=loss, seed=seed)
        width = sb.KnownNorm(world.U, delta=0.05)
        bandit = sb.SlateUCB(D, K, loss=loss, width=width, seed=seed)
        covered.append(bool(np.all(sb.play(bandit, world, 120, 3, coverage=True).covered)))
    assert np.mean(covered) >= 0.95


def test_coverage_can_fail():
    """The check above is worth something: with a tenth of an honest width it fails."""
    world = sb.Synthetic(D, K, seed=1)
    bandit = sb.SlateUCB(D, K, width=sb.Scaled(0.05))
    assert not np.all(sb.play(bandit, world, 120, 3, coverage=True).covered)


@pytest.mark.parametrize("world_of", [sb.Synthetic, sb.Adversarial])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(R=1.0)], ids=repr)
def test_regret_is_under_the_bounds_of_all_three_theorems(world_of, loss):
    T, S = 250, 3
    for seed in range(3):
        world = world_of(D, K, loss=loss, seed=seed)
        shape = {"T": T, "d": D, "K": K, "U": world.U, "loss": loss}
        known = sb.SlateUCB(D, K, loss=loss, width=sb.KnownNorm(world.U), seed=seed)
        unknown = sb.SlateUCB(D, K, loss=loss, width=sb.UnknownNorm(), seed=seed)
        ranker = sb.SlateUCB(D, K, loss=loss, a=1.0, width=sb.KnownNorm(world.U), seed=seed)
        first = sb.play(known, world, T, S).regret[-1]
        assert 0 <= first <= bounds.theorem1(**shape, slots=S)
        assert 0 <= sb.play(unknown, world, T, S).regret[-1] <= bounds.theorem2(**shape, slots=S)
        ranking = sb.play(ranker, world, T, S, kind="p_rank").regret[-1]
        assert 0 <= ranking <= bounds.theorem3(**shape, slots=S, printed=True)


GROWTH = 2**0.5


@pytest.mark.parametrize("world_of", [sb.Synthetic, sb.Adversarial])
def test_regret_grows_sublinearly_and_beats_greedy_and_random(world_of):
    """Mean over seeds; growth is regret(2T)/regret(T), near 2 for who has stopped learning."""
    T = 1200 if world_of is sb.Adversarial else 3000
    final, growth = {}, {}
    for make in (
        lambda seed: sb.SlateUCB(8, 12, width=sb.Scaled(1.0), seed=seed),
        lambda seed: sb.Greedy(8, 12, seed=seed),
        lambda seed: sb.Random(8, 12, seed=seed),
    ):
        runs = []
        for seed in range(4):
            learner = make(seed)
            runs.append(sb.play(learner, world_of(8, 12, density=0.2, seed=seed), T, 3).regret)
        mean = np.mean(runs, axis=0)
        final[type(learner)] = mean[-1]
        growth[type(learner)] = [mean[T // 2 - 1] / mean[T // 4 - 1], mean[-1] / mean[T // 2 - 1]]
    ours = growth[sb.SlateUCB]
    assert ours[1] <= GROWTH
    assert ours[1] < ours[0]  # and still falling
    assert growth[sb.Random][1] > 1.9
    assert final[sb.SlateUCB] < 0.7 * final[sb.Greedy]
    assert final[sb.SlateUCB] < 0.3 * final[sb.Random]


def test_bayes_has_no_regret():
    world = sb.Synthetic(D, K, density=0.2, seed=1)
    np.testing.assert_allclose(sb.play(Bayes(world), world, 200, 3).regret, 0, atol=1e-9)


def test_full_information_is_worth_something():
    world = sb.Synthetic(D, K, density=0.2, seed=2)
    told = sb.play(sb.OBR(D, K), world, 800, 3).regret[-1]
    assert told < sb.play(sb.SlateUCB(D, K), world, 800, 3).regret[-1]


def test_play_refuses_what_does_not_fit():
    world = sb.Synthetic(D, K)
    with pytest.raises(ValueError, match="the world has labels 0 to 5"):
        sb.play(sb.SlateUCB(D, K + 1), world, 5)
    with pytest.raises(ValueError, match="slots has 2 entries for 5 rounds"):
        sb.play(sb.SlateUCB(D, K), world, 5, [1, 2])


def test_slots_may_change_every_round():
    world = sb.Synthetic(D, K, seed=3)
    slots = [0, 1, 2, 3, None] * 8
    trace = sb.play(sb.SlateUCB(D, K, a=1.0), world, 40, slots).trace
    assert trace.sizes.tolist() == [0, 1, 2, 3, K] * 8
