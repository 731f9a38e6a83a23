"""The store: what was written is there, in its order, to the bit, or not at all."""

import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest
from events import EVENTS, decision, plain

import semibandit as sb
from semibandit.errors import (
    DuplicateId,
    FileError,
    InputError,
    MissingExtra,
    MissingFile,
    StoreError,
    StoreMoved,
)
from semibandit.policies.persistence import snapshot_of
from semibandit.store.event import Feedback, pack, unpack
from semibandit.store.store import Store


def test_the_log_comes_back_in_order_to_the_bit(where):
    store = Store.create(where, sb.SlateUCB(4, ["a", "b"]), {"names": ["p", "ü"]})
    assert store.append(EVENTS[:2]) == 2
    assert store.append(EVENTS[2:], waited=2) == len(EVENTS)
    store.close()
    store = Store(where)
    assert store.last == len(EVENTS)
    assert store.waited == 2
    assert store.about == {"names": ["p", "ü"]}
    assert [seq for seq, _ in store.events()] == list(range(1, len(EVENTS) + 1))
    assert [plain(e) for _, e in store.events()] == [plain(e) for e in EVENTS]
    assert [plain(e) for _, e in store.events(3, ["feedback"])] == [plain(EVENTS[5])]
    assert {id: plain(d) for id, d in store.decisions(["two", "none"]).items()} == {
        "two": plain(EVENTS[1])
    }
    assert store.feedback(["one", "two", "none"]) == {"one": EVENTS[5], "two": EVENTS[2]}
    found = [(seq, d and d.id) for seq, _, d in store.learnable_events()]
    assert found == [(3, "two"), (4, None), (5, None), (6, "one"), (10, None)]
    assert store.unanswered(0, 1.5, 20.0) == [(1, "one", True)]
    assert store.count("decision") == 8
    store.close()


def test_pages_are_not_seen(where, monkeypatch):
    monkeypatch.setattr("semibandit.store.store.PAGE", 3)
    store = Store.create(where, sb.SlateUCB(4, 2))
    store.append([decision(f"d{i}") for i in range(10)])
    store.append([Feedback(f"d{i}", 2.0, []) for i in range(10)])
    assert [seq for seq, _ in store.events()] == list(range(1, 21))
    assert [d.id for _, _, d in store.learnable_events()] == [f"d{i}" for i in range(10)]
    assert len(store.decisions(f"d{i}" for i in range(10))) == 10
    store.close()


def test_nothing_can_be_written_too(where):
    with Store.create(where, sb.SlateUCB(4, 2)) as store:
        assert store.append([]) == 0
        assert store.append([], waited=0) == 0
        assert store.append([decision("one")]) == 1


def test_a_group_is_written_whole_or_not_at_all(where):
    store = Store.create(where, sb.SlateUCB(4, 2))
    store.append([decision("one")])
    with pytest.raises(DuplicateId):
        store.append([decision("new"), decision("one")])
    assert store.last == 1
    assert [e.id for _, e in store.events()] == ["one"]
    assert store.append([decision("new")]) == 2
    store.close()


def test_snapshots_are_whole_and_the_first_and_last_two_stay(where, monkeypatch):
    monkeypatch.setattr("semibandit.store.parts.PART", 100)
    learner = sb.SlateUCB(4, 3)
    store = Store.create(where, learner)
    for seq in (3, 5, 9):
        learner.learn(learner.rank(np.arange(4) + seq, 2), [])
        store.add_snapshot(seq, snapshot_of(learner).to_bytes())
    assert store.snapshots() == [0, 5, 9]
    assert store.snapshot(0).t == 1
    assert store.snapshot(9).t == 4
    np.testing.assert_array_equal(
        store.snapshot(9)._arrays()["model.V"], learner._state.arrays()["V"][:6]
    )
    parts = store._db.rows("SELECT DISTINCT seq FROM semibandit_parts ORDER BY seq")
    assert parts == [(0,), (5,), (9,)]
    store.close()


def test_parts_without_their_row_do_not_count(where):
    store = Store.create(where, sb.SlateUCB(4, 3))
    store._db.rows("INSERT INTO semibandit_parts (seq, part, bytes) VALUES (7, 0, ?)", (b"half",))
    assert store.snapshots() == [0]
    learner = sb.SlateUCB(4, 3)
    store.add_snapshot(7, snapshot_of(learner).to_bytes())  # killed while writing it, again
    assert store.snapshot(7).t == 1
    store.close()


def test_one_writer_at_a_time_and_many_readers(where, monkeypatch):
    monkeypatch.setattr("semibandit.store.connect.PATIENCE", 0.0)
    store = Store.create(where, sb.SlateUCB(4, 3))
    store.append([decision("one")])
    reader = Store(where, write=False)
    assert [e.id for _, e in reader.events()] == ["one"]
    reader.close()
    code = (
        "import sys\nfrom semibandit.store import connect\n"
        "connect.PATIENCE = 0.0\n"
        "from semibandit.errors import StoreInUse\nfrom semibandit.store.store import Store\n"
        "try:\n    Store(sys.argv[1])\nexcept StoreInUse as why:\n    print(why)\n"
    )
    other = subprocess.run([sys.executable, "-c", code, where], capture_output=True, text=True)
    assert "another process is using" in other.stdout, other.stderr
    store.close()
    other = subprocess.run([sys.executable, "-c", code, where], capture_output=True, text=True)
    assert (other.stdout, other.returncode) == ("", 0), other.stderr


