"""What a service may be told, and its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from semibandit.errors import InputError

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for, and how many may wait."""

    body: int = 1 << 20  # bytes
    batch: int = 256  # requests in one
    slots: int = 1000
    labels: int = 100_000  # that a learner may have
    text: int = 200  # characters of an id or a label
    queue: int = 1024  # requests that wait to be answered
    backlog: int = 10_000  # feedback that is in the log, but not yet learned


@dataclass(frozen=True)
class Settings:
    """How a service runs; the learner is the store's."""

    wait: float | None = None  # seconds after which no feedback means nothing was clicked
    snapshot_every: int = 5000  # events learned
    api_key: str | None = None
    read_key: str | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.wait is not None and not 0 < self.wait < math.inf:
            raise InputError(f"wait = {self.wait!r}, but it must be a number of seconds above 0")
        if self.snapshot_every < 1:
            raise InputError(f"snapshot_every = {self.snapshot_every}, but it must be at least 1")
        for name in ("api_key", "read_key"):
            key = getattr(self, name)
            if key is not None and (not key or not key.isascii() or not key.isprintable()):
                raise InputError(f"{name} must be printable ASCII, and not empty")
        if self.read_key is not None and self.api_key is None:
            raise InputError("a read_key without an api_key would leave writing open to everyone")
        if self.read_key is not None and self.read_key == self.api_key:
            raise InputError("read_key and api_key are the same: then there is no read-only key")
