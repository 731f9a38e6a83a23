"""The access log: one line for a request, without the values of its query and without its key."""

from __future__ import annotations

from starlette.types import Scope

from semibandit.service.logs import ACCESS

__all__ = ["log_access"]

LONGEST = 200  # characters of a path


def log_access(scope: Scope, status: int, seconds: float, sent: int) -> None:
    """Write the line of a request that was answered; its id is added by the log's format."""
    path = _path(scope)
    milliseconds = round(1000 * seconds, 2)
    method = scope["method"]
    fields = {
        "method": method, "path": path, "status": status, "ms": milliseconds, "bytes": sent,
    }  # fmt: skip
    text = "%s %s %d %.2f ms %d bytes"
    ACCESS.info(text, method, path, status, milliseconds, sent, extra={"fields": fields})


def _path(scope: Scope) -> str:
    """As it was sent: a decoded one may hold a line break."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    text = raw.partition(b"?")[0].decode("ascii", "backslashreplace")
    shown = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text[:LONGEST])
    return shown if len(text) <= LONGEST else f"{shown}..."
