"""Requests that a page of another site makes a browser send: they must change nothing (CSRF).

A browser says where a request comes from, in Sec-Fetch-Site or Origin; other clients send neither.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["is_cross_site"]


def is_cross_site(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser says that the request comes from another site's page.

    >>> is_cross_site({b"host": b"localhost:8000", b"origin": b"https://evil.example"})
    True
    >>> is_cross_site({b"host": b"localhost:8000"})
    False
    """
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site.lower() not in (b"same-origin", b"none")
    origin = headers.get(b"origin")
    if origin is None:
        return False
    return origin.lower().partition(b"://")[2] != headers.get(b"host", b"").lower()
