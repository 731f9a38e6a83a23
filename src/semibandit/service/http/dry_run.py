"""`POST /v1/rank?dry_run=true`: what would be decided now, without a trace of it."""

from __future__ import annotations

from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.service.http.query import read_query

__all__ = ["is_dry_run"]


def is_dry_run(query: bytes) -> bool:
    """Whether a query string asks for a dry run; an `InputError` if it says neither yes nor no.

    >>> is_dry_run(b"dry_run=true"), is_dry_run(b"")
    (True, False)
    """
    given = read_query(query, ["dry_run"]).get("dry_run", "false")
    if given not in ("true", "false"):
        raise InputError(f"dry_run = {shortened(given, 60)}: expected true or false")
    return given == "true"
