"""What policies would have earned, as one HTML page that needs no other file."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from semibandit._util.atomic import replacing
from semibandit._util.extras import import_extra
from semibandit.evaluation.off_policy.compare import Comparison
from semibandit.evaluation.off_policy.result import Evaluation
from semibandit.evaluation.off_policy.result_text import (
    counted,
    difference_lines,
    drawn_line,
    interval,
    interval_words,
    refusal_lines,
    value_rows,
)

__all__ = ["plotted_values", "render_page", "write_page"]

TEMPLATE = "evaluation.html.j2"
PLOTTED = ("Cascade-DR", "snRIPS", "IIPS-DR", "SNIPS", "accepted", "mean")


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What `compare` found.
    path : Path
        The file; it is replaced at one stroke.

    Raises
    ------
    MissingExtra
        If matplotlib or Jinja2, the extra `plot`, is not installed.
    """
    from semibandit.experiments import plot

    drawn = plotted_values(comparison)
    logged = comparison.logged.value
    svg = None
    if any(drawn.values()) and logged is not None:
        svg = plot.svg(plot.evaluation_plot(drawn, logged, _first(comparison).reward))
    with replacing(path) as file:
        file.write(render_page(comparison, svg).encode())


def render_page(comparison: Comparison, svg: str | None) -> str:
    """The page, with the plot given as an <svg> element, if there is one."""
    jinja2 = import_extra("jinja2", "plot", "the page")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["interval"] = interval
    environment.globals |= {"counted": counted, "zip": zip}
    source = files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8")
    page: str = environment.from_string(source).render(
        comparison=comparison,
        first=_first(comparison),
        rows=value_rows(comparison.evaluations.values()),
        differences=difference_lines(comparison.differences, comparison.reference),
        drawn=drawn_line(comparison.drawn_share),
        refusals=refusal_lines(comparison.evaluations),
        intervals=interval_words(_first(comparison).confidence),
        svg=svg,
        now=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return page


def plotted_values(comparison: Comparison) -> dict[str, dict[str, tuple[float, float, float]]]:
    """What is drawn of each policy: value, low and high by estimator."""
    drawn: dict[str, dict[str, tuple[float, float, float]]] = {}
    for name, found in comparison.evaluations.items():
        row = drawn.setdefault(name, {})
        headline = comparison.headline(name)
        more = () if headline is None or headline.name in PLOTTED else (headline.name,)
        for estimator in (*PLOTTED, *more):
            one = found.estimates.get(estimator)
            if one is not None and one.value is not None:
                low = one.value if one.low is None else one.low
                row[estimator] = one.value, low, one.value if one.high is None else one.high
    return drawn


def _first(comparison: Comparison) -> Evaluation:
    return next(iter(comparison.evaluations.values()))
