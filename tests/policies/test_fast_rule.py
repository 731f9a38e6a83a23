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
def test_a_subclass_has_a_rule_unless_it_defines_anything_anew(name):
    ours = getattr(sb, name)
    mine = type("Mine", (ours,), {"__module__": "mine", "title": "new", "__init__": ours.__init__})
    assert mine(D, K).fast_rule() is not None
    for anew in ("rank", "learn", "_judge", "a", "seed", "scaled"):
        other = type("Mine", (mine,), {"__module__": "mine", anew: getattr(ours, anew, 0.5)})
        assert other(D, K).fast_rule() is None
    learner = mine(D, K)
    learner._pick = lambda *_: np.arange(1)
    assert learner.fast_rule() is None


def test_the_engine_is_said_with_the_reason(caplog):
    class Loss(sb.Square):
        pass

    class Reversed(sb.SlateUCB):
        def _pick(self, view, request):
            return super()._pick(view, request)[::-1]

    loss = sb.Square()
    loss.slope = lambda margin: 1.0 - margin
    own = sb.SlateUCB(D, K)
    own._state.step = own._state.step
    for learner, words in {
        sb.SlateUCB(D, K): "compiled loops",
        Reversed(D, K): "Reversed._pick is defined anew",
        sb.SlateUCB(D, K, loss=Loss()): "its scores, its width or its loss are not compiled",
        sb.SlateUCB(D, K, loss=loss): "its scores, its width or its loss are not compiled",
        own: "the state FullState is not compiled",
        sb.SlateUCB(D, K, model=sb.Dual()): "the model DualState is not compiled",
        sb.Confidit(D, K): "Confidit is not compiled",
        sb.Mixed(sb.SlateUCB(D, K), 0.1): "Mixed draws every slate",
    }.items():
        assert words in sb.engine_of(learner)
    for _ in range(2):
        sb.replay(Reversed(D, K), contexts(3), np.zeros((3, K)), 2)
    assert caplog.text.count("Reversed is replayed by Python, not by compiled loops") == 1


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
