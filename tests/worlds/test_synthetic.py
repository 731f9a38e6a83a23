import numpy as np
import pytest
from scipy import stats

import semibandit as sb
from semibandit.worlds import copula


def worlds():
    for loss in (sb.Square(), sb.Logistic(R=3.0)):
        yield sb.Synthetic(12, 9, loss=loss, seed=2)
        yield sb.Synthetic(12, 9, loss=loss, density=0.15, correlation=0.4, seed=2)


@pytest.mark.parametrize("world", list(worlds()), ids=lambda w: f"{w.loss!r}-{w.density}")
def test_margins_stay_in_D_and_contexts_on_the_sphere(world):
    for t in range(300):
        x = world.context(t)
        assert np.linalg.norm(x) == pytest.approx(1)
        assert np.all(np.abs(world.u @ x) <= world.loss.R + 1e-12)
    assert pytest.approx(np.linalg.norm(world.u, axis=1).max()) == world.U


@pytest.mark.parametrize("density", [0.01, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(R=6.0)], ids=repr)
def test_the_density_is_what_was_asked_for(density, loss):
    world = sb.Synthetic(40, 50, loss=loss, density=density, seed=4)
    rounds = range(3000)
    p = np.array([world.prob(world.context(t)) for t in rounds])
    assert p.mean() == pytest.approx(density, rel=0.05)
    y = np.mean([len(world.relevant(t, world.context(t))) / 50 for t in rounds])
    assert y == pytest.approx(density, rel=0.08)
    assert p.max() > 0.5  # and yet there is something to show


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_a_copula_keeps_the_marginals_and_makes_pairs_as_said(correlation):
    p = np.array([0.02, 0.3, 0.5, 0.5, 0.8, 0.0, 1.0])
    random = np.random.default_rng(0)
    y = np.array([copula.draw(random, p, correlation) for _ in range(40_000)])
    np.testing.assert_allclose(y.mean(axis=0), p, atol=0.01)
    i, j = np.triu_indices(len(p), k=1)
    np.testing.assert_allclose(
        (y[:, i] & y[:, j]).mean(axis=0), copula.both(p[i], p[j], correlation), atol=0.01
    )


def test_pair_probabilities_are_the_bivariate_normal_integral():
    random = np.random.default_rng(1)
    for p, q, rho in random.uniform(0.001, 0.999, size=(60, 3)):
        normal = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        exact = normal.cdf([stats.norm.ppf(p), stats.norm.ppf(q)])
        assert copula.both(np.array([p]), np.array([q]), rho)[0] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["ac", "hamming", "rank", "p_rank"])
def test_expected_losses_are_the_mean_of_sampled_ones(kind, correlation):
    world = sb.Synthetic(6, 7, correlation=correlation, seed=1)
    x, shown = world.context(0), np.array([3, 1, 5])
    n = 20_000
    losses = {
        "ac": lambda Y: sb.loss_ac(Y, [3, 1, 5], 0.3),
        "hamming": lambda Y: sb.hamming(Y, [3, 1, 5]),
        "rank": lambda Y: sb.loss_rank(Y, [3, 1, 5], 7),
        "p_rank": lambda Y: sb.loss_p_rank(Y, [3, 1, 5], 4),
    }
    sampled = np.array([losses[kind](set(world.relevant(t, x).tolist())) for t in range(n)])
    exact = world.expected(kind, x, shown, a=0.3, slots=4)
    assert exact == pytest.approx(sampled.mean(), abs=4.5 * sampled.std() / np.sqrt(n))


def test_no_slate_beats_the_best_one():
    world = sb.Synthetic(5, 6, seed=3)
    random = np.random.default_rng(0)
    for t in range(200):
        x, slots = world.context(t), int(random.integers(0, 7))
        other = random.permutation(6)[: random.integers(0, slots + 1)]
        for kind in ("ac", "hamming", "p_rank"):
            best = world.best(kind, x, a=0.4, slots=slots)
            assert len(best) <= slots
            assert (
                world.expected(kind, x, best, a=0.4, slots=slots)
                <= world.expected(kind, x, other, a=0.4, slots=slots) + 1e-12
            )


def test_rounds_do_not_depend_on_who_asks_and_when():
    one, two = (sb.Synthetic(5, 6, density=0.2, correlation=0.3, seed=8) for _ in range(2))
    forward = [(one.context(t), one.relevant(t, one.context(t))) for t in range(20)]
    for t in reversed(range(20)):
        np.testing.assert_array_equal(two.context(t), forward[t][0])
        np.testing.assert_array_equal(two.relevant(t, two.context(t)), forward[t][1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"density": 0.0}, r"density = 0.0, but Square\(\) gives probabilities in \(0, 1\)"),
        ({"density": 0.01, "loss": sb.Logistic(2.0)}, r"gives probabilities in \(0\.119, 0\.881\)"),
        ({"density": 0.97}, "more than this world can reach"),
        ({"correlation": 1.0}, "correlation = 1.0"),
        ({"U": 2.0}, "U = 2.0"),
        ({"U": 0.5, "density": 0.1}, "U or density, not both"),
        ({"n_features": 1}, "too small"),
    ],
)
def test_worlds_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.Synthetic(**{"n_features": 6, "n_labels": 5} | arguments)


def test_the_adversary_picks_the_worst_it_could_find():
    world = sb.Adversarial(5, 6, tries=6, slots=[1, 2, 4], seed=1)
    bandit = sb.SlateUCB(5, 6, seed=1)
    for t in range(30):
        x, slots = world.round(t, bandit)
        worst = max(
            world.regret(bandit, world.context(t, k), s) for k in range(6) for s in (1, 2, 4)
        )
        assert world.regret(bandit, x, slots) == worst
        slate = bandit.rank(x, slots)
        bandit.learn(slate, [i for i in slate.labels if i in world.relevant(t, x)])
    with pytest.raises(ValueError, match="tries = 0"):
        sb.Adversarial(5, 6, tries=0)
