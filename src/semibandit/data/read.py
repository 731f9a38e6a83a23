"""Any data set, by its name or from a file: the reader is chosen by the file's content."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from semibandit._util.checks import nearest
from semibandit.data import catalogue
from semibandit.data.dataset import Dataset
from semibandit.data.download.cache import download_dataset
from semibandit.data.formats import arff, dump, extreme, npz, svmlight, table
from semibandit.data.formats.detect import detect_format, find_in_folder
from semibandit.data.open_bandit import is_open_bandit
from semibandit.data.progress import Progress
from semibandit.errors import InputError, MissingFile

__all__ = ["READERS", "read_dataset"]

Reader: TypeAlias = Callable[..., Dataset]
READERS: dict[str, tuple[Reader, tuple[str, ...]]] = {  # by format, with the options of each
    "npz": (npz.read_npz, ()),
    "arff": (arff.read_arff, ("name", "labels", "test", "xml")),
    "extreme": (extreme.read_extreme, ("name", "test", "split")),
    "svmlight": (svmlight.read_svmlight, ("name", "test")),
    "csv": (table.read_csv, ("name", "labels", "test", "split", "columns")),
    "parquet": (table.read_parquet, ("name", "labels", "test", "split", "columns")),
    "dump": (dump.read_dump, ("progress",)),
    "archive": (dump.read_archive, ("name", "progress")),
}


def read_dataset(
    what: str | os.PathLike[str],
    *,
    name: str | None = None,
    labels: Sequence[str] | str | int | None = None,
    test: str | os.PathLike[str] | None = None,
    split: str | int | None = None,
    xml: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | str | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read a data set: one of the catalogue, which is downloaded once, or a file or folder.

    Parameters
    ----------
    what : str or path
        "mediamill" or another name of `semibandit data list`; or a file: .npz, Mulan's ARFF, the
        extreme-classification text format, multilabel svmlight, CSV, Parquet, the source package
        or one of its members; or a folder with one of these.
    name : str, optional
        The name of the data set; of an archive or a folder with several, which one to read.
    labels : names, patterns or int, optional
        ARFF, CSV and Parquet: which columns are labels, or how many of the last columns.
    test : path, optional
        The file with the rows for testing, if its name is not that of the first with "test".
    split : str or int, optional
        CSV and Parquet: the column that has "train" or "test" in each row. Extreme-classification
        format: which column of the split files, from 0.
    xml : path, optional
        ARFF: the file that names the labels, if it is not called like the first.
    columns : sequence of str or "all", optional
        CSV and Parquet: these columns, or all but labels, are kept as they are in `columns_train`,
        for a learner with named features.
    progress : callable, optional
        Called with what is being done, how many bytes are done, and of how many.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    MissingFile
        If `what` is neither a file or folder nor a name of the catalogue.
    FileError
        If the file is damaged, or of no known format.
    InputError
        If an option does not apply to the file, or one is missing.
    DownloadError
        If a data set of the catalogue could not be downloaded.
    MissingExtra
        If the file is Parquet, and pyarrow is not installed (the extra `data`); or if a data set of
        the catalogue has to be downloaded, and the packages for that are not (`download`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.csv")
    ...     _ = file.write_text("age,height,likes_sea\\n30,1.8,1\\n41,1.6,0\\n")
    ...     read_dataset(file, labels=["likes_sea"]).feature_names
    ('age', 'height')
    """
    options: dict[str, Any] = {"labels": labels, "test": test, "split": split, "xml": xml}
    options |= {"columns": columns}
    options = {key: value for key, value in options.items() if value is not None}
    path = Path(what)
    if not path.exists():
        return _read_named(what, options, progress)
    if path.is_dir():
        path = find_in_folder(path, name)
    format_ = detect_format(path)
    reader, allowed = READERS[format_]
    _check_options(options, allowed, f"{path.name} is read as {format_}")
    if format_ == "archive" and name is None:
        raise InputError(f"{path.name} holds several data sets: say which with name=")
    if format_ in ("csv", "parquet") and labels is None:
        raise InputError(
            f"{path.name} is a table: say which columns are labels with labels= "
            "(--labels on the command line)"
        )
    if format_ == "arff" and isinstance(labels, str):
        options["labels"] = [labels]
    for key, value in (("name", name), ("progress", progress)):
        if key in allowed and value is not None:
            options[key] = value
    return reader(path, **options)


def _read_named(
    what: str | os.PathLike[str], options: dict[str, Any], progress: Progress | None
) -> Dataset:
    if isinstance(what, str) and is_open_bandit(what):
        raise InputError(
            f"{what} is a log of what was shown and clicked, not a multilabel data set: it cannot "
            "be replayed, but evaluated (semibandit evaluate open-bandit/bts/all)"
        )
    names = catalogue.SOURCE.names
    if isinstance(what, str) and what.lower() in names:
        _check_options(options, (), f"{what} is a data set of the catalogue")
        return download_dataset(what, progress)
    suggestion = nearest(os.fspath(what), names)
    raise MissingFile(
        f"{os.fspath(what)!r} is neither a file nor one of {', '.join(names)}{suggestion}"
    )


def _check_options(options: dict[str, Any], allowed: tuple[str, ...], reason: str) -> None:
    for key in options:
        if key not in allowed:
            what = "columns= (named features)" if key == "columns" else f"{key}="
            raise InputError(f"{what} does not apply: {reason}")
