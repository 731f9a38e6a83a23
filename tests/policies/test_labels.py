"""Labels come and go; what was learned about the others stays."""

import collections
import pickle
import types

import numpy as np
import pytest
from learners import ALL, D, bits, contexts, drive

import semibandit as sb
from semibandit.errors import InputError
from semibandit.policies import feedback_batch


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


X = np.ones(D)
TAKES_LABELS = {
    "clicked": lambda b, labels: b.learn(b.rank(X), labels),
    "examined": lambda b, labels: b.learn(b.rank(X), [], labels),
    "candidates": lambda b, labels: b.rank(X, candidates=labels),
    "exclude": lambda b, labels: b.rank(X, exclude=labels),
    "candidates of many": lambda b, labels: b.rank_many([X, X], candidates=labels),
    "exclude of many": lambda b, labels: b.rank_many([X, X], exclude=labels),
    "candidates of each": lambda b, labels: b.rank_many([X], candidates=[labels]),
    "exclude of each": lambda b, labels: b.rank_many([X], exclude=[labels]),
    "a set": lambda b, labels: b.candidates(labels),
    "a set of its own": lambda b, labels: sb.CandidateSet(labels),
    "scores": lambda b, labels: b.scores(X, candidates=labels),
    "shown": lambda b, labels: b.shown(X, labels),
    "retired": lambda b, labels: b.shown(X, ["a"], retired=labels),
    "clicked of a policy": lambda b, labels: sb.Mixed(b).learn(b.rank(X), labels),
    "candidates of a policy": lambda b, labels: sb.Mixed(b).rank(X, candidates=labels),
    "labels to add": lambda b, labels: b.add_labels(labels),
    "labels to retire": lambda b, labels: b.retire_labels(labels),
}


@pytest.mark.parametrize("what", TAKES_LABELS)
def test_a_mapping_or_a_text_is_no_list_of_labels(what):
    bandit = sb.SlateUCB(D, list("abc"), a=1.0)
    before = bits(bandit)
    for given, hint in (
        ({"a": 3.0, "b": 0.0}, r"; did you mean \['a'\]\?$"),
        ({"b": False, "c": np.True_}, r"; did you mean \['c'\]\?$"),
        (types.MappingProxyType({"a": 1}), r"; did you mean \['a'\]\?$"),
        (collections.Counter("aab"), r"; did you mean \['a', 'b'\]\?$"),
        ({"a": "yes"}, r"got \{'a': 'yes'\}$"),
        ("abc", "got 'abc'$"),
        (b"abc", "got b'abc'$"),
    ):
        if what.endswith("of each") and isinstance(given, str | bytes):
            continue  # then it is one label
        if what == "examined" and isinstance(given, str):
            hint = "but it must be a list of labels or 'up to the last click'"
        with pytest.raises(InputError, match=hint):
            TAKES_LABELS[what](bandit, given)
    assert bits(bandit) == before


def test_what_came_again_under_an_old_name_is_another_label():
    bandit = sb.SlateUCB(D, list("abc"), a=1.0, examination=[1, 0.5])
    old = bandit.rank(X)
    bandit.learn(old, ["a"])
    bandit.retire_labels(["b"])
    bandit.add_labels(["b"])
    fresh = bandit.scores(X, candidates=["b"]).estimate[0]
    bandit.learn(old, ["a", "b"])
    bandit.learn(old, [], examined=["b"])
    assert bandit.scores(X, candidates=["b"]).estimate[0] == fresh == 0.5
    for copy in (bandit, pickle.loads(pickle.dumps(bandit))):
        copy.learn(old, ["b"])
        assert copy.scores(X, candidates=["b"]).estimate[0] == 0.5
        copy.learn(copy.rank(X), ["b"])
        assert copy.scores(X, candidates=["b"]).estimate[0] > 0.5
    bandit.retire_labels(["b"])
    bandit.add_labels(["b", "d"])
    before = bandit.scores(X, candidates=["b"]).estimate[0]
    bandit.learn(old, ["b"])
    assert bandit.scores(X, candidates=["b"]).estimate[0] == before == 0.5


@pytest.mark.parametrize("make", [one for one in ALL if one.id not in ("OBR", "Random")])
def test_a_learner_that_was_saved_knows_which_label_is_another_one(make, tmp_path):
    bandit = make(list("abc"))
    old = bandit.rank(X)
    bandit.retire_labels(old.labels)
    bandit.add_labels(old.labels)
    bandit.save(tmp_path / "b.npz")
    bandit = sb.load(tmp_path / "b.npz")
    before = bandit.scores(X).margin.tolist()
    bandit.learn(old, old.labels)
    assert bandit.scores(X).margin.tolist() == before == [0.0] * 3
    bandit.save(tmp_path / "b.npz")
    new = bandit.rank(X)
    bandit.learn(new, new.labels)
    assert bandit.scores(X).margin.tolist() != before


@pytest.mark.parametrize("examination", [None, [1, 0.4, 0.2]])
def test_labels_that_were_retired_are_passed_over_in_groups_as_well(examination):
    one = sb.SlateUCB(9, list("abcd"), a=1.0, examination=examination)
    twin, together = pickle.loads(pickle.dumps(one)), []
    for i in range(6):
        x, clicked = np.arange(9.0) + i * i, list("ab")[: i % 3]
        twin.learn(twin.shown(x, list("abc"), retired=["b"]), clicked)
        told = feedback_batch.ShownFeedback(x, None, list("abc"), None, clicked, None, ["b"])
        together.append(feedback_batch.learn_batch(one, [told]))
        if not together[-1]:
            one.learn(one.shown(x, list("abc"), retired=["b"]), clicked)
    assert sum(together) > 1
    margins = [learner.scores(np.ones(9)).margin for learner in (one, twin)]
    np.testing.assert_allclose(*margins, rtol=1e-12, atol=1e-15)
    assert margins[0][1] == 0.0 != margins[0][0]
