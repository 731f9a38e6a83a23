"""The keys of a service: those that may write and those that may only read.

They are given as settings, or in files of one key a line, so that several are valid at a time: a
new key is added before the old one is taken out.
"""

from __future__ import annotations

import hmac
import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from semibandit.errors import FileError, InputError, MissingFile
from semibandit.service.settings import Settings, check_key

__all__ = ["Keys"]

log = logging.getLogger("semibandit")
MOUNTED = Path("/run/secrets")  # of a container: nobody else is there


@dataclass
class Keys:
    """The keys that are valid now.

    Parameters
    ----------
    settings : Settings
        Where they come from: `api_key`, `read_key`, `api_key_file` and `read_key_file`.

    Raises
    ------
    InputError
        If a file cannot be used, if keys that only read leave writing open to everyone, or if
        a key is of both kinds.

    Examples
    --------
    >>> keys = Keys(Settings(api_key="secret", read_key="look"))
    >>> keys.may_write(b"secret"), keys.may_write(b"look"), keys.may_read(b"look")
    (True, False, True)
    """

    settings: Settings

    def __post_init__(self) -> None:
        self._write, self._read = _read_all(self.settings)

    @property
    def needed(self) -> bool:
        """Whether requests need a key."""
        return bool(self._write)

    @property
    def from_files(self) -> bool:
        """Whether `reload` may find other keys."""
        return self.settings.api_key_file is not None or self.settings.read_key_file is not None

    def may_write(self, key: bytes) -> bool:
        """Whether this key may do everything; the time taken does not tell how near it is."""
        return _among(key, self._write)

    def may_read(self, key: bytes) -> bool:
        """Whether this key may read."""
        return _among(key, self._read)

    def reload(self) -> None:
        """Read the files again. If one cannot be used, the keys stay and the log says why."""
        try:
            write, read = _read_all(self.settings)
            if self._write and not write:
                raise InputError("no key would be left")
        except InputError as why:
            log.error("the keys stay as they are: %s", why)
            return
        self._write, self._read = write, read
        log.info("keys were read again: %d to write, %d to read", len(write), len(read))


def _among(key: bytes, keys: tuple[bytes, ...]) -> bool:
    found = False
    for one in keys:  # all of them, whichever fits
        found |= hmac.compare_digest(key, one)
    return found


def _read_all(settings: Settings) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    write = _together(settings.api_key, settings.api_key_file, "api_key_file")
    read = _together(settings.read_key, settings.read_key_file, "read_key_file")
    if read and not write:
        raise InputError("a read_key without an api_key would leave writing open to everyone")
    if set(read) & set(write):
        raise InputError("read_key and api_key are the same: then there is no read-only key")
    return write, read


def _together(key: str | None, path: str | None, name: str) -> tuple[bytes, ...]:
    keys = [] if key is None else [key]
    if path is not None:
        keys += _lines(Path(path), name)
    return tuple(dict.fromkeys(one.encode() for one in keys))


def _lines(path: Path, name: str) -> list[str]:
    """The keys in a file, one a line; lines that begin with # are comments."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        others = os.name == "posix" and path.stat().st_mode & stat.S_IROTH
    except FileNotFoundError:
        raise MissingFile(f"{name} = {str(path)!r}, but there is no such file") from None
    except (OSError, UnicodeDecodeError) as why:
        reason = why.strerror if isinstance(why, OSError) else "it is not UTF-8"
        raise FileError(f"{name} = {str(path)!r} cannot be read: {reason}") from None
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise FileError(f"{name} = {str(path)!r} has no key: expected one a line")
    for key in keys:
        check_key(name, key)
    if others and path.parent != MOUNTED:
        log.warning("%s = %r can be read by every user of this machine: chmod o-r", name, str(path))
    return keys
