"""Examination: a label that was not clicked is learned as often as it was looked at."""

import numpy as np
import pytest
from learners import bits, contexts

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation.runners import runner_for
from semibandit.models.model import Sparse
from semibandit.policies.examination import looked_at, read_examination, up_to_last_click
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.policies.persistence import config_of
from semibandit.policies.randomness import coin, position_coins

THETA = (1.0, 0.5, 0.25)
CLASSES = (sb.SlateUCB, sb.Greedy, sb.EpsilonGreedy, sb.Thompson)


def estimates_after(p, rounds=4000, **options):
    """What a learner thinks of labels at positions 1, 2, 3 that are relevant with p each."""
    random = np.random.default_rng(5)
    learner = sb.Greedy(1, 3, scale="none", bias=False, **options)
    relevant = random.random((rounds, 3)) < p
    looked = random.random((rounds, 3)) < THETA
    for hits in relevant & looked:
        learner.learn(learner.shown([1.0], [0, 1, 2]), np.flatnonzero(hits))
    return learner.scores([1.0]).estimate


@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(2.0)])
def test_it_learns_the_relevance_and_not_the_click_rate_of_the_position(loss):
    p = np.array([0.3, 0.6, 0.4])
    with_it = estimates_after(p, loss=loss, examination=THETA)
    np.testing.assert_allclose(with_it, p, atol=0.04)
    without = estimates_after(p, loss=loss)
    np.testing.assert_allclose(without, np.maximum(p * THETA, loss.prob(-loss.R)), atol=0.03)


def test_how_likely_an_unclicked_label_was_looked_at_is_bayes_rule():
    theta, p = np.meshgrid([0.1, 0.5, 0.9, 1.0], [0.0, 0.2, 0.7, 1.0])
    w = looked_at(theta, p)
    unclicked = 1 - theta * p
    np.testing.assert_allclose(w * unclicked, np.where(theta == 1, unclicked, theta * (1 - p)))
    assert np.all(w[theta == 1.0] == 1.0)
    below = theta < 1  # of the lessons on a label, as many are positive as it is relevant
    share = theta * p / (theta * p + unclicked * w)
    np.testing.assert_allclose(share[below], p[below])


@pytest.mark.parametrize("cls", CLASSES)
def test_every_learner_takes_it_and_a_file_keeps_it(cls, tmp_path):
    one, plain = cls(4, 6, examination=[1, 0.4, 0.1]), cls(4, 6)
    assert "examination" not in config_of(plain)["settings"]  # older versions can read the file
    for t, x in enumerate(contexts(60)):
        for learner in (one, plain):
            slate = learner.rank(x, 3, draw=t)
            learner.learn(slate, slate.labels[1:2] if t % 3 else [])
        if t == 30:
            one.save(tmp_path / "half.npz")
            again = sb.load(tmp_path / "half.npz")
            assert again.examination == (1.0, 0.4, 0.1)
        elif t > 30:
            slate = again.rank(x, 3, draw=t)
            again.learn(slate, slate.labels[1:2] if t % 3 else [])
    assert bits(again) == bits(one)
    assert bits(one)[1] != bits(plain)[1]


def test_examined_up_to_the_last_click_is_a_list_of_labels():
    one, two, keyword = (sb.SlateUCB(4, 6, a=1.0) for _ in range(3))
    keyword = sb.SlateUCB(4, 6, a=1.0, examination="up to the last click")
    for t, x in enumerate(contexts(30)):
        slate = one.rank(x, 4)
        clicked = [slate.labels[k] for k in ((), (0,), (2, 1))[t % 3]]
        seen = slate.labels[: (4, 1, 3)[t % 3]]  # all, if nothing was clicked
        one.learn(slate, clicked, examined="up to the last click")
        two.learn(two.rank(x, 4), clicked, examined=seen)
        keyword.learn(keyword.rank(x, 4), clicked)
    assert bits(one) == bits(two)
    assert bits(keyword)[1] == bits(one)[1]


