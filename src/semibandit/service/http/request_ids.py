"""Request ids: the client's own if it can be used, or one of ours."""

from __future__ import annotations

import itertools
import re
import secrets

__all__ = ["request_id"]

USABLE = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,100}")
PROCESS = secrets.token_hex(4)  # so that ids of two processes differ
_numbers = itertools.count(1)


def request_id(header: bytes | None) -> str:
    """The id of a request whose X-Request-ID header is this.

    >>> request_id(b"visit-7"), request_id(b"two words") != "two words"
    ('visit-7', True)
    """
    if header is not None and USABLE.fullmatch(header):
        return header.decode()
    return f"{PROCESS}-{next(_numbers):x}"
