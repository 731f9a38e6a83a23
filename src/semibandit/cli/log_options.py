"""Options of commands that read the log of a service; those of its learner are the log's own."""

from __future__ import annotations

import copy
import csv
import time
from typing import Annotated, Any, get_args

import typer

from semibandit._util.duration import parse_duration
from semibandit.cli import options
from semibandit.errors import FileError, InputError, MissingFile
from semibandit.evaluation.off_policy.read_visits import read_visits
from semibandit.policies.labels import Label

__all__ = [
    "A",
    "AtLeast",
    "Bias",
    "Cost",
    "Examination",
    "Forget",
    "Learner",
    "Loss",
    "Model",
    "Probe",
    "Project",
    "Reward",
    "Scale",
    "Seed",
    "Since",
    "Until",
    "Width",
    "read_reward_words",
    "time_before",
]

REWARDS = ("clicks", "dcg", "any")


def _of_log(option: Any) -> Any:
    """The same option, if what is not given stays as it is in the log."""
    told = copy.copy(get_args(option)[1])
    told.show_default = "as the log's own"
    return told


Learner = Annotated[str | None, _of_log(options.Learner)]
Loss = Annotated[str | None, _of_log(options.Loss)]
Model = Annotated[str | None, _of_log(options.Model)]
Width = Annotated[str | None, _of_log(options.Width)]
Cost = Annotated[str | None, _of_log(options.Cost)]
A = Annotated[float | None, _of_log(options.A)]
Scale = Annotated[str | None, _of_log(options.Scale)]
Bias = Annotated[bool | None, _of_log(options.Bias)]
Project = Annotated[str | None, _of_log(options.Project)]
Probe = Annotated[float | None, _of_log(options.Probe)]
AtLeast = Annotated[int | None, _of_log(options.AtLeast)]
Forget = Annotated[
    float | None,
    typer.Option(
        help="For tastes that change: feedback loses half its weight in so many rounds.",
        show_default="as the log's own",
    ),
]
Examination = Annotated[
    str | None,
    typer.Option(help=options.EXAMINATION_HELP, show_default="as the log's own"),
]
Seed = Annotated[int | None, _of_log(options.Seed)]
Reward = Annotated[
    str | None,
    typer.Option(
        help="What a visit is worth: clicks | dcg (clicks weighted by position) | any (whether "
        "anything was clicked) | a .csv file with a label and its value in each line.",
        show_default="clicks",
    ),
]
Since = Annotated[
    str | None,
    typer.Option(help="Judge only visits of the last 30d, 12h, ...; by default all."),
]
Until = Annotated[
    str | None,
    typer.Option(help="Leave out visits of the last 1h, ..., which may still be answered."),
]


def time_before(option: str, duration: str | None) -> float | None:
    """The time so long ago, in seconds since 1970; None if nothing was given."""
    return None if duration is None else time.time() - parse_duration(option, duration)


def read_reward_words(words: str, log: str) -> str | dict[Label, float]:
    """The reward in words, or the values of a file by label.

    Raises
    ------
    InputError
        If it is neither, or the file has no value for some label.
    MissingFile, FileError
        If the file cannot be read.
    """
    if words in REWARDS:
        return words
    if not words.endswith(".csv"):
        raise InputError(
            f"--reward = {words!r}, but it must be {', '.join(REWARDS)}, or a .csv file with a "
            "label and its value in each line"
        )
    known = {str(label): label for label in read_visits(log).labels()}
    values: dict[Label, float] = {}
    for number, row in enumerate(_rows(words), 1):
        label, value = _pair(row, f"{words}, line {number}", header=number == 1, known=set(known))
        if value is not None:
            values[known.get(label, label)] = value
    if not values:
        raise InputError(f"--reward = {words!r} has no values: expected a label and its value")
    missing = [label for label in known.values() if label not in values]
    if missing:
        some = ", ".join(repr(label) for label in missing[:5])
        more = f", ... ({len(missing):,} in all)" if len(missing) > 5 else ""
        raise InputError(
            f"--reward = {words!r} has no value for {some}{more}: write 0 for labels whose clicks "
            "are worth nothing"
        )
    return values


def _rows(path: str) -> list[list[str]]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file) if row]
    except FileNotFoundError:
        raise MissingFile(f"--reward = {path!r}, but there is no such file") from None
    except (UnicodeDecodeError, csv.Error) as why:
        raise FileError(f"--reward = {path!r} is not a CSV file in UTF-8: {why}") from None


def _pair(row: list[str], where: str, *, header: bool, known: set[str]) -> tuple[str, float | None]:
    """A label and its value; no value if the line has the names of the columns."""
    wrong = f"{where} is {','.join(row)!r}, but it must be a label, a comma and its value"
    if len(row) != 2:
        raise FileError(wrong)
    try:
        return row[0], float(row[1])
    except ValueError:
        if header and row[0] not in known:
            return row[0], None
        raise FileError(wrong) from None
