"""Killed at random moments under load: nothing that was acknowledged is lost or learned twice."""

import threading
from dataclasses import dataclass, field

import httpx2
import numpy as np
from learners import bits
from server import BUILD, Server, until

from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

KILLS = 20
CLIENTS = 4


@dataclass
class Load:
    """Clients that rank and answer, and write down what was acknowledged; they never give up."""

    port: int
    ranked: dict = field(default_factory=dict)  # id -> labels
    answered: dict = field(default_factory=dict)  # id -> clicked
    stop: threading.Event = field(default_factory=threading.Event)
    failures: list = field(default_factory=list)

    def client(self, number):
        random = np.random.default_rng([9, number])
        waiting = []  # decisions that get their feedback later, in another order
        try:
            with httpx2.Client(trust_env=False, timeout=30) as http:
                for visit in range(10**9):
                    if self.stop.is_set():
                        return
                    self.rank(http, random, f"c{number}-{visit}", waiting)
                    while len(waiting) > 3:
                        self.answer(http, random, waiting)
        except Exception as why:
            self.failures.append(why)

    def rank(self, http, random, id, waiting):
        body = {"context": random.standard_normal(4).tolist(), "slots": 3, "id": id}
        found = self.insist(http, "/rank", body, tries=1 if random.random() < 0.2 else 10**6)
        if found is not None:
            labels = [one["label"] for one in found["slate"]]
            assert self.ranked.setdefault(id, labels) == labels
            waiting.append((id, labels))

    def answer(self, http, random, waiting):
        id, labels = waiting.pop(int(random.integers(len(waiting))))
        clicked = [label for label in labels if random.random() < 0.4]
        repeats = 2 if random.random() < 0.2 else 1
        for _ in range(repeats):
            if self.insist(http, "/feedback", {"id": id, "clicked": clicked}, 10**6) is not None:
                self.answered[id] = clicked

    def insist(self, http, path, body, tries):
        """Ask until there is an answer; None if there was none in so many tries, or at the end."""
        for _ in range(tries):
            try:
                found = http.post(f"http://127.0.0.1:{self.port}{path}", json=body)
            except httpx2.TransportError:
                if self.stop.wait(0.01):  # the server is dead: it will be back
                    return None
                continue
            if found.status_code == 200:
                return found.json()
            assert found.status_code == 503, found.text
        return None


def test_killed_at_random_moments(where):
    random = np.random.default_rng(5)
    server = Server(where, *BUILD, "--snapshot-every", 15)
    load = Load(server.port)
    clients = [threading.Thread(target=load.client, args=(i,)) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for _ in range(KILLS):
            more = len(load.answered) + int(random.integers(3, 60))
            until(lambda more=more: len(load.answered) >= more or load.failures)
            if load.failures:
                break
            threading.Event().wait(random.random() * 0.01)  # anywhere in the next ones
            server.kill()
            server = Server(where, *BUILD, "--snapshot-every", 15, port=load.port)
            assert server.url is not None, server.errors
        more = len(load.answered) + 50
        until(lambda: len(load.answered) >= more or load.failures)
    finally:
        load.stop.set()
        for client in clients:
            client.join()
        if load.failures:
            server.kill()
    assert not load.failures
    server.until(lambda state: state["backlog"] == 0)
    assert server.post("/snapshot").status_code == 200
    server.kill()

    with Store(where) as store:
        events = [event for _, event in store.events()]
        given = [event for event in events if hasattr(event, "clicked")]
        assert len({event.id for event in given}) == len(given)  # each once
        found = {event.id: event.clicked for event in given}
        missing = {id for id, clicked in load.answered.items() if found.get(id) != clicked}
        assert not missing
        shown = store.decisions(load.ranked)
        assert all(shown[id].labels == labels for id, labels in load.ranked.items())
        live = store.snapshot(store.snapshots()[-1])  # as the last process had it
        whole, _ = rebuild(store, 0)  # the log in one go
        assert live.t == whole.t == len(given) + 1  # none twice
        assert bits(live) == bits(whole) == bits(rebuild(store)[0])
        assert len(load.answered) > 20 * KILLS / 2
