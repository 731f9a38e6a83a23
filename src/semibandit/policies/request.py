"""A request to rank: a context that was read, and what may be shown for it."""

from __future__ import annotations

from dataclasses import dataclass

from semibandit.models.model import Vector
from semibandit.policies.labels import Label

__all__ = ["Request"]


@dataclass(slots=True, eq=False)
class Request:
    """What `rank` is asked, with its context and slots read."""

    x: Vector
    slots: int | None
    candidates: list[Label] | None
    exclude: list[Label] | None
    draw: int
