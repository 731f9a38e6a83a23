"""Old events leave the log; the learner, and what is not old, stay."""

import time

import pytest
from engines import as_if_killed, count, give, rank, running, status
from learners import bits
from server import until
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.errors import FileError
from semibandit.service.engine.retention import Retention
from semibandit.service.settings import Timeouts
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

KEEP = 1000.0


def visits(engine, first, n):
    for i in range(first, first + n):
        labels = rank(engine, context=(1.0, i % 7, i % 3, 0.5), id=f"v{i}").labels
        if i % 5:
            give(engine, f"v{i}", labels[:1] if i % 3 else [])
    until(lambda: engine.learning.backlog == 0)


def remove(engine, later):
    """As the background thread would, so many seconds later."""
    retention = Retention(
        engine.store, engine.settings, engine.learning, engine.statistics, engine.clock
    )
    with engine.store.beside() as store:
        retention.remove(store, time.time() + later)
    return retention.removed


def test_old_events_leave_and_the_learner_goes_on_to_the_bit(where):
    with running(where, keep=KEEP, snapshot_every=10) as engine:
        visits(engine, 0, 60)
        engine.learning.snapshot().result()
        last = engine.store.last
        assert remove(engine, later=KEEP / 2) == 0
        assert remove(engine, later=2 * KEEP) > 50
        assert count(engine, "decision") < 15
        visits(engine, 60, 20)
        live = bits(engine.learner)
    with Store(where) as store:
        again, _ = rebuild(store)
        assert bits(again) == live
        assert store.last == last + 20 + 16
        with pytest.raises(FileError, match="was removed from the log"):
            rebuild(store, 0)
        decisions = store.decisions(f"v{i}" for i in range(80))
        feedback = store.feedback(f"v{i}" for i in range(80))
        assert feedback.keys() <= decisions.keys()
        assert decisions.keys() >= {f"v{i}" for i in range(60, 80)}


def test_a_log_of_which_everything_left_counts_on(where):
    with running(where, keep=KEEP) as engine:
        visits(engine, 0, 10)
        engine.learning.snapshot().result()
        last, live = engine.store.last, bits(engine.learner)
        assert remove(engine, later=2 * KEEP) == last
    with running(where, keep=KEEP) as engine:
        assert engine.store.last == last
        assert bits(engine.learner) == live
        visits(engine, 10, 2)
        assert engine.store.last == last + 3


def test_feedback_that_no_snapshot_has_learned_stays_with_its_decision(where):
    with running(where, keep=KEEP) as engine:
        visits(engine, 0, 8)
        engine.learning.snapshot().result()
        rank(engine, id="late")
        engine.learning.snapshot().result()
        give(engine, "v5", [])  # long after its decision, which is before the snapshots
        until(lambda: engine.learning.backlog == 0)
        remove(engine, later=2 * KEEP)
        with engine.store.beside() as store:
            assert store.decisions(["v5"]).keys() == {"v5"}
            assert not store.decisions(["v4"])
        live = bits(engine.learner)
        as_if_killed(engine)
    with Store(where) as store:
        assert bits(rebuild(store)[0]) == live


def test_decisions_that_are_about_to_leave_take_no_feedback(tmp_path):
    with running(tmp_path, keep=1e-9) as engine:
        labels = rank(engine, id="one").labels
        assert status(lambda: give(engine, "one", labels)) == 404


def test_it_happens_by_itself(where):
    with running(where, keep=0.05, timeouts=Timeouts(store=0.05)) as engine:
        for i in range(5):
            rank(engine, id=f"v{i}")
        until(lambda: engine.retention.removed == 5)
        assert count(engine, "decision") == 0


def test_a_damaged_snapshot_is_not_relied_on(tmp_path, caplog):
    with running(tmp_path, keep=KEEP) as engine:
        visits(engine, 0, 10)
        place = engine.learning.snapshot().result()
        engine.store._db.rows(
            "UPDATE semibandit_parts SET bytes = zeroblob(length(bytes)) WHERE seq = ?", (place,)
        )
        assert remove(engine, later=2 * KEEP) == 2  # decisions without feedback
        assert count(engine, "feedback") == 8
    assert "is damaged: nothing is removed" in caplog.text


def test_whoever_replays_what_is_left_is_told(tmp_path):
    with running(tmp_path / "s", keep=KEEP) as engine:
        visits(engine, 0, 10)
        engine.learning.snapshot().result()
        remove(engine, later=2 * KEEP)
        visits(engine, 10, 3)
        removed = engine.learning.snapshot_position
    found = CliRunner().invoke(app, ["replay", str(tmp_path / "s")])
    assert f"feedback up to event {removed} has left the log" in " ".join(found.output.split())
    told = CliRunner().invoke(
        app, ["export", str(tmp_path / "l.jsonl"), "--store", str(tmp_path / "s")]
    )
    assert "other events have left the log" in told.output
    assert f"it is whole after event {removed}" in told.output
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700  # it is about visitors
