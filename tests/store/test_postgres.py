"""PostgreSQL: nobody waits for ever for a server that does not answer."""

import time

import pytest

from semibandit.errors import StoreDamaged, StoreError, StoreFull
from semibandit.store.connect import connect


def test_a_statement_has_a_timeout_and_may_be_given_more(postgres):
    db = connect(postgres.database(), write=True, timeout=0.2)
    with pytest.raises(StoreError, match="statement timeout"):
        db.rows("SELECT pg_sleep(5)")
    with db.allowing(5):
        assert db.rows("SELECT pg_sleep(0.3) IS NULL") == [(False,)]
    with pytest.raises(StoreError, match="statement timeout"):
        db.rows("SELECT pg_sleep(5)")
    db.close()


def test_a_server_that_ignores_its_timeouts_is_cut_off(postgres):
    db = connect(postgres.database(), write=True, timeout=0.2)
    db.rows("SET statement_timeout TO 0")
    start = time.monotonic()
    with pytest.raises(StoreError, match=r"did not answer within 0.2 s"):
        db.rows("SELECT pg_sleep(30)")
    assert time.monotonic() - start < 0.2 + 1.5
    db.close()


def test_a_transaction_may_be_given_more_time_and_gives_it_back(postgres):
    db = connect(postgres.database(), write=True, timeout=0.5)
    with db.allowing(60), db.allowing(30):
        assert db.rows("SHOW statement_timeout") == [("30s",)]
    with db.allowing(60):
        with db.allowing(30):
            pass
        assert db.rows("SHOW statement_timeout") == [("1min",)]
    assert db.rows("SHOW lock_timeout") == [("500ms",)]
    db.close()


def test_a_lock_of_another_session_is_not_waited_for(postgres):
    where = postgres.database()
    one, other = (connect(where, write=True, lock=False, timeout=0.3) for _ in range(2))
    one.rows("CREATE TABLE t (x INTEGER)")
    with one.transaction():
        one.rows("LOCK TABLE t")
        with pytest.raises(StoreError, match="timeout"):
            other.rows("INSERT INTO t VALUES (1)")
    other.rows("INSERT INTO t VALUES (2)")
    assert one.rows("SELECT x FROM t") == [(2,)]
    one.close()
    other.close()


def test_an_open_transaction_of_a_process_that_sleeps_is_ended(postgres):
    where = postgres.database()
    asleep, other = (connect(where, write=True, lock=False, timeout=0.2) for _ in range(2))
    other.rows("CREATE TABLE t (x INTEGER)")
    asleep.rows("BEGIN")
    asleep.rows("LOCK TABLE t")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            other.rows("INSERT INTO t VALUES (1)")
            break
        except StoreError:
            pass
    assert other.rows("SELECT x FROM t") == [(1,)]
    with pytest.raises(StoreError):
        asleep.rows("INSERT INTO t VALUES (2)")
    asleep.close()
    other.close()


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("53100", StoreFull, "the server's disk is full: make room on it"),
        ("XX001", StoreDamaged, "the database is damaged"),
        ("XX002", StoreDamaged, "the database is damaged"),
    ],
)
def test_what_the_server_complains_of_is_said_with_what_to_do(postgres, code, kind, text):
    db = connect(postgres.database(), write=True)
    try:
        with pytest.raises(kind, match=text):
            db.rows(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$")
    finally:
        db.close()
