"""Stores of older formats: brought to the present one in place, all at once or not at all."""

from __future__ import annotations

import logging

from semibandit.errors import FileError
from semibandit.store.database import Database
from semibandit.store.tables import FORMAT, META, SUBJECTS, read_format, read_meta, write_meta

__all__ = ["migrate", "migrate_or_refuse"]

log = logging.getLogger("semibandit")
LONG = 3600.0  # seconds that a statement may take: it may look at the whole log


def migrate_or_refuse(db: Database) -> None:
    """Migrate a store of an older format if the database can keep a backup of itself.

    Raises
    ------
    FileError
        If the database is not a store, of a newer format, or of an older one and on a server, whose
        backups are not ours to make: the text has the command to migrate it.
    """
    form = read_format(db)
    if form == FORMAT:
        return
    with db.allowing(LONG):
        kept = db.back_up(f"format-{form}")
    if kept is None:
        raise FileError(
            f"{db.name} has store format {form}, this semibandit writes {FORMAT}: make a backup "
            "of the database, then run `semibandit migrate --store URL`"
        )
    migrate(db)
    log.warning(
        "%s was migrated from format %d to %d; as it was, it is in %s", db.name, form, FORMAT, kept
    )


def migrate(db: Database) -> int:
    """Bring the store to the present format; the format that it had is returned."""
    form = read_format(db)
    if form == FORMAT:
        return form
    with db.allowing(LONG), db.transaction():
        if form < 3:  # format 2 only has more in its bodies than format 1
            db.rows("ALTER TABLE semibandit_events ADD COLUMN subject TEXT")
            db.rows(SUBJECTS)
        for key, value in META.items():
            if read_meta(db, key) is None:
                write_meta(db, key, value)
        write_meta(db, "format", str(FORMAT))
    return form
