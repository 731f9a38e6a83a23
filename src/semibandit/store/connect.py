"""Which database a store is in: SQLite in a folder, or PostgreSQL at a URL."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from semibandit.errors import InputError, StoreInUse
from semibandit.store.database import Database

__all__ = ["PATIENCE", "READ_TIMEOUT", "TIMEOUT", "connect", "may_exist", "take_lock"]

log = logging.getLogger("semibandit")
PATIENCE = 10.0  # seconds: a server may not have noticed yet that the last writer died
TIMEOUT = 5.0  # seconds that a call may take
READ_TIMEOUT = 60.0  # the same for those who only read, and for whom nobody waits
POLL = 0.05  # seconds between two tries to get the lock


def connect(
    where: str | Path,
    *,
    write: bool,
    create: bool = False,
    lock: bool = True,
    timeout: float | None = None,
    patience: float | None = None,
) -> Database:
    """A connection to the database at a folder or postgresql:// URL.

    Parameters
    ----------
    where : str or path
        The folder or URL.
    write : bool
        Whether it will be written to.
    create : bool
        Whether the folder and its database may be new.
    lock : bool
        Whether a connection that writes locks the store against other processes.
    timeout : float, optional
        Seconds that connecting, a statement or waiting for someone else's transaction may take;
        5 by default, 60 if nothing will be written.
    patience : float, optional
        Seconds to wait for the lock, 10 by default.

    Raises
    ------
    InputError
        If `where` is a URL of another kind.
    MissingFile
        If there is no store in the folder, and none may be created.
    MissingExtra
        If the driver of PostgreSQL is not installed.
    StoreInUse
        If another process writes to the store.
    StoreError
        If the database cannot be reached, read or written, or does not answer in time.
    """
    timeout = timeout or (TIMEOUT if write else READ_TIMEOUT)
    db = _open(where, write, create, timeout)
    if write and lock and not take_lock(db, PATIENCE if patience is None else patience):
        db.close()
        raise StoreInUse(f"another process is using {db.name}")
    return db


def take_lock(db: Database, patience: float) -> bool:
    """Try to get the lock for so many seconds, at least once; whether it was got."""
    until, told = time.monotonic() + patience, False
    try:
        while not db.try_lock():
            if time.monotonic() >= until:
                return False
            if not told:
                log.info("another process uses %s: waiting %g s for its end", db.name, patience)
                told = True
            time.sleep(POLL)
    except BaseException:
        db.close()
        raise
    return True


def may_exist(where: str | Path) -> bool:
    """False if there is no file to look for a store in; True if a connection must be tried."""
    if _is_url(where):
        return True
    from semibandit.store.sqlite import FILE

    return (_folder(where) / FILE).is_file()


def _open(where: str | Path, write: bool, create: bool, timeout: float) -> Database:
    if _is_url(where):
        from semibandit.store.postgres import PostgreSQL  # here: each driver only if it is used

        return PostgreSQL(str(where), write=write, timeout=timeout)
    from semibandit.store.sqlite import SQLite

    return SQLite(_folder(where), write=write, create=create, timeout=timeout)


def _is_url(where: str | Path) -> bool:
    text = str(where)
    if text.startswith(("postgresql://", "postgres://")):
        return True
    if "://" in text:
        scheme = text.split("://")[0]
        raise InputError(f"store = {scheme}://..., but it must be a folder or postgresql://...")
    return False


def _folder(where: str | Path) -> Path:
    return Path(where).expanduser()
