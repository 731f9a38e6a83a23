"""A warm standby: it follows the log, and takes over when the owner of the store is gone."""

import re
import signal
import threading
import time

import numpy as np
import psycopg
import pytest
from engines import count, give, learned, rank, running, status
from learners import bits
from load import Load, check_store
from server import BUILD, LocalServer, Server, until
from visits import visit

from semibandit.errors import StoreInUse
from semibandit.policies.persistence import snapshot_of
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

KILLS = {"sqlite": 2, "postgresql": 6}
CLIENTS = 4
TAKEOVER = 5.0  # seconds
OPTIONS = (*BUILD, "--snapshot-every", 15, "--follow")


def following(where, **settings):
    """An engine that follows the store."""
    return Engine(Store(where, lock=False), Settings(follow=True, **settings))


def test_it_follows_the_log_and_takes_over(where):
    leader = running(where)
    with leader:
        first = rank(leader.engine, id="one")
        standby = following(where)
        assert standby.following
        standby.start()
        give(leader.engine, "one", first.labels[:1])
        learned(leader.engine, 1)
        until(lambda: standby.learning.position == leader.engine.learning.position)
        assert bits(standby.learner) == bits(leader.engine.learner)
        assert standby.problem.startswith("following another service, which writes to the store")
        assert standby.live_problem is None
        assert status(lambda: rank(standby)) == 503
        assert status(lambda: give(standby, "one", first.labels[:1])) == 503
        until(lambda: standby.statistics.totals()["feedback"] == 1)
        with pytest.raises(StoreInUse):
            standby.learning.snapshot().result()
        rank(leader.engine, id="two")
    until(lambda: not standby.following)
    assert standby.healthy
    assert rank(standby, id="one").labels == first.labels
    give(standby, "two", [])
    assert count(standby, "feedback") == 2
    until(lambda: standby.statistics.decisions == 2)
    learned(standby, 2)
    standby.stop()
    with Store(where) as store:
        assert store.epoch == 3  # the leader's, the standby's and this one's
        assert bits(rebuild(store, 0)[0]) == bits(rebuild(store)[0]) == bits(standby.learner)


def test_it_ranks_while_it_follows_if_it_is_asked_to(where):
    with running(where) as leader, LocalServer(create_app(_ranking(where))) as server:
        answer = server.rank([1.0, 2.0, 3.0, 4.0], slots=2, id="mine")
        assert answer.status_code == 200
        found = answer.json()
        assert (found["id"], found["dry_run"]) == (None, True)
        assert [one["label"] for one in found["slate"]] == rank(leader).labels
        ready = server.get("/readyz")  # it cannot write, so it gets no traffic by itself
        assert (ready.status_code, "following another" in ready.text) == (503, True)
        assert "semibandit_following 1.0" in server.get("/metrics").text
        assert server.state()["following"]
        for refused in (
            server.feedback("mine", []),
            server.post("/labels", {"labels": ["new"]}),
            server.post("/snapshot"),
        ):
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "ask that one" in server.feedback("mine", []).json()["detail"]
        assert server.rank([1.0]).status_code == 422
        assert count(leader, "decision") == 1


def _ranking(where):
    return following(where, follow_rank=True)


def test_an_owner_that_lost_its_lock_follows_the_next_one(postgres):
    where = postgres.database()
    with running(where) as first:
        rank(first, id="one")
        second = following(where)
        second.start()
        snapshots = first.store.beside()
        with psycopg.connect(where, autocommit=True) as admin:  # as if the network had broken
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d "
                "ON d.oid = database WHERE locktype = 'advisory' AND d.datname = current_database()"
            )
        until(lambda: not second.following)
        shown = rank(second, id="two")
        assert status(lambda: rank(first, id="three")) == 503
        until(lambda: first.following)
        with pytest.raises(StoreInUse), snapshots:  # a connection without the lock is fenced off
            snapshots.add_snapshot(1, snapshot_of(first.learner).to_bytes())
        give(second, "two", shown.labels[:1])
        until(lambda: first.learning.learned == second.learning.learned == 1)
        assert bits(first.learner) == bits(second.learner)
        second.stop()
        until(lambda: not first.following)
        assert rank(first, id="two").labels == shown.labels
        assert rank(first, id="three").labels
        assert count(first, "decision") == 3


def test_a_standby_that_cannot_learn_all_of_the_log_never_takes_over(where):
    """The owner may remove events that it has learned: a standby may not have."""
    with running(where) as leader:
        standby = following(where)
        standby.start()
        leader.store._db.rows("UPDATE semibandit_meta SET value = '9' WHERE key = 'removed'")
        until(lambda: standby.live_problem is not None)
        assert "before this service had learned them" in standby.live_problem
        assert standby.problem == standby.live_problem
        leader.store._db.rows("UPDATE semibandit_meta SET value = '0' WHERE key = 'removed'")
    with Store(where) as store:  # nobody has the lock
        assert store.epoch == 2
    assert status(lambda: rank(standby)) == 503
    standby.stop()


def test_a_standby_ends_in_time(where):
    with Server(where, *BUILD) as leader, Server(where, "--follow", "--grace", 5) as standby:
        assert "follows" in " ".join(standby.output)
        assert visit(leader, "one").status_code == 200
        assert standby.get("/readyz").status_code == 503
        start = time.monotonic()
        assert standby.stop(signal.SIGTERM) == 0
        assert time.monotonic() - start < 5
        assert visit(leader, "two").status_code == 200


def test_the_owner_is_killed_again_and_again(where):
    kills = KILLS["postgresql" if where.startswith("postgresql") else "sqlite"]
    random = np.random.default_rng(3)
    servers = [Server(where, *OPTIONS) for _ in range(2)]
    ended, took = [], []
    load = Load([server.port for server in servers])
    clients = [threading.Thread(target=load.client, args=(i,)) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for kill in range(kills):
            more = len(load.answered) + int(random.integers(3, 60))
            until(lambda more=more: len(load.answered) >= more or load.failures)
            if load.failures:
                break
            old = kill % 2
            assert servers[old].get("/readyz").status_code == 200
            threading.Event().wait(random.random() * 0.01)
            servers[old].kill()
            killed, known = time.monotonic(), len(load.answered) + CLIENTS
            until(lambda known=known: len(load.answered) > known or load.failures)
            took.append(time.monotonic() - killed)
            ended.append(servers[old])
            servers[old] = Server(where, *OPTIONS, port=load.ports[old])
            assert servers[old].get("/readyz").status_code == 503
    finally:
        load.stop.set()
        for client in clients:
            client.join()
        if load.failures:
            for server in servers:
                server.kill()
    assert not load.failures
    assert max(took) < TAKEOVER, took
    last = servers[kills % 2]
    last.until(lambda state: state["backlog"] == 0)
    assert last.post("/snapshot").status_code == 200
    servers[1 - kills % 2].kill()
    last.kill()
    epochs = [int(one) for server in (*ended, *servers) for one in re.findall(EPOCH, _text(server))]
    assert sorted(epochs) == list(range(2, kills + 2))  # each once: one owner at a time
    check_store(where, load)
    with Store(where) as store:
        assert [seq for seq, _ in store.events()] == list(range(1, store.last + 1))


EPOCH = r"writes to the store now \(epoch (\d+)\)"


def _text(server):
    return "".join(server.errors)
