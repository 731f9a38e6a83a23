"""Downloading one file: interrupted downloads are resumed, and the file is checked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from semibandit._util.atomic import put_in_place
from semibandit.data.progress import Progress
from semibandit.errors import DownloadError, FileError

if TYPE_CHECKING:
    import httpx2
    from unearth.fetchers import PyPIClient

__all__ = ["download_file", "sha256_of"]

MOST_TRIES = 20


def download_file(
    client: PyPIClient,
    url: str,
    path: Path,
    sha256: str,
    progress: Progress | None = None,
) -> None:
    """Download a file and check it; `path` then holds the complete file.

    What has come so far is in `path` + ".part". A broken connection is resumed as long as each try
    brings something; if it does not, the next call continues from there.

    Parameters
    ----------
    client : PyPIClient
        What `index.http_client` gives.
    url : str
        The address of the file.
    path : Path
        Where to put it.
    sha256 : str
        The checksum that it must have.
    progress : callable, optional
        Called with what is being done, how many bytes are done, and of how many.

    Raises
    ------
    DownloadError
        If the server does not answer, refuses, or breaks off.
    FileError
        If the file has another checksum; it is removed.
    """
    part = path.with_name(path.name + ".part")
    resumed = part.exists()
    _download(client, url, part, progress)
    got = sha256_of(part)
    if got != sha256 and resumed:  # the old part may have been damaged
        part.unlink()
        _download(client, url, part, progress)
        got = sha256_of(part)
    if got != sha256:
        part.unlink()
        raise FileError(f"{path.name} came with sha256 {got}, expected {sha256}: thrown away")
    put_in_place(part, path)


def sha256_of(path: Path) -> str:
    """The file's checksum."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(client: PyPIClient, url: str, part: Path, progress: Progress | None) -> None:
    import httpx2

    for _ in range(MOST_TRIES):
        before = _size(part)
        try:
            return _continue(client, url, part, progress)
        except httpx2.HTTPError as error:
            if _size(part) <= before:
                kept = f"; {_size(part)} bytes are kept, the next try goes on from there"
                raise DownloadError(
                    f"{part.stem} could not be downloaded: {error}{kept if _size(part) else ''}"
                ) from None
    raise DownloadError(
        f"{part.stem} could not be downloaded: the connection broke {MOST_TRIES} times"
    )


def _continue(client: PyPIClient, url: str, part: Path, progress: Progress | None) -> None:
    """One request: for the rest of the file; a server without ranges sends all of it."""
    start = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with client.get_stream(url, headers=headers) as response:
        if response.status_code == 416 and start:  # we have all of it, or too much
            total = response.headers.get("Content-Range", "").rpartition("/")[2]
            if total == str(start):
                return None
            part.unlink()
        elif response.status_code in (200, 206):
            return _write(response, part, start, progress)
        else:
            status = f"{response.status_code} {response.reason_phrase}"
            raise DownloadError(
                f"{part.stem} could not be downloaded: the server answered {status}"
            )
    return _continue(client, url, part, progress)


def _write(response: httpx2.Response, part: Path, start: int, progress: Progress | None) -> None:
    continues = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
    if response.status_code == 206 and not continues:
        raise DownloadError(
            f"{part.stem} could not be downloaded: the server sent another part of it"
        )
    if response.status_code == 200:
        start = 0
    total = start + int(response.headers.get("Content-Length", 0))
    with part.open("ab" if start else "wb") as file:
        for chunk in response.iter_raw():  # as it comes: a full chunk may never come
            file.write(chunk)
            if progress:
                progress(f"downloading {part.stem}", file.tell(), max(total, file.tell()))
        file.flush()
        os.fsync(file.fileno())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
