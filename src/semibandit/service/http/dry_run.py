"""`POST /v1/rank?dry_run=true`: what would be decided now, without a trace of it."""

from __future__ import annotations

from urllib.parse import parse_qs

from semibandit._util.checks import nearest, shortened
from semibandit.errors import InputError

__all__ = ["is_dry_run"]


def is_dry_run(query: bytes) -> bool:
    """Whether a query string asks for a dry run; an `InputError` if it says neither yes nor no.

    >>> is_dry_run(b"dry_run=true"), is_dry_run(b"")
    (True, False)
    """
    if not query:
        return False
    try:
        found = parse_qs(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:  # too many fields
        raise InputError("the query has too many fields") from None
    for name in found:
        if name != "dry_run":  # a misspelt one would log a decision
            near = nearest(name, ["dry_run"])
            raise InputError(f"the query has {shortened(name, 60)}: expected dry_run alone{near}")
    given = found["dry_run"]
    if given not in (["true"], ["false"]):
        text = given[0] if len(given) == 1 else given
        raise InputError(f"dry_run = {shortened(text, 60)}: expected true or false")
    return given == ["true"]
