import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError


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


@pytest.mark.parametrize("correlation", [0.0, 0.5, -0.16])
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


def test_labels_that_exclude_each_other_are_relevant_together_less_often():
    worlds = [sb.Synthetic(5, 4, correlation=rho, seed=3) for rho in (-1 / 3, 0.0, 0.5)]
    x, i, j = worlds[0].context(0), np.array([0, 1]), np.array([2, 3])
    less, independent, more = (world.both(x)(i, j) for world in worlds)
    assert np.all(less < independent)
    assert np.all(independent < more)


def test_the_best_ranking_of_correlated_labels_is_that_of_lemma_2():
    """One correlation for all pairs: what is more probable alone is so together with others."""
    for seed in range(30):
        world = sb.Synthetic(4, 5, correlation=0.9 if seed % 2 else -0.25, seed=seed)
        x = world.context(0)
        best = sb.best_ranking(world.prob(x), 3, both=world.both(x))
        assert best.tolist() == world.best("p_rank", x, slots=3).tolist()


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
        ({"correlation": 1.0}, "correlation = 1.0, but 5 labels can have one from -0.25 to below"),
        ({"correlation": -0.3}, "correlation = -0.3, but 5 labels can have one from -0.25"),
        ({"U": 2.0}, "U = 2.0"),
        ({"U": 0.5, "density": 0.1}, "U or density, not both"),
        ({"U": "1"}, "U = '1'"),
        ({"correlation": "0"}, "correlation = '0'"),
        ({"density": "0.1"}, "density = '0.1', but it must be a finite number"),
        ({"n_features": 1}, "n_features = 1, but it must be a whole number of at least 2"),
        ({"n_features": 5.0}, "n_features = 5.0, but it must be a whole number of at least 2"),
        ({"n_labels": 0}, "n_labels = 0, but it must be a whole number of at least 1"),
        ({"n_labels": "5"}, "n_labels = '5', but it must be a whole number of at least 1"),
        ({"seed": -1}, "seed = -1, but it must be a whole number of at least 0"),
        ({"seed": None}, "seed = None, but it must be a whole number of at least 0"),
        ({"seed": 0.5}, "seed = 0.5, but it must be a whole number of at least 0"),
    ],
)
@pytest.mark.parametrize("world", [sb.Synthetic, sb.Adversarial])
def test_worlds_that_cannot_be_are_refused(world, arguments, message):
    with pytest.raises(InputError, match=message):
        world(**{"n_features": 6, "n_labels": 5} | arguments)


def test_whole_numbers_of_numpy_are_taken():
    one = sb.Synthetic(np.int64(5), np.int32(6), seed=np.uint8(8))
    two = sb.Synthetic(5, 6, seed=8)
    np.testing.assert_array_equal(one.u, two.u)
    assert (type(one.n_features), type(one.seed)) == (int, int)
