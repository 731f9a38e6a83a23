"""A hash of texts that never changes, unlike Python's own, which differs between processes."""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["stable_hash"]


def stable_hash(text: str) -> int:
    """A number below 2⁶⁴ for this text, the same in every process, version and machine.

    What learners have learned depends on it: it must never change.

    >>> stable_hash("phone")
    17562147157493747175
    """
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
