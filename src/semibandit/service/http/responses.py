"""JSON responses, as every path of the service answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Response

from semibandit._util.json import to_json

__all__ = ["NOT_KEPT", "JsonResponse"]

NOT_KEPT = {  # of every answer that holds data: no cache keeps it, no browser guesses what it is
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}
PLAIN = [(name.encode(), value.encode()) for name, value in NOT_KEPT.items()]
HEADERS: dict[int, list[tuple[bytes, bytes]]] = {  # that go with a status, besides the usual ones
    401: [(b"www-authenticate", b"Bearer")],
    413: [(b"connection", b"close")],
    503: [(b"retry-after", b"1")],
}


class JsonResponse(Response):
    """Content as JSON, written by `to_json`. It is made for every request, so it does no more."""

    def __init__(
        self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status_code, self.background = status, None
        self.body = to_json(content)
        self.raw_headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body)).encode()),
            *PLAIN,
            *HEADERS.get(status, ()),
        ]
        for name, value in (headers or {}).items():
            self.raw_headers.append((name.lower().encode(), value.encode()))
