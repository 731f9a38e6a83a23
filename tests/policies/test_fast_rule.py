"""Compiled loops decide only in the place of learners that say so, each for itself alone."""

from dataclasses import dataclass

import numpy as np
import pytest
from learners import ALL, D, K, contexts

import semibandit as sb
from semibandit.policies.batch import rank_requests
from semibandit.policies.fast_rule import CONSTANT, DECREASING, TABLE
from semibandit.policies.request import Request

LEARNER = {"SlateUCB": True, "Greedy": True, "OBR": True, "Thompson": False}  # compiled scores?


@pytest.mark.parametrize("make", ALL)
def test_who_has_a_rule(make):
    learner = make()
    rule, name = learner.fast_rule(), type(learner).__name__
    assert (rule is not None) == (name in LEARNER)
    if rule is not None:
        assert (rule.loss is not None) == LEARNER[name]


@pytest.mark.parametrize("name", LEARNER)
def test_a_subclass_may_decide_otherwise_so_it_has_no_rule(name):
    mine = type("Mine", (getattr(sb, name),), {"__module__": "mine"})
    assert mine(D, K).fast_rule() is None


def test_parts_of_your_own_are_not_compiled():
    own = sb.Surrogate(g=lambda m: 1 - m, R=1.0, name="mine")
    assert sb.SlateUCB(D, K, loss=own).fast_rule().loss is None
    assert sb.SlateUCB(D, K, width=lambda norm2, **_: norm2).fast_rule().loss is None
    kinds = {sb.decreasing: DECREASING, sb.constant: CONSTANT, (lambda i, s: 0.5): TABLE}
    for cost, kind in kinds.items():
        assert sb.SlateUCB(D, K, cost=cost).fast_rule().cost_kind == kind


def test_a_subclass_is_asked_itself_in_batches_and_in_replay(monkeypatch):
    monkeypatch.setattr("semibandit.policies.batch.LEAST", 0)
    monkeypatch.setattr("semibandit.policies.batch.TO_LOAD", 0)

    class Backwards(sb.SlateUCB):
        """Shows the worst labels."""

        def _pick(self, view, request):
            return np.argsort(view.score, kind="stable")[: request.slots]

    learner, X = Backwards(D, K, seed=3), contexts(30)
    random = np.random.default_rng(0)
    for x in X:
        slate = learner.rank(x, 2)
        learner.learn(slate, [label for label in slate.labels if random.random() < 0.5])
    requests = [Request(learner.read_context(x), 2, None, None, 0) for x in X]
    together = [slate.labels for slate in rank_requests(learner, requests)]
    assert together == [learner.rank(x, 2).labels for x in X]
    assert together != [sb.SlateUCB(D, K, seed=3).rank(x, 2).labels for x in X]
    Y = np.zeros((30, K), dtype=np.uint8)
    fast, plain = Backwards(D, K, seed=3), Backwards(D, K, seed=3)
    one, two = sb.replay(fast, X, Y, 2), sb.replay(plain, X, Y, 2, plain=True)
    assert (one.slates == two.slates).all()


def test_a_cost_need_not_be_hashable():
    @dataclass
    class Half:
        def __call__(self, i, s):
            return 0.5

    learner = sb.SlateUCB(D, K, cost=Half())
    assert [len(slate) for slate in learner.rank_many(contexts(3), 2)] == [2, 2, 2]
    assert len(sb.replay(learner, contexts(9), np.zeros((9, K)), 2)) == 9
