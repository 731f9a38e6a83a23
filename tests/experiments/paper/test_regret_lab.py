"""The regret lab: what it plays is what `play` plays, its slopes are slopes, no bound is broken."""

import numpy as np
import pytest

import semibandit as sb
from reference import FIGURE_2
from semibandit.experiments.paper import regret_lab
from semibandit.experiments.paper.newton_step import NewtonStep
from semibandit.theory.losses import expected_loss


def found(picture, line, seed=0, rounds=60):
    run = {"picture": picture, "line": line, "seed": seed, "rounds": rounds}
    return regret_lab.play_run(run)


def test_slope_is_the_exponent_of_these_rounds():
    t = np.arange(1.0, 2001.0)
    assert regret_lab.slope(3.0 * t**0.5, 200, 2000) == pytest.approx(0.5)
    assert regret_lab.slope(2.0 * t, 20, 200) == pytest.approx(1.0)
    bent = np.where(t < 200, t, 200 * (t / 200) ** 0.5)
    assert regret_lab.slope(bent, 20, 200) == pytest.approx(1.0, abs=0.01)
    assert regret_lab.slope(bent, 200, 2000) == pytest.approx(0.5)
    assert regret_lab.slope(np.zeros(50), 5, 50) is None


def test_a_game_is_what_play_plays():
    played = found("learners", "Scaled(1)", seed=1)
    world = sb.Synthetic(4, 8, density=0.2, seed=1)
    bandit = sb.SlateUCB(4, 8, width=sb.Scaled(1.0), seed=1, **FIGURE_2)
    regret = sb.play(bandit, world, 60, 3).regret
    assert played["regret"] == regret[np.array(played["marks"]) - 1].tolist()
    assert 0 <= played["covered"] <= 1


def test_the_adversary_chooses_slots_and_maximises_the_loss_that_is_measured():
    played = found("ranking", "Scaled(1), adversary", seed=1, rounds=30)
    world = sb.Adversarial(
        4, 8, density=0.2, seed=1, tries=4, slots=(1, 6), kind="p_rank"
    )  # fmt: skip
    bandit = sb.SlateUCB(4, 8, width=sb.Scaled(1.0), a=1.0, seed=1, **FIGURE_2)
    result = sb.play(bandit, world, 30, 6, kind="p_rank")
    assert played["final"] == result.regret[-1]
    chosen = [world.round(t, bandit)[1] for t in range(30)]
    assert 6 in chosen


@pytest.mark.parametrize("kind", ["ac", "p_rank"])
def test_many_slates_at_once_lose_what_each_loses_alone(kind):
    random = np.random.default_rng(0)
    prob, sizes = random.random((40, 6)), random.integers(0, 5, 40)
    shown = np.argsort(random.random((40, 6)), axis=1)
    learner = sb.SlateUCB(2, 6, a=0.3)
    found = regret_lab.expected_losses(kind, prob, shown, sizes, learner, 5)
    for t in range(40):
        alone = expected_loss(kind, prob[t], shown[t, : sizes[t]], a=0.3, slots=5)
        assert found[t] == pytest.approx(alone)


def test_slopes_of_the_theorems_widths_fall_below_a_half():
    """First everything is shown, at a slope of 1; then it is seen to fall, as the theorem says."""
    played = found("theorems", "KnownNorm(U), Theorem 1", rounds=100)
    assert played["marks"][-1] == 60_000
    marks, regret = np.array(played["marks"]), np.array(played["regret"])
    early = (marks >= 500) & (marks <= 5_000)
    slope = np.polyfit(np.log(marks[early]), np.log(regret[early]), 1)[0]
    late = marks >= 40_000
    end = np.polyfit(np.log(marks[late]), np.log(regret[late]), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.05)
    assert end < 0.5


def test_matrices_of_gradients_grow_less():
    """At an estimate of 1 the gradient of the square loss is 0: nothing is added."""
    settings = {"width": sb.Scaled(1.0), "cost": lambda i, s: 1.0, **FIGURE_2}
    plain, gradients = sb.SlateUCB(2, 1, **settings), NewtonStep(2, 1, **settings)
    x, widths = np.array([0.6, 0.8]), []
    for bandit in (plain, gradients):
        for _ in range(200):
            bandit.learn(bandit.rank(x), [0])
        widths.append(bandit.scores(x).width[0])
        assert bandit.scores(x).margin[0] == pytest.approx(1.0, abs=0.02)
    assert widths[0] == pytest.approx(1 / np.sqrt(201))
    assert widths[1] > 5 * widths[0]


def test_the_theorems_bounds_hold_and_their_widths_cover():
    for picture, lines in regret_lab.PICTURES.items():
        for line, about in lines.items():
            if "bound" not in about:
                continue
            played = found(picture, line, rounds=10)
            assert all(r <= b for r, b in zip(played["regret"], played["bound"], strict=True))
            assert played["covered"] in (None, 1.0)


def test_no_bound_is_broken_in_worlds_drawn_at_random():
    """`python -m benchmarks.regret` plays 200 of them, for longer."""
    games = [regret_lab.play_random_game({"seed": seed, "rounds": 60}) for seed in range(15)]
    assert sum(game["broken"] for game in games) == 0
    assert {game["theorem"] for game in games} == {"theorem1", "theorem2", "theorem3"}
    assert {game["adversary"] for game in games} == {False, True}
    assert max(game["closest"] for game in games) > 0.25  # bounds that mean something
