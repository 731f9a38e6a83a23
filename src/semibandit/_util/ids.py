"""Ids of decisions that nobody gave one."""

from __future__ import annotations

import secrets
import time

__all__ = ["new_id"]


def new_id() -> str:
    """Hard to guess, and later ones sort after earlier ones.

    So those of a group go to one end of a database's index, not each to a page of its own.
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(8)}"
