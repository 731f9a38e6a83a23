"""What is known of a visit or a person leaves the log and all files; the learner goes on."""

import shutil
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from engines import D, count, give, learned, rank, running, status
from learners import bits
from server import BUILD, Server, until

import semibandit as sb
from semibandit.errors import InputError, StoreError, UnknownDecision
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
        told = engine.erase(["v7"]).result()
        assert told["events"] == 2
        assert "stays in the learner's numbers" in told["stays"]
        assert engine.erase(["v0"]).result()["events"] == 1  # it had no feedback
        assert status(lambda: give(engine, "v7", [])) == 404
        with pytest.raises(UnknownDecision, match="'v7', but no decision has that id"):
            engine.erase(["v7"]).result()
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
        assert engine.erase(subjects=["anna"]).result()["events"] == 6
        assert engine.erase(subjects=["anna"]).result()["events"] == 0
        assert count(engine, "decision") == 3
        with engine.store.beside() as store:
            assert store.ids_of("bert") == ["v0", "v2", "v4"]


def test_many_are_erased_at_once_or_only_counted(where):
    with running(where) as engine:
        for i in range(6):
            visit(engine, f"v{i}", subject="abc"[i % 3], answer=i > 0)
        asked = {"ids": ["v0", "v1"], "subjects": ["b", "c", "nobody"]}
        told = engine.erase(**asked, dry_run=True).result()
        assert (told["events"], told["dry_run"]) == (9, True)
        with pytest.raises(UnknownDecision, match="'v9'"):
            engine.erase(["v9", "v1"], ["a"]).result()
        assert count(engine, "decision") == 6
        assert engine.erase(**asked).result()["events"] == 9
        with engine.store.beside() as store:
            assert store.decisions(f"v{i}" for i in range(6)).keys() == {"v3"}


@pytest.mark.parametrize(("first", "second"), [("a", "b"), (None, "b"), ("a", None)])
def test_the_same_id_with_another_subject_is_another_request(tmp_path, first, second):
    with running(tmp_path) as engine:
        visit(engine, "one", subject=first)
        for _ in range(2):
            assert status(lambda: visit(engine, "one", subject=second, answer=False)) == 409
            assert visit(engine, "one", subject=first, answer=False).labels
            engine.writer.recent.forget()  # the log says the same
        answers = [Future(), Future()]  # in one group
        asked = [
            engine.pending_rank([1.0, 2.0, 3.0, 4.0], 2, None, None, "two", answer, subject)
            for answer, subject in zip(answers, (first, second), strict=True)
        ]
        engine.submit(asked)
        assert answers[0].result(60).subject == first
        assert status(lambda: answers[1].result(60)) == 409


def test_ids_that_no_path_can_have_are_erased_by_a_client(tmp_path):
    with Server(tmp_path, *BUILD) as server, sb.Client(server.url) as client:
        for id in (".", "..", "erase"):
            client.rank([1, 0, 0, 0], 1, id=id, subject=f"s-{id}")
        client.learn("..", [])
        assert client.erase([".", ".."], dry_run=True)["events"] == 3
        assert client.erase([".", ".."])["events"] == 3
        assert client.erase(subjects=["s-erase", "s-."])["events"] == 1
        with pytest.raises(UnknownDecision, match=r"id = '\.\.', but no decision has that id"):
            client.erase([".."])
        with pytest.raises(InputError, match="ids must be a list"):
            client.erase("..")
        with pytest.raises(InputError, match="both empty"):
            client.erase()
        assert client.state()["decisions"] == 3  # totals stay


def test_the_last_event_that_is_erased_is_not_given_again(where):
    with running(where) as engine:
        visit(engine, "v0")
        visit(engine, "v1")
        learned(engine, 2)
        engine.erase(["v1"]).result()
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
        engine.erase(ids).result()
        for path in where.iterdir():
            assert not _decisions_in(path, needle), path


def test_a_context_is_overwritten_in_the_database_and_its_log(tmp_path):
    with running(tmp_path, sb.SlateUCB(D, list("abcdef"), scale="unit")) as engine:
        visit(engine, "one", SECRET)
        for i in range(5):
            visit(engine, f"other-{i}")
        packed = pack(np.array(SECRET))
        assert any(packed in path.read_bytes() for path in tmp_path.iterdir())
        told = engine.erase(["one"]).result()
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
        assert "keeps the contexts" in engine.erase(["one"]).result()["stays"]
    with running(tmp_path / "b") as engine:
        assert "keeps the contexts" not in engine.erase(subjects=["nobody"]).result()["stays"]


def _decisions_in(path, needle):
    """Whether a file has the body of a decision; snapshots of features have no such key."""
    return b'"slots"' in path.read_bytes() and needle in path.read_bytes()
