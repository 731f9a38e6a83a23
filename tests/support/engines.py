"""An engine with a store of its own, and what tests ask of it."""

import time

import numpy as np
import pytest
from server import until

import semibandit as sb
from semibandit.errors import SemibanditError
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import PendingFeedback, PendingLabelChange
from semibandit.service.http.errors import status_of
from semibandit.service.settings import Settings
from semibandit.store.event import Feedback, LabelChange
from semibandit.store.store import Store

D, LABELS = 4, list("abcdef")


class SetClock:
    """A clock that can be set: `ahead` seconds wrong, and as if `passed` seconds had gone by."""

    def __init__(self, ahead=0.0):
        self.ahead, self.passed = ahead, 0.0

    def time(self):
        return time.time() + self.passed + self.ahead

    def monotonic(self):
        return time.monotonic() + self.passed


class running:
    """An engine with a new store, or the store that is there."""

    def __init__(self, where, learner=None, **settings):
        learner = learner or sb.SlateUCB(D, LABELS)
        store = Store(where) if Store.exists(where) else Store.create(where, learner)
        self.engine = Engine(store, Settings(**settings))

    def __enter__(self):
        self.engine.start()
        return self.engine

    def __exit__(self, *_):
        self.engine.stop()


def rank(engine, context=(1.0, 2.0, 3.0, 4.0), slots=2, id=None, candidates=None, exclude=None):
    return engine.ask(
        lambda answer: engine.pending_rank(list(context), slots, candidates, exclude, id, answer)
    )


def give(engine, id, clicked, examined=None):
    return engine.ask(lambda answer: PendingFeedback(Feedback(id, 0.0, clicked, examined), answer))


def change(engine, **what):
    return engine.ask(lambda answer: PendingLabelChange(LabelChange(0.0, **what), answer))


def visits(engine, first, n):
    """So many visits, numbered from first on, of which half have a click; all are learned."""
    random = np.random.default_rng(first)
    for i in range(first, first + n):
        labels = rank(engine, context=random.standard_normal(D), id=f"v{i}").labels
        give(engine, f"v{i}", labels[:1] if random.random() < 0.5 else [])
    until(lambda: engine.learning.backlog == 0)


def as_if_killed(engine):
    """When it stops, it writes no last snapshot."""
    stop = engine.learning.stop
    engine.learning.stop = lambda snapshot: stop(snapshot=False)


def learned(engine, n):
    until(lambda: engine.learning.learned >= n)


def count(engine, kind):
    with engine.store.beside() as store:
        return store.count(kind)


def status(work):
    with pytest.raises(SemibanditError) as why:
        work()
    return status_of(why.value)