def test_what_the_feedback_says_was_looked_at_counts_and_not_the_keyword():
    plain, other = (sb.SlateUCB(4, 6, a=1.0, examination=e) for e in (None, (0.01,)))
    for x in contexts(20):
        for learner in (plain, other):
            slate = learner.rank(x, 3)
            learner.learn(slate, slate.labels[:1], examined=slate.labels)
    assert bits(plain)[1] == bits(other)[1]


def test_which_labels_count_follows_from_seed_round_and_context_alone():
    x, n = np.array([0.3, 0.0, -2.0]), 8000
    coins = position_coins(3, 0, np.tile(x, (n, 1)), 3)
    np.testing.assert_array_equal(coins[7], position_coins(3, 7, x[None], 3)[0])
    sparse = Sparse(np.array([0, 2]), x[[0, 2]], 3)
    np.testing.assert_array_equal(coins[7], position_coins(3, 7, sparse, 3)[0])
    probes = np.array([coin(3, t, 0, x) for t in range(n)])
    seen = np.corrcoef(np.column_stack([coins, probes, np.roll(coins, 1, axis=0)]).T)
    assert np.abs(seen - np.eye(7)).max() < 5 / np.sqrt(n)  # independent of each other
    assert np.abs(coins.mean(axis=0) - 0.5).max() < 5 * np.sqrt(1 / 12 / n)


def test_a_label_retired_meanwhile_keeps_its_position():
    learner = sb.SlateUCB(2, ["a", "b", "c"], a=1.0, examination=(1.0, 1.0, 1e-9))
    slate = learner.shown([1.0, 0.0], ["a", "b", "c"])
    learner.retire_labels(["a"])
    before = learner.scores([1.0, 0.0])
    learner.learn(slate, [])
    after = learner.scores([1.0, 0.0])
    assert after.estimate[0] < before.estimate[0]  # b, at position 2
    assert after.estimate[1] == before.estimate[1]  # c was not looked at


def test_replay_plays_it_round_by_round():
    X = contexts(200)
    Y = np.random.default_rng(1).random((200, 6)) < 0.4
    for examination in ((1.0, 0.5), "last-click"):
        one, two = (sb.SlateUCB(4, 6, examination=examination) for _ in range(2))
        assert runner_for(one, 3, None) is None
        assert runner_for(sb.SlateUCB(4, 6), 3, None) is not None
        sb.replay(one, X, Y, 3)
        for x, y in zip(X, Y, strict=True):
            slate = two.rank(x, 3)
            two.learn(slate, [i for i in slate.labels if y[i]])
        assert bits(one) == bits(two)


def test_in_words_and_back():
    for words in ("1,0.7,0.5", "0.123456789012345678,1e-05", "last-click", None):
        learner = LearnerSpec(examination=words).build(2, 3)
        spec = LearnerSpec.of(learner)
        assert spec.build(2, 3).examination == learner.examination
        assert spec.same_as(LearnerSpec(examination=words))
    assert not LearnerSpec(examination="1,0.7").same_as(LearnerSpec())
    assert LearnerSpec.of(sb.Random(2, 3)).examination is None
    assert LearnerSpec(learner="OBR").ignores(["examination"]) == ["examination"]
    with pytest.raises(InputError, match=r"examination = \[1, 0.7\], but it must be words"):
        LearnerSpec(examination=[1, 0.7])


@pytest.mark.parametrize(
    "wrong", [[], (0.5, 0.0), [1.1], "1;2", "", "1,nan", 0.5, [True], [[1.0]], "last click"]
)
def test_what_is_no_examination_is_refused(wrong):
    with pytest.raises(InputError, match=r"examination = .* but it must be a probability for each"):
        read_examination(wrong)
    with pytest.raises(InputError, match="examination"):
        sb.SlateUCB(2, 3, examination=wrong)


def test_words_for_examined_that_mean_nothing_are_refused():
    learner = sb.SlateUCB(2, 3, a=1.0)
    slate = learner.rank([1.0, 0.0])
    with pytest.raises(InputError, match="examined = 'all', but it must be a list of labels or"):
        learner.learn(slate, [], examined="all")
    assert learner.t == 1
    assert up_to_last_click([], []) == []
