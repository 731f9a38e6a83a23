"""The tables of the report: numbers as text, ready to be laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from semibandit.experiments.paper.findings import PANELS, lost_labels
from semibandit.experiments.paper.plans import LEFT, MIDDLE, SQUARE
from semibandit.experiments.paper.point import Panel
from semibandit.experiments.paper.results import Results

__all__ = [
    "Table",
    "data_table",
    "lost_table",
    "machine_table",
    "panel_table",
    "price_table",
    "regret_table",
    "seconds_table",
    "width_table",
]


@dataclass(frozen=True)
class Table:
    """Rows of text under column names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    words: Sequence[int] = (0,)  # the columns that hold words; the others hold numbers


def panel_table(panels: Mapping[str, Panel]) -> Table:
    """The numbers of the paper's figure: a column per method."""
    lines = [
        (f"{what}, {'no limit' if S is None else f'S={S}'}", key, panels[name], S)
        for name, (key, what) in PANELS.items()
        for S in next(iter(panels[name].values()))
    ]
    rows = [
        [text, *(points[S].text(key, ".3f") for points in panel.values())]
        for text, key, panel, S in lines
    ]
    caption = "Final averages over one pass: the mean, and in brackets the range, over seeds."
    return Table(("loss", *panels[LEFT]), rows, caption)


def lost_table(panels: Mapping[str, Panel], about: Mapping[str, Any], S: int) -> Table:
    """Each seed's Hamming loss with the square loss, and the frequent labels that it lost."""
    share, rows = about["frequent"], []
    for seed, result in enumerate(panels[MIDDLE][SQUARE][S].results):
        lost = [
            f"label {label} ({share[label]:.0%} of the rows) after round {when:,}"
            for label, when in lost_labels(result).items()
        ]
        rows.append((str(seed), f"{result['hamming']:.3f}", "; ".join(lost) or "none"))
    caption = "Of the ten most frequent labels, those that were not shown in the second half."
    return Table(("seed", f"Hamming loss, S={S}", "lost"), rows, caption, words=(0, 2))


def width_table(results: Results) -> Table:
    """The loss of each width, and divided by OBR's."""
    baseline = results.width_baseline
    rows = []
    for width, losses in results.widths.items():
        mean = sum(losses) / len(losses)
        spread = "" if len(losses) == 1 else f"{min(losses):.4f} to {max(losses):.4f}"
        rows.append((width, f"{mean:.4f}", spread, f"{mean / baseline:.3f}"))
    rows.append(("OBR", f"{baseline:.4f}", "", "1.000"))
    return Table(("width", "average loss", "over seeds", "÷ OBR"), rows)


def price_table(results: Results) -> Table:
    """The price of partial feedback on each data set, and its means over them."""
    prices = results.prices
    players = list(next(iter(prices.values())))
    weighted = results.mean_prices(weighted=True)
    rows = [
        (data, f"{results.losses[data]['OBR'][0]:.4f}", *(f"{row[who]:.3f}" for who in players))
        for data, row in prices.items()
    ]
    for name, means in (
        ("geometric mean (each set counts once)", results.mean_prices(weighted=False)),
        ("weighted geometric mean (weight: rounds)", weighted),
    ):
        rows.append((name, "", *(f"{means[player]:.3f}" for player in players)))
    best = min((who for who in players if who != "Greedy"), key=weighted.__getitem__)
    caption = (
        f"Loss ÷ OBR's loss, mean of {results.options.seeds[0]} seeds. By the weighted geometric "
        f"mean, {best} is best."
    )
    return Table(("data", "OBR's loss", *players), rows, caption)


def regret_table(lines: Mapping[str, Mapping[str, Any]]) -> Table:
    """Regret, its growth and its bound for each line of one picture."""
    rows = []
    for name, numbers in lines.items():
        final, bound = numbers["final"], numbers.get("bound")
        rows.append(
            (
                name,
                f"{numbers['marks'][-1]:,}",
                f"{sum(final) / len(final):,.1f} ({min(final):,.1f}–{max(final):,.1f})",
                _mean(numbers["slope_before"], ".2f"),
                _mean(numbers["slope"], ".2f"),
                _mean(numbers["covered"], ".1%"),
                f"{bound[-1]:,.0f}" if bound else "",
            )
        )
    columns = (
        "learner", "rounds", "regret", "slope before", "slope at the end", "covered", "bound",
    )  # fmt: skip
    caption = (
        "After all rounds; means over seeds, ranges in brackets. Slopes are fitted over the last "
        "ten-fold of the rounds (the last 90%), and over the one before."
    )
    return Table(columns, rows, caption)


def data_table(data: Mapping[str, Mapping[str, Any]]) -> Table:
    """The data sets: their size, source and checksum."""
    rows = [
        (
            name,
            f"{about['rows']:,}",
            str(about["features"]),
            str(about["labels"]),
            about["source"],
            about["checksum"],
        )
        for name, about in data.items()
    ]
    return Table(("data", "rows", "d", "K", "source", "checksum"), rows, words=(0, 4, 5))


def machine_table(machine: Mapping[str, str]) -> Table:
    """What the numbers were computed on and with."""
    return Table(("what", "which"), list(machine.items()), words=(0, 1))


def seconds_table(seconds: Mapping[str, float]) -> Table:
    """How long each part took."""
    rows = [(part, f"{value:.1f}") for part, value in seconds.items()]
    rows.append(("total", f"{sum(seconds.values()):.1f}"))
    caption = "Parts whose results were kept from an earlier run take no time."
    return Table(("part", "seconds"), rows, caption)


def _mean(values: Sequence[float | None], form: str) -> str:
    """The mean of the values that are there, and their range; nothing if none is there."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    mean = format(sum(known) / len(known), form)
    return mean if len(known) == 1 else f"{mean} ({min(known):{form}}–{max(known):{form}})"
