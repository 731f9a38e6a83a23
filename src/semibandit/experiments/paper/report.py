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
from semibandit.experiments.paper.findings import PANELS
from semibandit.experiments.paper.plans import LEFT
from semibandit.experiments.paper.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["VERDICTS", "committed_verdicts", "render", "write_report"]

TEMPLATE = "report.html.j2"
VERDICTS = "verdicts.json"
TITLES = {
    "mediamill": "Mediamill",
    "delicious-98": "In Sony's place: Delicious, real tags",
    "tags-world": "A world of Sony's size whose best slates are known",
    "sony-like": "A synthetic world of Sony's size",
    "mediamill-like": "In Mediamill's place: a synthetic world of its size",
}
PICTURES = {
    "theorems": "Theorems 1 and 2, no limit on the slate",
    "ranking": "Theorem 3: ranking, a = 1",
    "learners": "Other learners, three slots",
    "models": "Models, three slots",
    "adversary": "Contexts and slots chosen by an adversary",
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
    environment.filters["maths"] = _maths
    source = files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8")
    page: str = environment.from_string(source).render(
        results=results,
        titles={data: _title(data) for data in results.panels},
        pictures={picture: PICTURES.get(picture, picture) for picture in results.regret_lab},
        committed=committed_verdicts(),
        tables=tables,
        panels=PANELS,
        svgs=svgs,
        options=json.dumps(asdict(results.options), indent=1),
    )
    return page


def committed_verdicts() -> dict[str, Any]:
    """What a run of many seeds has said, as `python -m benchmarks.paper` kept it.

    `command` and `seeds`, by the data set, say of which run; `verdicts` has the verdict and the
    reason, by the data set and the statement.
    """
    kept: dict[str, Any] = json.loads(files(__package__).joinpath(VERDICTS).read_text())
    return kept


def _maths(text: str) -> Any:
    """The text as HTML, with ℓ_{a,c} as an index."""
    markupsafe = import_extra("markupsafe", "plot", "the report")
    escaped = str(markupsafe.escape(text))
    return markupsafe.Markup(re.sub(r"_\{([^{}]*)\}", r"<sub>\1</sub>", escaped))


def _draw(results: Results) -> dict[str, Figure]:
    """The figures by their names: a data set and a panel, "widths", "prices", "lab-" and a name."""
    from semibandit.experiments import plot

    figures = {}
    for data, panels in results.panels.items():
        cardinality, bayes = results.data[data]["cardinality"], results.bayes.get(data, {})
        for panel, (key, what) in PANELS.items():
            levels: dict[str, Any] = {"empty slate": cardinality * (0.5 if key == "ac" else 1.0)}
            if bayes and panel == LEFT:
                levels["Bayes"] = bayes[max(bayes)][key]
            elif bayes:
                levels["Bayes"] = {S: losses[key] for S, losses in bayes.items()}
            draw = panels[panel]
            figures[f"{data}-{panel}"] = (
                plot.loss_curves(draw, f"{what}, no limit", levels)
                if panel == LEFT
                else plot.losses_by_slots(draw, key, what, levels)
            )
    figures["widths"] = plot.width_plot(results.widths, results.width_baseline)
    figures["prices"] = plot.price_plot(
        {data: _without(row, "Greedy") for data, row in results.prices.items()}
    )
    for picture, lines in results.regret_lab.items():
        figures[f"lab-{picture}"] = plot.bound_plot(lines, PICTURES.get(picture, picture))
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
