"""Clients that insist, whatever is killed; and what must be in the store afterwards."""

import threading
from dataclasses import dataclass, field

import httpx2
import numpy as np
from learners import bits

from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store


@dataclass
class Load:
    """Clients that rank and answer, and write down what was acknowledged; they never give up."""

    ports: list  # of the service and its standby, if it has one
    ranked: dict = field(default_factory=dict)  # id -> labels
    answered: dict = field(default_factory=dict)  # id -> clicked
    stop: threading.Event = field(default_factory=threading.Event)
    failures: list = field(default_factory=list)
    features: int = 4
    missing: tuple = ()  # statuses of what may have left the log meanwhile

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

    def ask(self, http, url, body):
        return http.post(url, json=body)

    def rank(self, http, random, id, waiting):
        body = {"context": random.standard_normal(self.features).tolist(), "slots": 3, "id": id}
        found = self.insist(
            http, "/rank", body, tries=len(self.ports) if random.random() < 0.2 else 10**6
        )
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
        for attempt in range(tries):
            try:
                port = self.ports[attempt % len(self.ports)]
                found = self.ask(http, f"http://127.0.0.1:{port}{path}", body)
            except httpx2.TransportError:
                pass
            else:
                if found.status_code == 200:
                    return found.json()
                if found.status_code in self.missing:
                    return None
                assert found.status_code == 503, found.text
            if self.stop.wait(0.01):  # the server is dead, or not ready: it will be back
                return None
        return None


def check_store(where, load):
    """Nothing that was acknowledged is lost, doubled or made up; the learner equals the log's."""
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