def test_the_write_ahead_log_begins_anew_though_there_is_always_more(tmp_path, monkeypatch):
    with Store.create(tmp_path, sb.SlateUCB(3, 2)) as store, store.beside() as tidier:
        monkeypatch.setattr("semibandit.store.sqlite.WAL", 200)  # pages; the owner has its own
        writer = threading.Thread(
            target=lambda: [store.append([decision(f"{i}")]) for i in range(4000)]
        )
        writer.start()
        while writer.is_alive():
            tidier.tidy()
        assert (tmp_path / "semibandit.db-wal").stat().st_size < 1000 * 4096
        assert store.count("decision") == 4000


def test_create_does_not_overwrite(where):
    Store.create(where, sb.SlateUCB(4, 3)).close()
    assert Store.exists(where)
    with pytest.raises(InputError, match="already"):
        Store.create(where, sb.SlateUCB(4, 3))


def test_a_store_of_another_format_is_refused(where):
    store = Store.create(where, sb.SlateUCB(4, 3))
    store._db.rows("UPDATE semibandit_meta SET value = '99' WHERE key = 'format'")
    store.close()
    with pytest.raises(FileError, match="store format 99, this semibandit reads formats up to 3"):
        Store(where)


def test_what_is_no_store_says_so(tmp_path):
    assert not Store.exists(tmp_path)
    with pytest.raises(MissingFile, match=f"there is no store in {tmp_path}"):
        Store(tmp_path)
    (tmp_path / "semibandit.db").write_text("my diary " * 100)
    with pytest.raises(StoreError, match="not a database"):
        Store(tmp_path)
    with pytest.raises(InputError, match="folder or postgresql://"):
        Store("mysql://host/db")
    with pytest.raises(StoreError):
        Store.create("/dev/null/x", sb.SlateUCB(4, 3))


def test_a_database_of_someone_else_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "semibandit.db") as other:
        other.execute("CREATE TABLE diary (day TEXT)")
    other.close()
    assert not Store.exists(tmp_path)
    with pytest.raises(FileError, match="is not a semibandit store"):
        Store(tmp_path)


def test_a_store_that_went_away_may_come_back(tmp_path):
    with Store.create(tmp_path / "s", sb.SlateUCB(4, 3)) as store:
        (tmp_path / "s").rename(tmp_path / "elsewhere")
        for again in (store.reopen, store.beside):
            with pytest.raises(StoreMoved, match=r"semibandit.db was deleted or moved while"):
                again()
        (tmp_path / "elsewhere").rename(tmp_path / "s")
        store.reopen()
        assert store.append([decision("one")]) == 1
        store.close()  # as after a failure: nothing is compared until it is open again
        (tmp_path / "s").rename(tmp_path / "elsewhere")
        with pytest.raises(StoreError, match="there is no store in"):
            store.reopen()
        Store.create(tmp_path / "s", sb.SlateUCB(4, 3)).close()
        with pytest.raises(StoreMoved, match="is another file than the one that was opened"):
            store.reopen()


def test_a_driver_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"semibandit\[postgres\]"):
        Store("postgresql:///nothing")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("UPDATE semibandit_events SET body = '{' WHERE seq = 1", "damaged event: decision 'one'"),
        ("UPDATE semibandit_events SET body = '{}' WHERE seq = 1", "damaged event: decision 'one'"),
        ("UPDATE semibandit_events SET body = '[]' WHERE seq = 3", "damaged event: feedback 'two'"),
        ("UPDATE semibandit_events SET kind = 'rumour' WHERE seq = 1", "unknown kind, 'rumour'"),
        ("UPDATE semibandit_events SET context = X'64FF' WHERE seq = 1", "damaged context"),
        ("UPDATE semibandit_events SET context = NULL WHERE seq = 1", "damaged context"),
        ("DELETE FROM semibandit_events WHERE seq = 2", "event 3 is feedback to 'two'"),
    ],
)
def test_a_damaged_log_says_so(tmp_path, sql, reason):
    with Store.create(tmp_path, sb.SlateUCB(4, 3)) as store:
        store.append(EVENTS)
        store._db.rows(sql)
        with pytest.raises(FileError, match=reason):
            list(store.events()) and list(store.learnable_events())


def test_a_password_is_not_in_the_name(postgres):
    store = Store.create(postgres.database() + "&password=hush", sb.SlateUCB(4, 3))
    assert "hush" not in store.name
    store.close()


@pytest.mark.parametrize("size", [0, 1, 7, 40])
def test_contexts_are_packed_to_the_bit(size):
    random = np.random.default_rng(size)
    for share in (0.0, 0.1, 1.0):
        x = np.where(random.random(size) < share, random.standard_normal(size), 0.0)
        x[::3] = -0.0
        assert unpack(pack(x)).tobytes() == x.tobytes()
