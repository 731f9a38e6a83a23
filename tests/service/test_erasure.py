"""What is known of a visit or a person leaves the log and all files; the learner goes on."""

import random
import re
import shutil
import sqlite3
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest
from engines import D, count, give, learned, rank, running, status
from events import decision
from learners import bits
from server import BUILD, LocalServer, Server, until

import semibandit as sb
from semibandit.errors import InputError, StoreError, UnknownDecision
from semibandit.service.engine import erasure
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import PendingErasure, PendingFeedback
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store import sqlite
from semibandit.store.event import Feedback, pack, row
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
        assert told["pending"] is None
        assert not any(packed in path.read_bytes() for path in tmp_path.iterdir())


# -- bytes in files ----------------------------------------------------------------------------


class Files:
    """The files of a database, and what is open in it."""

    def __init__(self, where, server):
        self.where, self.server = where, server

    def have(self, names):
        """Which of these names are anywhere in them."""
        folder = Path(self.where)
        if self.server is not None:
            with psycopg.connect(self.where, autocommit=True) as db:
                db.execute("CHECKPOINT")
                oid = db.execute(
                    "SELECT oid FROM pg_database WHERE datname = current_database()"
                ).fetchone()[0]
            folder = self.server.folder / "data" / "base" / str(oid)
        content = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        return {name for name in names if any(name.encode() in one for one in content)}

    @contextmanager
    def read(self):
        """While another program reads the log as it is now."""
        if self.server is not None:
            with psycopg.connect(self.where) as db:
                db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                db.execute("SELECT count(*) FROM semibandit_meta")
                yield
            return
        db = sqlite3.connect(Path(self.where) / "semibandit.db", isolation_level=None)
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM semibandit_events").fetchall()
        yield
        db.close()


@pytest.fixture
def files(where, request):
    is_server = where.startswith("postgresql:")
    return Files(where, request.getfixturevalue("postgres") if is_server else None)


def crowd(engine, n, subjects=20):
    """Visits with ids that are not in order, half of them with feedback; the ids by subject."""
    draw = random.Random(1)
    ids = {f"subject-{i:05}": [] for i in range(subjects)}
    for _ in range(0, n, 50):
        answers = {}
        for _ in range(50):
            id, subject = f"{draw.getrandbits(80):020x}", draw.choice(list(ids))
            ids[subject].append(id)
            answers[id] = Future()
            x = [draw.random() for _ in range(4)]
            engine.submit([engine.pending_rank(x, 2, None, None, id, answers[id], subject)])
        for answer in answers.values():
            answer.result(60)
        told = [(Feedback(id, 0.0, []), Future()) for id in answers if draw.random() < 0.5]
        engine.submit([PendingFeedback(*one) for one in told])
        for _, answer in told:
            answer.result(60)
    until(lambda: engine.learning.backlog == 0)
    return ids


def names(ids, subjects):
    return {*subjects, *(id for subject in subjects for id in ids[subject])}


def test_no_byte_of_a_person_stays_in_any_file(where, files, monkeypatch):
    monkeypatch.setattr(sqlite, "CHECK_EVERY", 0.0)  # a file that shrinks is looked at every time
    with running(where) as engine:
        ids = crowd(engine, 400)
        for first in (0, 3):
            some = list(ids)[first : first + 3]
            assert files.have(names(ids, some)) == names(ids, some)
            told = engine.erase(subjects=some).result()
            assert told["events"] > 60
            assert told["pending"] is engine.eraser.pending is None
            assert not files.have(names(ids, some))
            assert rank(engine).id
            assert engine.healthy
        assert count(engine, "decision") == 2 + sum(len(ids[one]) for one in list(ids)[6:])


def test_what_a_reader_holds_is_pending_until_it_is_gone_also_after_a_restart(
    where, files, monkeypatch
):
    monkeypatch.setattr(erasure, "TRY_AGAIN", 0.02)
    monkeypatch.setattr(erasure, "PAUSE", 0.0)
    engine = running(where).engine
    with LocalServer(create_app(engine)) as server:
        ids = crowd(engine, 100, subjects=2)
        gone, other = ids
        with files.read():
            told = server.post("/v1/events/erase", {"subjects": [gone]}).json()
            assert re.match(HOLDER[files.server is None], told["pending"])
            assert "semibandit_erased_pending 0" not in server.get("/metrics").text
            state = server.state()["erasure"]
            assert (state["events"], state["waits_for"]) == (told["events"], told["pending"])
            server.stop()
            with running(where) as again:
                assert again.eraser.pending.events == told["events"]
                assert again.erase(subjects=[other]).result()["pending"]
                until(lambda: again.eraser.pending.events > told["events"])
                assert files.have(names(ids, ids))
    with running(where) as engine:
        until(lambda: engine.eraser.pending is None)
        assert not files.have(names(ids, ids))


