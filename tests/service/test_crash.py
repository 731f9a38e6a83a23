"""Killed at random moments under load, while events leave the log and learners are replaced.

Nothing that was acknowledged is lost or learned twice, and the learner is what the whole log makes
of it, to the bit. The log is read along by the test, since old events leave it.
"""

import io
import threading
from dataclasses import dataclass, field

import httpx2
import numpy as np
from learners import bits
from load import Load
from server import Server, until

import semibandit as sb
from semibandit.policies.persistence import snapshot_of
from semibandit.store.event import Decision, Feedback, NewLearner
from semibandit.store.rebuild import learn_event, rebuild
from semibandit.store.store import Store

KILLS = 15
CLIENTS = 3
LABELS = list("abcdef")
FEATURES = 12  # enough for compiled learning
BUILD = ("--features", FEATURES, "--labels", ",".join(LABELS))
OPTIONS = ("--snapshot-every", 15, "--keep", "4s", "--store-timeout", 2)
BYTES = {"Content-Type": "application/octet-stream"}


@dataclass
class Operated(Load):
    """A service whose events are erased and whose learner is replaced, beside its clients."""

    missing: tuple = (404, 409)  # of what was erased, or is about to be
    erased: set = field(default_factory=set)
    replaced: int = 0

    def operator(self, log):
        """Erases visits that have been read along, and replaces the learner now and then."""
        random = np.random.default_rng(10)
        try:
            with httpx2.Client(trust_env=False, timeout=30) as http:
                for turn in range(10**9):
                    if self.stop.wait(0.05):
                        return
                    log.read()
                    after = max(log.events, default=0)
                    if turn % 7 == 6:
                        log.files[after] = file_after(after)
                        path = f"/v1/learner?after={after}"
                        self.replaced += (
                            self.insist(http, path, log.files[after], 10**6) is not None
                        )
                    elif turn % 7 == 3:  # without feedback
                        body = {"context": [0.5] * FEATURES, "id": f"o-{turn}"}
                        if self.insist(http, "/v1/rank", body, 10**6) is not None:
                            log.read()
                            self.insist(http, f"/v1/events/o-{turn}", None, 10**6)
                    elif log.ids:
                        id = log.ids.pop(int(random.integers(len(log.ids))))
                        if self.insist(http, f"/v1/events/{id}", None, 10**6) is not None:
                            self.erased.add(id)
        except BaseException as why:
            self.failures.append(why)
            raise

    def ask(self, http, url, body):
        if body is None:
            return http.delete(url)
        if isinstance(body, bytes):
            return http.post(url, content=body, headers=BYTES)
        return super().ask(http, url, body)


class ReadAlong:
    """All events that the log ever had, and the files of learners that were posted."""

    def __init__(self, where):
        self.where, self.events, self.files = where, {}, {}
        self.ids = []  # of decisions with feedback that nobody has erased
        self._lock = threading.Lock()

    def read(self):
        with self._lock, Store(self.where, write=False) as store:
            for seq, event in store.events(max(self.events, default=0)):
                self.events[seq] = event
                if isinstance(event, Feedback):
                    self.ids.append(event.id)

    def learned(self, learner):
        """What the learner at the start has become by all of it, event by event, naively."""
        decisions, since = {}, 0
        for seq, event in sorted(self.events.items()):
            if isinstance(event, Decision):
                decisions[event.id] = event
            elif isinstance(event, NewLearner):
                learner, since = sb.load(io.BytesIO(self.files[event.after])), seq
                for other in range(event.after + 1, seq):
                    self.learn(learner, other, decisions, None)
            else:
                self.learn(learner, seq, decisions, since)
        return learner

    def learn(self, learner, seq, decisions, since):
        event = self.events[seq]
        if isinstance(event, Feedback):
            assert learn_event(learner, event, decisions[event.id], since=since)


def file_after(position):
    """A new learner, another one for each place in the log."""
    return snapshot_of(sb.SlateUCB(FEATURES, LABELS, a=0.9, seed=position)).to_bytes()


def test_killed_at_random_moments(where):
    random = np.random.default_rng(5)
    server = Server(where, *BUILD, *OPTIONS)
    load, log = Operated([server.port], features=FEATURES), ReadAlong(where)
    threads = [threading.Thread(target=load.client, args=(i,)) for i in range(CLIENTS)]
    threads.append(threading.Thread(target=load.operator, args=(log,)))
    for thread in threads:
        thread.start()
    try:
        for _ in range(KILLS):
            more = len(load.answered) + int(random.integers(3, 30))
            until(lambda more=more: len(load.answered) >= more or load.failures)
            if load.failures:
                break
            threading.Event().wait(random.random() * 0.01)  # anywhere in the next ones
            server.kill()
            log.read()
            server = Server(where, *BUILD, *OPTIONS, port=load.ports[0])
            assert server.url is not None, server.errors
        more, first = len(load.answered) + 50, list(load.ranked)[:10]
        until(lambda: (done(load, more) and left(where, first)) or load.failures)
    finally:
        load.stop.set()
        for thread in threads:
            thread.join()
        if load.failures:
            server.kill()
    assert not load.failures
    server.until(lambda state: state["backlog"] == 0)
    log.read()
    assert server.post("/v1/snapshot").status_code == 200
    server.kill()

    seqs = sorted(log.events)
    assert seqs == list(range(1, len(seqs) + 1))  # nothing made up, nothing missed
    given = [event for event in log.events.values() if isinstance(event, Feedback)]
    decided = {e.id: e for e in log.events.values() if isinstance(e, Decision)}
    found = {event.id: event.clicked for event in given}
    assert all(found[id] == clicked for id, clicked in load.answered.items())
    assert all(decided[id].labels == labels for id, labels in load.ranked.items())
    assert len(load.answered) > 8 * KILLS
    with Store(where) as store:
        assert store.last == seqs[-1]
        assert not store.decisions(load.erased - reused(log, load.erased))
        there = store.decisions(load.ranked)
        assert len(there) < len(load.ranked) - len(load.erased)  # old ones have left
        assert store.feedback(load.answered).keys() <= there.keys()
        live = store.snapshot(store.snapshots()[-1])  # as the last process had it
        assert bits(live) == bits(rebuild(store)[0]) == bits(log.learned(store.snapshot(0)))


def done(load, more):
    """Whether visits went on, and an operator has replaced the learner and erased visits."""
    return len(load.answered) >= more and load.replaced > 3 and len(load.erased) > 10


def left(where, ids):
    """Whether these decisions are no longer in the log."""
    with Store(where, write=False) as store:
        return not store.decisions(ids)


def reused(log, ids):
    """Ids that a client asked for again after they were erased."""
    seen = [event.id for event in log.events.values() if isinstance(event, Decision)]
    return {id for id in ids if seen.count(id) > 1}
