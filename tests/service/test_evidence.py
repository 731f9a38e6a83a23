"""A shop whose truth is known, served with a holdout: is what we say it earned what it earned?"""

import json

import numpy as np
from fork_server import fork_server
from server import PATIENCE, Server
from shop import Shop

import semibandit as sb
from semibandit.store.event import Decision
from semibandit.store.export import open_log
from semibandit.store.rebuild import learn_events

VISITS, BATCH = 20_000, 250
SETTINGS = ("width=scaled:0.25", "width=scaled:10", "Random")  # best first, by the truth below
SHOP = Shop(n=8, d=8, slots=2, seed=5, base=-2.0)


def _served(folder):
    """The exported log of a service, its state, and the contexts, after all visits."""
    random = np.random.default_rng(7)
    X = SHOP.contexts(VISITS)
    options = ("--features", SHOP.d, "--labels", ",".join(SHOP.items), "--max-slots", SHOP.slots)
    options += ("--holdout", "0.02", "--randomise", "mixed:0.2")
    with Server(folder / "store", *options) as server, sb.Client(server.url) as client:
        for first in range(0, VISITS, BATCH):
            some = X[first : first + BATCH]
            ids = [f"visit-{first + i}" for i in range(len(some))]
            slates = client.rank_many(some.tolist(), SHOP.slots, ids=ids)
            clicks = SHOP.clicks(some, SHOP.numbers([slate.labels for slate in slates]), random)
            clicked = [
                [label for label, yes in zip(slate.labels, row, strict=True) if yes]
                for slate, row in zip(slates, clicks, strict=True)
            ]
            client.learn_many(list(zip(slates, clicked, strict=True)))
            server.until(lambda state: not state["backlog"])  # so that every run is the same
        state = client.state()
    log = folder / "log.jsonl"
    _run("export", log, "--store", folder / "store")
    return log, state, X


def _run(*arguments):
    process = fork_server().start(list(map(str, arguments)))
    with process.stdout, process.stderr:
        process.stdout.read()
        assert process.wait(PATIENCE) == 0, process.stderr.read()


def _decisions(log):
    with open_log(log) as opened:
        return [event for _, event in opened.events if isinstance(event, Decision)]


def test_what_it_earned_and_what_others_would_have_earned_is_true(tmp_path):
    log, state, X = _served(tmp_path)
    _check_uplift(log, state, X)
    _check_order(log, X, tmp_path / "found.json")


def _check_uplift(log, state, X):
    """The true uplift is in the interval."""
    decisions = _decisions(log)
    p = SHOP.chances(X)
    shown = SHOP.numbers([one.labels for one in decisions])
    clicks = np.take_along_axis(p, shown, axis=1)
    any_click = 1.0 - np.prod(1.0 - clicks, axis=1)
    held = np.array([one.holdout is not None for one in decisions])
    assert 0.015 < held.mean() < 0.025
    true = any_click[~held].mean() - any_click[held].mean()
    gain = state["uplift"]["visits_with_a_click"]
    low, high = gain["difference_interval"]
    assert low < true < high
    assert gain["can_tell"]  # and that is so: random slates are worse by a third
    assert low > 0


def _check_order(log, X, found):
    """`semibandit evaluate` puts three other settings in their true order."""
    policies = [part for words in SETTINGS for part in ("--policy", words)]
    _run("evaluate", log, *policies, "--json", found)
    result = json.loads(found.read_text())
    values = [result["evaluations"][words]["estimates"]["Cascade-DR"] for words in SETTINGS]
    truth = _true_values(log, X)
    assert truth == sorted(truth, reverse=True)
    assert [one["value"] for one in values] == sorted((v["value"] for v in values), reverse=True)
    for one, true in zip(values, truth, strict=True):
        assert one["low"] < true < one["high"]


def _true_values(log, X):
    """The expected clicks of each policy's slates; learners learn the log as it goes.

    What is learned does not depend on the width: one learner stands for both.
    """
    learner, asked, lessons, decisions = SHOP.learner(), [], [], {}
    slates = {words: [] for words in SETTINGS[:2]}
    with open_log(log) as opened:
        for _, event in opened.events:
            if isinstance(event, Decision):
                while lessons:
                    del lessons[: len(learn_events(learner, lessons))]
                decisions[event.id] = event
                asked.append(event.context)
                continue
            for words in slates if asked else ():
                learner.width = sb.Scaled(float(words.rpartition(":")[2]))
                slates[words] += learner.rank_many(asked, SHOP.slots)
            asked = []
            lessons.append((event, decisions.pop(event.id)))
    numbers = [SHOP.numbers([slate.labels for slate in found]) for found in slates.values()]
    return [*(SHOP.value(X, one) for one in numbers), SHOP.slots * SHOP.chances(X).mean()]
