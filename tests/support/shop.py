"""A simulated shop whose click probabilities are known, and logs of it with propensities.

`shop_events` serves visits in process: `Mixed` around a learner ranks groups of visits, and the
learner learns their feedback before the next group, as a service would. `write_shop_log` puts them
into a store or a file.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import semibandit as sb
from semibandit.policies.distributions.propensities import propensities_of
from semibandit.policies.mixed import Mixed
from semibandit.policies.persistence import snapshot_of
from semibandit.policies.request import Request
from semibandit.store.event import Decision, Feedback, row
from semibandit.store.rebuild import learn_events
from semibandit.store.store import Store

GROUP = 256


@dataclass
class Shop:
    """n items, each clicked with probability 1/(1 + exp(-(base + u_i·x))) if it is looked at.

    With `stop` > 0 clicks are a cascade: after a click the visitor leaves with that probability.
    """

    n: int = 8
    d: int = 5
    slots: int = 3
    seed: int = 0
    base: float = -1.5
    stop: float = 0.0
    taste: np.ndarray = field(init=False)

    def __post_init__(self):
        self.taste = np.random.default_rng([self.seed, 1]).normal(size=(self.n, self.d))

    @property
    def items(self):
        return [f"item-{i}" for i in range(self.n)]

    def contexts(self, n, seed=0):
        return np.random.default_rng([self.seed, 2, seed]).normal(size=(n, self.d))

    def chances(self, X):
        """How likely each item is clicked if it is looked at, (len(X), n)."""
        return 1.0 / (1.0 + np.exp(-(self.base + X @ self.taste.T)))

    def clicks(self, X, slates, random):
        """Which positions are clicked; slates is (len(X), slots) of item numbers, -1 for none."""
        p = np.take_along_axis(self.chances(X), np.maximum(slates, 0), axis=1) * (slates >= 0)
        clicked = random.random(p.shape) < p
        leaves = clicked & (random.random(p.shape) < self.stop)
        left = np.cumsum(leaves, axis=1) - leaves > 0
        return clicked & ~left

    def value(self, X, slates):
        """The expected number of clicks per visit, exactly."""
        p = np.take_along_axis(self.chances(X), np.maximum(slates, 0), axis=1) * (slates >= 0)
        stays = np.cumprod(1.0 - p * self.stop, axis=1)
        before = np.concatenate([np.ones((len(p), 1)), stays[:, :-1]], axis=1)
        return float((p * before).sum(axis=1).mean())

    def learner(self, **settings):
        return sb.SlateUCB(self.d, self.items, **{"a": 1.0} | settings)

    def numbers(self, slates):
        """Slates of item names as item numbers, -1 for empty positions."""
        found = np.full((len(slates), self.slots), -1)
        for i, slate in enumerate(slates):
            found[i, : len(slate)] = [int(label.partition("-")[2]) for label in slate]
        return found


def shop_events(shop, learner, n, epsilon=0.2, seed=0, *, policy=None, learn=True, group=GROUP):
    """The events of n visits: groups of decisions, then their feedback.

    `policy` draws around the learner; by default `Mixed` with epsilon.
    """
    policy = Mixed(learner, epsilon) if policy is None else policy
    random = np.random.default_rng([shop.seed, 3, seed])
    X = shop.contexts(n, seed)
    for first in range(0, n, group):
        some = X[first : first + group]
        requests = [
            Request(x, shop.slots, None, None, draw) for draw, x in enumerate(some, first)
        ]  # fmt: skip
        slates = policy.rank_requests(requests)
        decisions = [*map(decision_of, requests, slates, [policy.words] * len(slates))]
        clicks = shop.clicks(some, shop.numbers([one.labels for one in decisions]), random)
        answers = [
            Feedback(
                one.id, one.at + 0.5, [x for x, yes in zip(one.labels, row, strict=False) if yes]
            )
            for one, row in zip(decisions, clicks, strict=True)
        ]
        yield from decisions
        yield from answers
        lessons = list(zip(answers, decisions, strict=True))
        while learn and lessons:
            del lessons[: len(learn_events(learner, lessons))]


def decision_of(request, slate, words):
    """What a service would log of a slate that a policy drew."""
    likely, numbers = propensities_of(slate.distribution, slate.labels), [0.0] * len(slate)
    return Decision(
        f"visit-{request.draw}", 1000.0 + request.draw, request.given, request.slots, None, None,
        slate.labels, numbers, numbers, numbers, slate.t, request.draw, seen=slate.x,
        probe=slate.probe, policy=words, distribution=slate.distribution.json(),
        slate_propensity=likely.slate, prefix_propensity=likely.prefix,
        item_propensity=likely.item,
    )  # fmt: skip


def write_shop_log(where, shop, n, epsilon=0.2, seed=0, *, learner=None, learn=True, group=GROUP):
    """Write the log of n visits to a store, or to a .jsonl file; returns the learner after it."""
    learner = shop.learner() if learner is None else learner
    if Path(where).suffix == ".jsonl":
        head = {"format": 1, "about": {}, "learner": _packed(learner)}
        with open(where, "wb") as file:
            file.write(json.dumps(head).encode() + b"\n")
            events = shop_events(shop, learner, n, epsilon, seed, learn=learn, group=group)
            file.writelines(_lines(events))
    else:
        with Store.create(where, learner) as store:
            events = shop_events(shop, learner, n, epsilon, seed, learn=learn, group=group)
            store.append(list(events))
    return learner


def log_lines(events, learner):
    """The lines of a .jsonl log with these events."""
    head = {"format": 1, "about": {}, "learner": _packed(learner)}
    return [json.dumps(head).encode() + b"\n", *_lines(events)]


def _packed(learner):
    return base64.b64encode(snapshot_of(learner).to_bytes()).decode()


def _lines(events) -> Iterator[bytes]:
    for seq, event in enumerate(events, 1):
        kind, id, at, _, body, subject = row(event)
        body, x = json.loads(body), getattr(event, "context", None)
        if x is not None and event.seen is not None:
            body["seen"] = event.seen.tolist()
        line = {"seq": seq, "kind": kind, "id": id, "at": at, "context": None if x is None else
                x.tolist(), "body": body, "subject": subject}  # fmt: skip
        yield json.dumps(line).encode() + b"\n"
