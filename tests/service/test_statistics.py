"""Statistics: lifetime totals that survive restarts, counts by time, and what is saved of them."""

import json
import time

import numpy as np
import pytest
from engines import give, learned, rank, running
from server import Server

import semibandit as sb
from semibandit.errors import StoreError
from semibandit.service.engine.statistics import Statistics
from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

LABELS = list("abcdef")


def decision(i, at, labels=("a", "b"), **more):
    n = len(labels)
    return Decision(
        f"v{i}", at, np.array([1.0, i % 7, 0.0, 2.0]), 2, None, None, list(labels),
        [0.5] * n, [0.4] * n, [0.1] * n, 1, i, **more,
    )  # fmt: skip


def visits(store, n, at, every=60.0):
    """So many visits: every second is clicked, every third is never answered."""
    for i in range(n):
        one = decision(i, at + every * i, LABELS[: i % 4])
        clicked = one.labels[:1] if i % 2 else []
        told = [Feedback(one.id, one.at + 1, clicked)] if i % 3 else []
        store.append([one, *told])


def metric(server, name):
    lines = server.get("/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))


def totals(server):
    state = server.state()
    names = ("decisions", "feedback", "shown", "clicks")
    assert [metric(server, f"semibandit_{name}_total") for name in names] == [
        state[name] for name in names
    ]
    return [state[name] for name in names]


def test_totals_count_the_whole_log_and_survive_restarts(tmp_path):
    with Store.create(tmp_path, sb.SlateUCB(4, LABELS)) as store:
        visits(store, 3000, time.time() - 30 * 86400)  # long ago, and more than one page
    answered = [i for i in range(3000) if i % 3]
    shown = sum(i % 4 for i in answered)
    clicks = sum(bool(i % 2 and i % 4) for i in answered)
    with Server(tmp_path) as server:
        assert totals(server) == [3000, 2000, shown, clicks]
        one = server.rank(slots=2).json()
        server.feedback(one["id"], [one["slate"][0]["label"]])
        after = totals(server)
        assert after == [3001, 2001, shown + 2, clicks + 1]
        server.post("/snapshot")
        server.kill()
    with Server(tmp_path) as server:
        assert totals(server) == after


def same(one, other):
    """Both have counted the same; features are samples."""
    mine, theirs = (json.loads(json.dumps({**x.dump(), "features": None})) for x in (one, other))
    assert mine == theirs


def test_counted_live_saved_and_from_the_log_are_the_same(tmp_path):
    with running(tmp_path) as engine:
        for i in range(12):
            one = rank(engine, [1.0, i, 0.0, 1.0], slots=i % 4)
            if i % 3:
                give(engine, one.id, one.labels[:1], one.labels[:2] if i % 2 else None)
        learned(engine, 8)
        live = engine.statistics
    with Store(tmp_path, write=False) as store:
        assert store.saved_statistics()["position"] == store.last == 20
        same(Statistics.from_log(store), live)
        alone = Statistics()
        alone.catch_up(store)
        same(alone, live)
        assert len(live.summary()["latest"]) == len(Statistics.from_log(store).summary()["latest"])


def test_labels_stay_numbers_and_names(tmp_path):
    with Store.create(tmp_path, sb.SlateUCB(4, 3)) as store:
        statistics = Statistics()
        one = decision(1, 60.0, [1, "1"])
        statistics.add([one], [(Feedback("v1", 61.0, [1]), one)], 2)
        statistics.save(store, [1, "1"])
        found = Statistics.restore(store.saved_statistics()).labels()
    assert found.rows == {1: 0, "1": 1}
    assert (found.shown, found.clicked, found.last_shown) == ([1, 1], [1, 0], [60.0, 60.0])


def test_sizes_positions_and_what_was_not_looked_at():
    statistics = Statistics()
    big = decision(1, 0.0, range(60))
    small = decision(2, 0.0, [7, 8, 9])
    statistics.add([big, small, decision(3, 0.0, [])], [], 3)
    told = [(Feedback("v1", 1.0, [0, 59]), big), (Feedback("v2", 1.0, [8, 9], [7, 8]), small)]
    statistics.add([], told, 5)
    statistics.add([], [(Feedback("v3", 1.0, [], waited=True), decision(3, 0.0, []))], 6)
    found = statistics.summary()
    assert found["totals"] == {
        "since": 0.0, "decisions": 3, "empty": 1, "feedback": 3, "waited": 1, "shown": 62,
        "clicks": 3,
    }  # fmt: skip
    assert (found["sizes"][0], found["sizes"][3], found["sizes"][51]) == (1, 1, 1)
    assert found["positions"][:4] == [[2, 1], [2, 1], [1, 0], [1, 0]]
    assert len(found["positions"]) == 50
    assert found["top"][0] == {"label": 8, "shown": 2, "clicked": 1}
    assert sum(one["labels"] for one in found["calibration"]) == 62


def test_a_decision_that_is_erased_is_not_among_the_latest():
    statistics = Statistics()
    for i in range(30):
        statistics.add_latest(decision(i, 0.0), None)
    statistics.forget_decisions(["v29", "v3", "unknown"])
    assert [one["id"] for one in statistics.summary()["latest"]] == [
        f"v{i}" for i in range(28, 9, -1)
    ]
    statistics.add_latest(decision(40, 0.0, named={"hour": 7}), None)
    contexts = [one["context"] for one in statistics.summary()["latest"][:2]]
    assert contexts == [{"hour": 7}, [1.0, 0.0, 0.0, 2.0]]


def test_labels_that_are_gone_are_dropped_once_they_are_many():
    statistics = Statistics()
    statistics.add([decision(i, 0.0, [i]) for i in range(1200)], [], 1200)

    class Nowhere:
        def save_statistics(self, dump):
            self.labels = dump["labels"]["labels"]

    store = Nowhere()
    statistics.save(store, list(range(1100, 1200)))
    assert len(store.labels) == 1200
    statistics.save(store, [1199, 5])
    assert store.labels == [5, 1199]
    assert statistics.totals()["decisions"] == 1200


def test_what_was_written_though_nobody_was_told_is_counted(tmp_path, monkeypatch):
    """The store fails after a commit: the events are in the log, and are counted once."""
    with running(tmp_path) as engine:
        append = Store.append

        def lost(self, *given):
            append(self, *given)
            raise StoreError("the connection was lost")

        with monkeypatch.context() as patch:
            patch.setattr(Store, "append", lost)
            with pytest.raises(StoreError):
                rank(engine, id="one")
        assert rank(engine, id="one").labels
        rank(engine, id="two")
        assert engine.statistics.totals()["decisions"] == 2
        assert engine.statistics.position == engine.store.last == 2
