"""Stores of older formats: migrated all at once, or refused with the command to do it."""

import pytest
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app
from semibandit.errors import FileError, StoreError
from semibandit.store import migrate as migration
from semibandit.store.event import Feedback
from semibandit.store.store import Store
from semibandit.store.tables import FORMAT


def older(where):
    """A store as version 2 made it."""
    with Store.create(where, sb.SlateUCB(4, 3)) as store:
        store.append([Feedback("one", 1.0, [])])
        store._db.rows("DROP INDEX semibandit_by_subject")
        store._db.rows("ALTER TABLE semibandit_events DROP COLUMN subject")
        store._db.rows("DELETE FROM semibandit_meta WHERE key IN ('removed', 'highest', 'files')")
        store._db.rows("UPDATE semibandit_meta SET value = '2' WHERE key = 'format'")


def test_a_folder_is_migrated_when_it_is_opened_and_a_server_by_a_command(where):
    older(where)
    if where.startswith("postgresql"):
        with pytest.raises(FileError, match="format 2, this semibandit writes 3: make a backup"):
            Store(where)
        with Store(where, write=False) as store:
            assert len(list(store.events())) == 1
        told = CliRunner().invoke(app, ["migrate", "--store", where])
        assert told.exit_code == 0
        assert "was migrated from format 2 to 3" in told.output
    with Store(where) as store:
        assert store.append([Feedback("two", 2.0, [])]) == 2
        assert store.ids_of("nobody") == []
        assert store.removed == 0
    again = CliRunner().invoke(app, ["migrate", "--store", where])
    assert f"has format {FORMAT} already" in again.output


def test_a_migration_that_fails_changes_nothing(where, monkeypatch):
    older(where)
    with monkeypatch.context() as patch:
        patch.setattr(migration, "SUBJECTS", "CREATE INDEX nonsense ON nothing (nowhere)")
        with pytest.raises((StoreError, FileError)):
            Store(where)
        failed = CliRunner().invoke(app, ["migrate", "--store", where])
        assert failed.exit_code == 2
    with Store(where, write=False) as store:
        assert len(list(store.events())) == 1
    assert CliRunner().invoke(app, ["migrate", "--store", where]).exit_code == 0
    Store(where).close()
