"""What a subclass or an instance defines anew holds in `rank_many`, replays and rebuilds, too."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from learners import bits

import semibandit as sb
from semibandit.policies.slate import Slate
from semibandit.policies.view import View
from semibandit.store.event import Decision, Feedback
from semibandit.store.rebuild import learn_event, learn_events

D, K, T = 9, 6, 66  # more than one window
random = np.random.default_rng(1)
X, Y = random.standard_normal((T, D)), (random.random((T, K)) < 0.4).astype(np.uint8)
FUNCTIONS = sorted(
    name
    for name in dir(sb.SlateUCB)
    if not name.startswith("__") and callable(getattr(sb.SlateUCB, name))
)
ONCE = {"_start", "_set_half_life", "_restore", "_resize"}  # while it is made, or labels change
ON_INSTANCES = ["_absorb", "_judge", "_pick", "_view", "count_rounds", "learn", "rank", "scaled"]


def another(result):
    """Another result in the place of this one, of the same kind."""
    if isinstance(result, View):
        return dataclasses.replace(result, score=-result.score, prob=1.0 - result.prob)
    if isinstance(result, Slate):
        return dataclasses.replace(result, labels=result.labels[::-1])
    if isinstance(result, np.ndarray) and result.dtype.kind == "f":
        return result[::-1]
    if isinstance(result, float):
        return 2.0 * result
    return result


def changed(name, usual):
    """The function with another result; if it learns, every third call is left out."""
    calls = []

    def function(*arguments, **options):
        calls.append(name)
        if name in ("learn", "_absorb", "_step") and len(calls) % 3 == 0:
            return None
        return another(usual(*arguments, **options))

    return function


def of_class(name):
    body = {name: changed(name, getattr(sb.SlateUCB, name)), "__module__": "mine"}
    return type("Mine", (sb.SlateUCB,), body)(D, K, seed=2)


def of_instance(name):
    learner = sb.SlateUCB(D, K, seed=2)
    setattr(learner, name, changed(name, getattr(learner, name)))
    return learner


@cache
def decisions():
    """A log, decided by a plain learner."""
    learner, log = sb.SlateUCB(D, K), []
    for t, x in enumerate(X[:30]):
        slate = learner.rank(x, 3, draw=t)
        numbers = [0.0] * len(slate)
        decision = Decision(
            f"d{t}", 0.0, x, 3, None, None, slate.labels, numbers, numbers, numbers, learner.t, t,
            seen=slate.x,
        )  # fmt: skip
        hits = [label for label in slate.labels if Y[t, label]]
        log.append((Feedback(decision.id, 0.0, hits), decision))
        learner.learn(slate, hits)
    return log


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((of_class, name) for name in FUNCTIONS if name not in ONCE),
        *((of_instance, name) for name in ON_INSTANCES),
    ],
)
def test_an_override_holds_everywhere(make, name, monkeypatch):
    monkeypatch.setattr("semibandit.policies.batch.LEAST", 0)
    one, two = (sb.replay(make(name), X, Y, 3, plain=plain) for plain in (False, True))
    np.testing.assert_array_equal(one.slates, two.slates)
    ranked = make(name)
    assert [s.labels for s in ranked.rank_many(X[:12], 3)] == [
        ranked.rank(x, 3).labels for x in X[:12]
    ]
    log, together, alone = decisions(), make(name), make(name)
    left = list(log)
    while left:
        del left[: len(learn_events(together, left))]
    for event, decision in log:
        learn_event(alone, event, decision)
    assert bits(together) == bits(alone)
