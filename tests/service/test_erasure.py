"""What is known of a visit or a person leaves the log and all files; the learner goes on."""

import shutil
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from engines import D, count, give, learned, rank, running, status
from learners import bits
from server import until

import semibandit as sb
from semibandit.errors import StoreError, UnknownDecision
from semibandit.service.engine.requests import PendingErasure
from semibandit.store.event import pack
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

SECRET = (123456.789, 2.0, 3.0, 4.0)


def visit(engine, id, context=(1.0, 2.0, 3.0, 4.0), subject=None, answer=True):
    decision = engine.ask(
        lambda future: engine.pending_rank(list(context), 2, None, None, id, future, subject)
    )
    if answer:
        give(engine, id, decision.labels[:1])
    return decision


def test_a_visit_leaves_the_log_and_the_learner_goes_on_to_the_bit(where):
    with running(where, snapshot_every=5) as engine:
        for i in range(12):
            visit(engine, f"v{i}", (1.0, i, i % 3, 0.5), answer=i % 4 > 0)
        learned(engine, 9)
        live = bits(engine.learner)
        told = engine.erase(["v7"], None).result()
        assert told["events"] == 2
        assert "stays in the learner's numbers" in told["stays"]
        assert engine.erase(["v0"], None).result()["events"] == 1  # it had no feedback
        assert status(lambda: give(engine, "v7", [])) == 404
        with pytest.raises(UnknownDecision, match="'v7', but no decision has that id"):
            engine.erase(["v7"], None).result()
        assert bits(engine.learner) == live
        visit(engine, "v7")  # the id is free again
        learned(engine, 10)
        live = bits(engine.learner)
    with Store(where) as store:
        assert bits(rebuild(store)[0]) == live


def test_a_person_leaves_with_all_visits(where):
    with running(where) as engine:
        for i in range(6):
            visit(engine, f"v{i}", subject="anna" if i % 2 else "bert")
        assert engine.erase(None, "anna").result()["events"] == 6
        assert engine.erase(None, "anna").result()["events"] == 0
        assert count(engine, "decision") == 3
        with engine.store.beside() as store:
            assert store.ids_of("bert") == ["v0", "v2", "v4"]


def test_the_last_event_that_is_erased_is_not_given_again(where):
    with running(where) as engine:
        visit(engine, "v0")
        visit(engine, "v1")
        learned(engine, 2)
        engine.erase(["v1"], None).result()
        live, last = bits(engine.learner), engine.store.last
    with running(where) as engine:
        assert engine.store.last == last == 4
        assert bits(engine.learner) == live
        visit(engine, "v2")
        assert engine.store.last == 6


def test_nothing_of_it_is_left_in_any_file(tmp_path):
    files = Path(__file__).parents[1] / "compat" / "files" / "store_format_2"
    where = tmp_path / "s"
    shutil.copytree(files, where)
    needle = b'"tags"'  # of every decision's body
    with running(where, snapshot_every=10) as engine:  # migrated: there is a backup, too
        ids = [f"v{i}" for i in range(40)]
        engine.erase(ids, None).result()
        for path in where.iterdir():
            assert not _decisions_in(path, needle), path


def test_a_context_is_overwritten_in_the_database_and_its_log(tmp_path):
    with running(tmp_path, sb.SlateUCB(D, list("abcdef"), scale="unit")) as engine:
        visit(engine, "one", SECRET)
        for i in range(5):
            visit(engine, f"other-{i}")
        packed = pack(np.array(SECRET))
        assert any(packed in path.read_bytes() for path in tmp_path.iterdir())
        told = engine.erase(["one"], None).result()
        assert "write-ahead" not in told["stays"]
        assert not any(packed in path.read_bytes() for path in tmp_path.iterdir())


def test_what_no_snapshot_has_learned_is_not_removed(where):
    with running(where) as engine:
        visit(engine, "one")
        learned(engine, 1)
        with (
            engine.store.beside() as store,
            pytest.raises(StoreError, match="no snapshot has learned event 2 yet"),
        ):
            store.erase(["one"])
        assert count(engine, "feedback") == count(engine, "decision") == 1


def test_a_visit_that_is_being_erased_is_not_given_up_as_late(tmp_path):
    with running(tmp_path, wait=0.5) as engine:
        visit(engine, "one", answer=False)
        engine.writer.erasing.add("one")
        visit(engine, "two", answer=False)
        with engine.store.beside() as store:
            until(lambda: store.waited >= 2)
            assert store.feedback(["one", "two"]).keys() == {"two"}
        assert status(lambda: give(engine, "one", [])) == 409
        assert status(lambda: rank(engine, id="one")) == 409


def test_an_erasure_is_answered_beside_an_id_that_was_used_before(tmp_path):
    with running(tmp_path) as engine:
        before = visit(engine, "one")
        visit(engine, "two")
        engine.writer.recent.forget()  # so the log is first to see that the id is not new
        closed, ranked = Future(), Future()
        again = engine.pending_rank([1.0, 2.0, 3.0, 4.0], 2, None, None, "one", ranked)
        engine.queue.put([PendingErasure(frozenset({"two"}), closed), again])
        assert closed.result(60) is None
        assert ranked.result(60).labels == before.labels


def test_it_says_what_stays(tmp_path):
    with running(tmp_path / "a", sb.SlateUCB(D, 3, model=sb.Dual(sb.rbf(1.0)))) as engine:
        visit(engine, "one")
        assert "keeps the contexts" in engine.erase(["one"], None).result()["stays"]
    with running(tmp_path / "b") as engine:
        assert "keeps the contexts" not in engine.erase(None, "nobody").result()["stays"]


def _decisions_in(path, needle):
    """Whether a file has the body of a decision; snapshots of features have no such key."""
    return b'"slots"' in path.read_bytes() and needle in path.read_bytes()
