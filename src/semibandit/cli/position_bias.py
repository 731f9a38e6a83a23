"""`semibandit position-bias`: how likely each position is looked at, from a service's log."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from semibandit._util.duration import parse_duration
from semibandit.cli.completion import logs
from semibandit.cli.errors import reporting_errors
from semibandit.cli.output import check_writable, print_line, print_table, write_json
from semibandit.evaluation.off_policy.position_bias import PositionBias, PositionEstimate
from semibandit.evaluation.off_policy.position_bias import position_bias as estimate
from semibandit.evaluation.off_policy.result_text import counted, interval_words

__all__ = ["position_bias"]

NO_VALUE = 1  # the exit code if nothing could be estimated


def position_bias(
    log: Annotated[
        str,
        typer.Argument(
            help="A service's store, a file of `semibandit export`, or open-bandit/random/all.",
            autocompletion=logs,
        ),
    ],
    since: Annotated[
        str | None, typer.Option(help="Only visits of the last 30d, 12h, ...; by default all.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="That of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Decides the bootstrap samples.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file.")] = None,
) -> None:
    """Estimate how likely each position of a slate is looked at, relative to the first.

    The log must have slates that were drawn with known probabilities, each label now and then at
    each position: serve with --randomise mixed:0.05 or with --holdout 0.02. If it has too few
    visits, it says how many are needed, and the exit code is 1. Give the result to a learner:
    semibandit serve --examination 1,0.71,0.5.
    """
    with reporting_errors("position-bias"):
        check_writable("--json", json)
        start = None if since is None else time.time() - parse_duration("--since", since)
        found = estimate(log, since=start, confidence=confidence, seed=seed)
        _show(found, confidence)
        if json is not None:
            write_json(json, found.json())
            print_line(f"wrote {json}")
    if found.refused is not None:
        print_line(found.refused)
        raise typer.Exit(NO_VALUE)


def _show(found: PositionBias, confidence: float) -> None:
    print_table(
        PositionEstimate.COLUMNS,
        [one.row for one in found.positions],
        caption="Looked at: relative to the first position, from and to: its "
        f"{interval_words(confidence)}; click rate: of labels drawn uniformly; visits and clicks: "
        "effective.",
    )
    for reason, n in found.left_out.items():
        print_line(f"left out: {counted(n, reason)}")
    for note in found.notes:
        print_line(note)
    if found.refused is None:
        visits = counted(found.visits, "visits")
        print_line(f"{visits}; for a learner: --examination {found.words}")
