"""The report: one HTML page that needs no other file, with the numbers and figures beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semibandit._util.atomic import replacing
from semibandit._util.extras import import_extra
from semibandit.experiments.paper import tables
from semibandit.experiments.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["render", "write_report"]

TEMPLATE = "report.html.j2"
TITLES = {
    "mediamill": "Mediamill",
    "sony-like": "In Sony's place: a synthetic world of Sony's size",
    "delicious": "In Sony's place: Delicious",
    "mediamill-like": "In Mediamill's place: a synthetic world of its size",
}


def write_report(results: Results, folder: Path) -> list[Path]:
    """Write report.html, results.json, and the figures as PNG and SVG.

    Parameters
    ----------
    results : Results
        What `run_experiments` returned.
    folder : Path
        Where to write; it is made if need be.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    MissingExtra
        If matplotlib or Jinja2, the extra `plot`, is not installed.
    """
    from semibandit.experiments import plot

    figures = _draw(results)
    page = render(results, {name: plot.svg(figure) for name, figure in figures.items()})
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    written = [folder / "report.html", folder / "results.json"]
    for path, text in zip(written, (page, json.dumps(results.json(), indent=1)), strict=True):
        with replacing(path) as file:
            file.write(text.encode())
    for name, figure in figures.items():
        written += plot.save(figure, folder / "figures" / _file_name(name))
    return written


def render(results: Results, svgs: Mapping[str, str]) -> str:
    """The page, with the figures given as <svg> elements by name."""
    jinja2 = import_extra("jinja2", "plot", "the report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8")
    page: str = environment.from_string(source).render(
        results=results,
        titles={data: _title(data) for data in results.panels},
        tables=tables,
        svgs=svgs,
        options=json.dumps(asdict(results.options), indent=1),
    )
    return page


def _draw(results: Results) -> dict[str, Figure]:
    """The figures by their names: a data set, "widths", "prices", or "lab-" and a world."""
    from semibandit.experiments import plot

    figures = {
        data: plot.paper_figure(panels, _title(data), results.data[data]["labels"])
        for data, panels in results.panels.items()
    }
    figures["widths"] = plot.width_plot(results.widths, results.width_baseline)
    figures["prices"] = plot.price_plot(
        {data: _without(row, "Greedy") for data, row in results.prices.items()}
    )
    for world, cases in results.regret_lab.items():
        figures[f"lab-{world}"] = plot.bound_plot(cases, f"{world} world")
    return figures


def _title(data: str) -> str:
    return TITLES.get(data, data)


def _file_name(name: str) -> str:
    """The name of a figure as a file name: a data set may be a path.

    >>> _file_name("my data/yeast.npz")
    'my_data_yeast_npz'
    """
    return re.sub(r"[^\w-]+", "_", name).strip("_")


def _without(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}
