"""Which database a store is in: SQLite in a folder, or PostgreSQL at a URL."""

from __future__ import annotations

from pathlib import Path

from semibandit.errors import InputError
from semibandit.store.database import Database

__all__ = ["connect", "may_exist"]


def connect(where: str | Path, *, write: bool, create: bool = False, lock: bool = True) -> Database:
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
        If the database cannot be reached, read or written.
    """
    lock = write and lock
    if _is_url(where):
        from semibandit.store.postgres import PostgreSQL  # here: each driver only if it is used

        return PostgreSQL(str(where), write=write, lock=lock)
    from semibandit.store.sqlite import SQLite

    return SQLite(_folder(where), write=write, create=create, lock=lock)


def may_exist(where: str | Path) -> bool:
    """False if there is no file to look for a store in; True if a connection must be tried."""
    if _is_url(where):
        return True
    from semibandit.store.sqlite import FILE

    return (_folder(where) / FILE).is_file()


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
