"""Labels come and go; what was learned about the others stays."""

import numpy as np
import pytest
from learners import ALL, D, contexts, drive

import semibandit as sb


@pytest.mark.parametrize("make", ALL)
def test_labels_come_and_go_without_touching_the_others(make):
    learner = make(list("abcdef"))
    drive(learner, 30)
    x = np.ones(D)
    before = dict(zip(learner.labels, learner.scores(x).margin.tolist(), strict=True))
    assert learner.add_labels(["g", "h"]) == ["g", "h"]
    learner.retire_labels(["b", "d"])
    assert learner.add_labels(["i"]) == ["i"]  # takes the place of b
    assert sorted(learner.labels) == sorted("acefghi")
    assert learner.n_labels == 7
    after = dict(zip(learner.labels, learner.scores(x).margin.tolist(), strict=True))
    for name in "acef":
        assert after[name] == pytest.approx(before[name], abs=1e-15)
    for name in "ghi":
        assert after[name] == 0
    for z in contexts(40, seed=3):
        assert set(learner.rank(z).labels) <= set("acefghi")
    with pytest.raises(ValueError, match="names 'b', which is not a label"):
        learner.rank(x, candidates=["b"])
    with pytest.raises(ValueError, match="'g' is there already"):
        learner.add_labels(["g"])
    with pytest.raises(ValueError, match="names its labels"):
        learner.add_labels(2)
    drive(learner, 30, first=30)


def test_feedback_for_a_label_retired_meanwhile_is_passed_over():
    bandit = sb.SlateUCB(D, list("abc"), a=1.0)
    slate = bandit.rank(np.ones(D))
    bandit.retire_labels(["b"])
    bandit.add_labels(["z"])  # has b's row now
    bandit.learn(slate, ["a", "b"])
    margin = dict(zip(bandit.labels, bandit.scores(np.ones(D)).margin, strict=True))
    assert margin["a"] > 0 > margin["c"]
    assert margin["z"] == 0


def test_numbers_of_numbered_labels_are_never_given_twice():
    bandit = sb.SlateUCB(D, 3, a=1.0)
    bandit.retire_labels([1])
    assert bandit.add_labels(2) == [3, 4]
    assert sorted(bandit.labels) == [0, 2, 3, 4]
    assert sorted(bandit.rank(np.ones(D)).labels) == [0, 2, 3, 4]


def test_a_learner_without_labels_shows_nothing_until_it_has_some():
    for width in (sb.Scaled(1.0), sb.KnownNorm(1.0), sb.UnknownNorm()):
        bandit = sb.SlateUCB(D, [], width=width)
        assert bandit.rank(np.ones(D)).labels == []
        bandit.add_labels(["a"])
        assert bandit.rank(np.ones(D)).labels == ["a"]
