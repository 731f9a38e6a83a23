"""What the service writes to stderr: every line with its time and level, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import Any

from semibandit.service.settings import LogSettings

__all__ = ["ACCESS", "REQUEST_ID", "JsonFormatter", "TextFormatter", "configure_logs"]

ACCESS = logging.getLogger("semibandit.access")
REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)  # of this request


class TextFormatter(logging.Formatter):
    """A line for people: time, level, logger, text, and the request's id if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        text = _one_line(record.getMessage())
        id = REQUEST_ID.get()
        request = "" if id is None else f" (request {id})"
        line = f"{_time(record)} {record.levelname} {record.name}: {text}{request}"
        return line if record.exc_info is None else f"{line}\n{self._traceback(record)}"

    def _traceback(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""


class JsonFormatter(TextFormatter):
    """The same as one JSON object a line, also a traceback; access lines have fields."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        id = REQUEST_ID.get()
        if id is not None:
            entry["request_id"] = id
        entry |= getattr(record, "fields", {})
        if record.exc_info is not None:
            entry["traceback"] = self._traceback(record)
        return json.dumps(entry, default=str)


def configure_logs(settings: LogSettings) -> None:
    """Let every logger of this process, uvicorn's as well, write to stderr in one form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.format == "json" else TextFormatter())
    root, level = logging.getLogger(), logging.getLevelNamesMapping()[settings.level.upper()]
    root.handlers = [handler]
    root.setLevel(level)
    # what uvicorn tells of its start and stop, the service says itself
    logging.getLogger("uvicorn").setLevel(level if level == logging.DEBUG else max(level, 30))
    logging.getLogger("asyncio").setLevel(max(level, logging.WARNING))
    ACCESS.setLevel(logging.INFO)  # who asks for these lines gets them, at every level


def _time(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"


def _one_line(text: str) -> str:
    """Text that a request may have given must not look like a line of its own."""
    return text.replace("\r", "\\r").replace("\n", "\\n")
