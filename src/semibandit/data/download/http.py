"""One file over HTTP: it goes on where it stopped, is checked, and appears whole or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from semibandit._util.atomic import put_in_place
from semibandit.data.formats.dump import Watch
from semibandit.errors import DownloadError, InputError

if TYPE_CHECKING:
    import httpx2
    from unearth.fetchers import PyPIClient

__all__ = ["download", "sha256_of"]

MOST_TRIES = 20


def download(
    client: PyPIClient, url: str, path: Path, sha256: str, watch: Watch | None = None
) -> None:
    """`path` holds the file with that sha256, or an error says why not.

    What has come lies in `path` + ".part". A broken connection is taken up again as long as each
    try brings something; after that DownloadError is raised and the next call goes on from there.
    """
    part = path.with_name(path.name + ".part")
    resumed = part.exists()
    _fetch(client, url, part, watch)
    got = sha256_of(part)
    if got != sha256 and resumed:  # what lay there from another day may have been the trouble
        part.unlink()
        _fetch(client, url, part, watch)
        got = sha256_of(part)
    if got != sha256:
        part.unlink()
        raise InputError(f"{path.name} came with sha256 {got}, expected {sha256}: thrown away")
    put_in_place(part, path)


def sha256_of(path: Path) -> str:
    """The file's checksum."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(client: PyPIClient, url: str, part: Path, watch: Watch | None) -> None:
    import httpx2

    for _ in range(MOST_TRIES):
        before = _size(part)
        try:
            return _go_on(client, url, part, watch)
        except httpx2.HTTPError as why:
            if _size(part) <= before:
                kept = f"; {_size(part)} bytes are kept, the next try goes on from there"
                raise DownloadError(
                    f"{part.stem} could not be fetched: {why}{kept if _size(part) else ''}"
                ) from None
    raise DownloadError(
        f"{part.stem} could not be fetched: the connection broke {MOST_TRIES} times"
    )


def _go_on(client: PyPIClient, url: str, part: Path, watch: Watch | None) -> None:
    """One request: the rest of the file where the server gives parts, all of it where not."""
    start = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with client.get_stream(url, headers=headers) as response:
        if response.status_code == 416:  # there is no rest: what we have is too long, or all of it
            total = response.headers.get("Content-Range", "").rpartition("/")[2]
            if total == str(start):
                return None
            part.unlink()
        elif response.status_code in (200, 206):
            return _write(response, part, start, watch)
        else:
            status = f"{response.status_code} {response.reason_phrase}"
            raise DownloadError(f"{part.stem} could not be fetched: the server said {status}")
    return _go_on(client, url, part, watch)


def _write(response: httpx2.Response, part: Path, start: int, watch: Watch | None) -> None:
    continues = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
    if response.status_code == 206 and not continues:
        raise DownloadError(f"{part.stem} could not be fetched: the server sent another part of it")
    if response.status_code == 200:
        start = 0
    total = start + int(response.headers.get("Content-Length", 0))
    with part.open("ab" if start else "wb") as file:
        for chunk in response.iter_raw():  # as it comes: a full chunk may never
            file.write(chunk)
            if watch:
                watch(f"fetching {part.stem}", file.tell(), max(total, file.tell()))
        file.flush()
        os.fsync(file.fileno())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
