"""A request to rank: a context that was read, and what may be shown for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from semibandit.models.model import Vector
from semibandit.policies.features.encoded import NewValues
from semibandit.policies.labels import Label
from semibandit.policies.randomness import turn_of

__all__ = ["Request"]


@dataclass(slots=True, eq=False)
class Request:
    """What `rank` is asked, with its context and slots read."""

    given: Vector  # the context, not yet scaled; empty as long as only `named` is there
    slots: int | None
    candidates: Sequence[Label] | None
    exclude: Sequence[Label] | None
    draw: int
    named: Mapping[str, Any] | None = field(default=None, kw_only=True)  # to be encoded in turn
    new: NewValues = field(default_factory=dict, kw_only=True)  # found when it was encoded

    @property
    def turn(self) -> float:
        """Where the order among equal labels begins."""
        return turn_of(self.draw)

    @property
    def unrestricted(self) -> bool:
        """Whether every label may be shown."""
        return self.candidates is None and self.exclude is None
