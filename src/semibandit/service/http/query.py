"""The query of a request that changes something: what is not known would be a mistake unseen."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs

from semibandit._util.checks import nearest, shortened
from semibandit.errors import InputError

__all__ = ["read_query"]


def read_query(query: bytes, known: Sequence[str]) -> dict[str, str]:
    """The values of a query string by name; an `InputError` if a name is unknown or given twice.

    >>> read_query(b"subject=user-7", ["subject"])
    {'subject': 'user-7'}
    """
    try:
        found = parse_qs(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:  # too many fields
        raise InputError("the query has too many fields") from None
    for name, values in found.items():
        if name not in known:
            expected = " and ".join(known) + " alone" if known else "no query here"
            near = nearest(name, known)
            raise InputError(f"the query has {shortened(name, 60)}: expected {expected}{near}")
        if len(values) > 1:
            raise InputError(f"the query has {name} {len(values)} times: expected it once")
    return {name: value for name, (value,) in found.items()}
