"""Scores of the labels that may be shown, also if one of them has been retired meanwhile."""

import numpy as np

import semibandit as sb
from semibandit.service.engine.scores import allowed_scores


def test_only_labels_that_may_be_shown_have_scores_and_retired_ones_are_passed_over():
    learner, x = sb.SlateUCB(2, ["tea", "milk", "juice", "water", "wine"]), np.ones(2)
    learner.learn(learner.rank(x), ["milk"])
    every = dict(zip(learner.labels, learner.scores(x).prob, strict=True))
    learner.retire_labels(["tea"])
    for candidates, exclude, expected in [
        (["water", "tea", "milk"], None, ["milk", "water"]),
        (["water", "milk"], ["tea", "milk"], ["water"]),
        (None, ["tea", "wine"], ["milk", "juice", "water"]),
        (None, None, ["milk", "juice", "water", "wine"]),
    ]:
        found = allowed_scores(learner, x, candidates, exclude, draw=0)
        assert found.labels == expected
        np.testing.assert_allclose(found.prob, [every[label] for label in expected])
