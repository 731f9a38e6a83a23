"""A clock that was wrong: deadlines and retention follow the right one, and somebody is told."""

import pytest
from engines import SetClock, count, give, rank, running, status
from server import Server, until

from semibandit.service.engine.retention import Retention
from semibandit.service.engine.time_series import HOUR, MINUTE
from semibandit.store.ahead import Ahead, Mark
from semibandit.store.store import Store

DAYS = 10 * 86400.0
SETTLE = 11.0  # seconds after which the service believes a clock that has jumped
KEEP = 1000.0


def visits(engine, first, n, answer=True):
    for i in range(first, first + n):
        labels = rank(engine, id=f"v{i}").labels
        if answer:
            give(engine, f"v{i}", labels[:1])
    until(lambda: engine.learning.backlog == 0)


def set_clock(engine, clock, ahead):
    """Set it, and let the service come to believe it."""
    clock.ahead = ahead
    for seconds in (0.0, SETTLE):
        clock.passed += seconds
        rank(engine)


def remove(engine):
    """What retention does now; how many events have left."""
    retention = Retention(
        engine.store, engine.settings, engine.learning, engine.statistics, engine.clock
    )
    with engine.store.beside() as store:
        retention.remove(store, engine.clock.time)
    return retention.removed


def test_a_clock_that_is_ahead_for_a_moment_changes_nothing(where):
    clock = SetClock()
    with running(where, clock=clock, keep=KEEP, wait=100.0) as engine:
        visits(engine, 0, 5, answer=False)
        clock.ahead = DAYS
        visits(engine, 5, 5, answer=False)
        assert remove(engine) == 0
        assert [give(engine, f"v{i}", []).waited for i in range(10)] == [False] * 10
        clock.ahead = 0.0
        visits(engine, 10, 1)
        assert engine.clock.ahead == 0.0
        with engine.store.beside() as store:
            assert abs(store.last_time() - clock.time()) < 60
            assert all(abs(event.at - clock.time()) < 60 for _, event in store.events())


def test_events_of_the_future_age_from_when_they_are_seen(where):
    clock = SetClock()
    with running(where, clock=clock, keep=KEEP, wait=100.0) as engine:
        set_clock(engine, clock, DAYS)
        visits(engine, 0, 5, answer=False)
        set_clock(engine, clock, 0.0)
        visits(engine, 5, 5, answer=False)
        assert 0.99 * DAYS < engine.clock.ahead < DAYS
        assert give(engine, "v0", []).waited is give(engine, "v5", []).waited is False
        now = engine.clock.time
        with engine.store.beside() as store:
            assert store.last_time() == pytest.approx(now, abs=60)
        assert engine.statistics.recent(MINUTE, 60, now)["decisions"] == 1 + 1 + 5
        assert engine.statistics.recent(HOUR, 24, now)["decisions"] == 1 + 1 + 5
        clock.passed += 90.0
        rank(engine)
        assert engine.statistics.totals()["waited"] == 1  # when the clock was ahead
        clock.passed += 20.0
        rank(engine)
        until(lambda: engine.statistics.totals()["waited"] == 12)
        assert status(lambda: give(engine, "v1", ["a"])) == 409
        until(lambda: engine.learning.backlog == 0)
        assert remove(engine) == 0
        clock.passed += KEEP + 20.0
        rank(engine)
        assert status(lambda: give(engine, "v0", [])) == 404
        engine.learning.snapshot().result()
        remove(engine)
        with engine.store.beside() as store:
            assert not store.decisions(f"v{i}" for i in range(10))
        assert count(engine, "decision") == 3  # the last ones, of which two were just given up


def test_a_log_of_the_future_is_taken_up_by_a_right_clock(where, caplog):
    with running(where, clock=SetClock(DAYS)) as engine:
        visits(engine, 0, 5)
        visits(engine, 5, 5, answer=False)
        assert engine.clock.ahead == 0.0  # nobody can know
    clock = SetClock()
    with running(where, clock=clock, keep=KEEP, wait=100.0) as engine:
        set_clock(engine, clock, 0.0)
        first = engine.clock.ahead
        assert first > 0.99 * DAYS
    with running(where, clock=clock, keep=KEEP, wait=100.0) as engine:
        clock.passed += 100.0
        rank(engine)
        assert engine.clock.ahead == pytest.approx(first - 100.0, abs=60)
        until(lambda: engine.statistics.totals()["waited"] >= 5)
        clock.passed += KEEP + 20.0
        rank(engine)
        until(lambda: engine.learning.backlog == 0)
        engine.learning.snapshot().result()
        remove(engine)
        assert count(engine, "decision") <= 4
    assert caplog.text.count("ahead of this machine's clock") == 1


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_readyz_the_page_and_the_log_say_so(where):
    with running(where, clock=SetClock(DAYS)) as engine:
        visits(engine, 0, 3)
    with Server(where, "--wait", "0.1", "--keep", "2s", "--store-timeout", "0.1") as server:
        health = until(lambda: server.get("/readyz").json().get("problems"))
        assert server.get("/readyz").status_code == 200
        assert "has events that are 10.0 days ahead of this machine's clock" in health[0]
        (problem,) = [one for one in server.state()["problems"] if "clock" in one["what"]]
        assert health == [f"{problem['what']} {problem['do']}"]
        assert server.rank(id="now").status_code == 200
        server.until(lambda state: state["totals"]["waited"] == 1)
        until(lambda: _decisions(where) == 0)  # the future's, too
        assert server.stop() == 0
    assert "".join(server.errors).count("ahead of this machine's clock") == 1


def _decisions(where):
    with Store(where, write=False) as store:
        return store.count("decision")


def test_marks_are_the_first_that_saw_an_event():
    ahead = Ahead()
    for i in range(60):
        ahead.add(Mark(seq=10 * i, seen=100.0 * i, at=1e6))
        ahead.add(Mark(seq=10 * i, seen=100.0 * i + 50, at=1e6))  # the same events again
    assert len(ahead.marks) == 50
    assert ahead.counts_from(595, 1e6, 1e5) == 1e5  # not seen yet
    assert ahead.counts_from(590, 1e6, 1e5) == 5900.0
    assert ahead.counts_from(200, 1e6, 1e5) == 2000.0
    assert ahead.counts_from(1, 1e6, 1e5) == 1000.0  # by the oldest that is kept
    assert ahead.counts_from(590, 1e6, 5000.0) == 5000.0  # the clock went back since
    assert ahead.counts_from(590, 7.0, 1e5) == 7.0
