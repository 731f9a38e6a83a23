"""The theorems, measured: coverage of the confidence intervals, regret under the bounds, growth."""

import numpy as np
import pytest

import semibandit as sb
from reference import FIGURE_2
from semibandit import bounds
from semibandit.evaluation.bayes import Bayes

D, K = 5, 6


def covered(loss, share, seed, rounds):
    """Play Figure 2 in a world of 2 features: whether all is covered, and the least width."""
    world = sb.Synthetic(2, 2, loss=loss, seed=seed)
    honest = sb.KnownNorm(world.U, delta=0.05)

    def width(norm2, **round_):
        return share * honest(norm2, **round_)

    bandit = sb.SlateUCB(
        2, 2, loss=loss, width=width if share < 1 else honest, a=1.0, seed=seed, **FIGURE_2
    )
    fine, least = True, np.inf
    for t in range(rounds):
        x = world.context(t)
        slate, relevant = bandit.rank(x), world.relevant(t, x)
        off = np.abs(world.margin(x)[slate.labels] - slate.margin)
        fine &= bool(np.all(off <= slate.width + 1e-12))
        least = min(least, slate.width.min())
        bandit.learn(slate, [i for i in slate.labels if i in relevant])
    return fine, least


@pytest.mark.parametrize(
    ("loss", "rounds"),
    [(sb.Square(), 1000), (sb.Logistic(R=1.0), 2500)],
    ids=["square", "logistic"],
)
def test_lemma_7_covers_every_label_and_round_in_95_percent_of_seeds(loss, rounds):
    """In few dimensions, for long enough that the width comes below its cap of 2R."""
    runs = [covered(loss, 1.0, seed, rounds) for seed in range(10)]
    assert np.mean([fine for fine, _ in runs]) >= 0.95
    assert np.mean([least for _, least in runs]) < 0.99 * 2 * loss.R


@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(R=1.0)], ids=repr)
def test_coverage_can_fail(loss):
    """The check above is worth something: a fiftieth of the width covers less than 95%."""
    assert np.mean([covered(loss, 0.02, seed, rounds=300)[0] for seed in range(10)]) < 0.95


@pytest.mark.parametrize("world_of", [sb.Synthetic, sb.Adversarial])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(R=1.0)], ids=repr)
def test_regret_is_under_the_bounds_of_theorems_1_2_and_3(world_of, loss):
    """It is far under them: at such T the bounds allow more than there is to lose."""
    T, S = 250, 3
    for seed in range(3):
        world = world_of(D, K, loss=loss, seed=seed)
        shape = {"T": T, "d": D, "K": K, "U": world.U, "loss": loss}
        known = sb.SlateUCB(D, K, loss=loss, width=sb.KnownNorm(world.U), seed=seed, **FIGURE_2)
        unknown = sb.SlateUCB(D, K, loss=loss, width=sb.UnknownNorm(), seed=seed, **FIGURE_2)
        ranker = sb.SlateUCB(
            D, K, loss=loss, a=1.0, width=sb.KnownNorm(world.U), seed=seed, **FIGURE_2
        )
        first = sb.play(known, world, T, S).regret[-1]
        assert 0 <= first <= bounds.theorem1(**shape, slots=S)
        assert 0 <= sb.play(unknown, world, T, S).regret[-1] <= bounds.theorem2(**shape, slots=S)
        ranking = sb.play(ranker, world, T, S, kind="p_rank").regret[-1]
        assert 0 <= ranking <= bounds.theorem3(**shape, slots=S, printed=True)


GROWTH = 2**0.5


@pytest.mark.parametrize("world_of", [sb.Synthetic, sb.Adversarial])
def test_regret_grows_sublinearly_and_beats_greedy_and_random(world_of):
    """Mean over seeds; growth is regret(2T)/regret(T), near 2 for who has stopped learning."""
    T = 800 if world_of is sb.Adversarial else 2000
    final, growth = {}, {}
    for make in (
        lambda seed: sb.SlateUCB(8, 12, width=sb.Scaled(1.0), seed=seed, **FIGURE_2),
        lambda seed: sb.Greedy(8, 12, seed=seed),
        lambda seed: sb.Random(8, 12, seed=seed),
    ):
        runs = []
        for seed in range(3):
            learner = make(seed)
            runs.append(sb.play(learner, world_of(8, 12, density=0.2, seed=seed), T, 3).regret)
        mean = np.mean(runs, axis=0)
        final[type(learner)] = mean[-1]
        growth[type(learner)] = [mean[T // 2 - 1] / mean[T // 4 - 1], mean[-1] / mean[T // 2 - 1]]
    ours = growth[sb.SlateUCB]
    assert ours[1] <= GROWTH
    assert ours[1] < ours[0] or ours[0] <= GROWTH  # falling, or there already
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
    with pytest.raises(sb.InputError, match="the world has labels 0 to 5"):
        sb.play(sb.SlateUCB(D, K + 1), world, 5)
    with pytest.raises(sb.InputError, match="slots has 2 entries for 5 rounds"):
        sb.play(sb.SlateUCB(D, K), world, 5, [1, 2])


def test_slots_may_change_every_round():
    world = sb.Synthetic(D, K, seed=3)
    slots = [0, 1, 2, 3, None] * 8
    trace = sb.play(sb.SlateUCB(D, K, a=1.0), world, 40, slots).trace
    assert trace.sizes.tolist() == [0, 1, 2, 3, K] * 8