def test_whoever_takes_over_goes_on_with_what_is_pending(where, files, monkeypatch):
    monkeypatch.setattr(erasure, "TRY_AGAIN", 0.02)
    monkeypatch.setattr(erasure, "PAUSE", 0.0)
    leader = running(where).engine
    leader.start()
    ids = crowd(leader, 50, subjects=1)
    standby = Engine(Store(where, lock=False), Settings(follow=True))
    standby.start()
    until(lambda: standby.learning.position == leader.learning.position)
    with files.read():
        assert leader.erase(subjects=list(ids)).result()["pending"]
        assert standby.eraser.pending is None
        leader.stop()
        until(lambda: standby.eraser.pending is not None)
    until(lambda: standby.eraser.pending is None)
    assert not files.have(names(ids, ids))
    standby.stop()


HOLDER = [
    r"a transaction that began before the erasure: process \d+ of the database server$",
    r"a reader of the database, such as an export: it holds the write-ahead log$",
]


def test_a_large_table_waits_for_someone_to_rewrite_it(postgres, monkeypatch):
    monkeypatch.setattr("semibandit.store.postgres.REWRITE_MOST", 1000)
    monkeypatch.setattr(erasure, "TRY_AGAIN", 0.02)
    monkeypatch.setattr(erasure, "PAUSE", 0.0)
    where = postgres.database()
    with running(where) as engine:
        ids = crowd(engine, 100, subjects=2)
        told = engine.erase(subjects=list(ids)[:1]).result()
        assert told["pending"].startswith("VACUUM FULL semibandit_events: its 0 MB are too many")
        with psycopg.connect(where, autocommit=True) as db:
            db.execute("VACUUM FULL semibandit_events")
        until(lambda: engine.eraser.pending is None)
        assert not Files(where, postgres).have(names(ids, list(ids)[:1]))


def test_a_table_that_is_locked_is_rewritten_later(postgres, monkeypatch):
    monkeypatch.setattr(erasure, "TRY_AGAIN", 0.02)
    monkeypatch.setattr(erasure, "TRIES", 1)
    where = postgres.database()
    with running(where) as engine:
        visit(engine, "one")
        with psycopg.connect(where) as other:
            other.execute("LOCK TABLE semibandit_snapshots IN ACCESS SHARE MODE")
            other.execute("LOCK TABLE semibandit_events IN ACCESS SHARE MODE")
            told = engine.erase(["one"]).result()
            assert "can be rewritten (canceling statement due to lock timeout" in told["pending"]
            assert rank(engine).id
        until(lambda: engine.eraser.pending is None)


def test_copies_of_rows_that_sqlite_moved_are_gone_too(tmp_path, monkeypatch):
    draw = random.Random(1)
    ids = [f"{draw.getrandbits(80):020x}" for _ in range(3000)]
    Store.create(tmp_path, sb.SlateUCB(4, 3)).close()
    with sqlite3.connect(tmp_path / "semibandit.db") as db:
        db.execute("PRAGMA secure_delete=OFF")  # as it is, but in some Linux distributions
        rows = [(seq, *row(decision(id))) for seq, id in enumerate(ids, 1)]
        db.executemany("INSERT INTO semibandit_events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    db.close()
    files = Files(str(tmp_path), None)
    with Store(tmp_path) as store:
        monkeypatch.setattr(sqlite, "REWRITE_MOST", 1000)
        assert store.erase(ids[::10], 0.0) == 300
        assert store.scrub().waits.startswith("VACUUM: the database's 1 MB are too many to")
        assert files.have(ids[::10])  # or this tests nothing
    with sqlite3.connect(tmp_path / "semibandit.db") as db:  # as it says
        db.execute("VACUUM")
    db.close()
    with Store(tmp_path) as store:
        assert store.pending_erasure().events == 300
        assert store.scrub() is store.pending_erasure() is None
        assert not files.have(ids[::10])
        assert len(store.decisions(ids)) == 2700


def test_what_no_snapshot_has_learned_is_not_removed(where):
    with running(where) as engine:
        visit(engine, "one")
        learned(engine, 1)
        with (
            engine.store.beside() as store,
            pytest.raises(StoreError, match="no snapshot has learned event 2 yet"),
        ):
            store.erase(["one"], 0.0)
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
