"""Options that several commands have, each with one name and one meaning."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

import typer

from semibandit.errors import InputError
from semibandit.policies.learner_spec import LEARNER_WORDS, LearnerSpec
from semibandit.policies.spec import WORDS

__all__ = [
    "A",
    "Address",
    "ApiKey",
    "Backend",
    "Bias",
    "Cost",
    "Data",
    "Jobs",
    "LabelColumns",
    "Learner",
    "Loss",
    "Model",
    "Normalize",
    "Seed",
    "Slots",
    "Width",
    "given",
    "label_columns",
    "learner_words",
]

_default = LearnerSpec()


def _part(name: str, help: str) -> Any:
    """An option of `LearnerSpec`; None if it was not given."""
    return typer.Option(help=help, show_default=str(getattr(_default, name)))


# What a learner is made with: the same for every command that makes one.
Learner = Annotated[str | None, _part("learner", f"Who decides: {LEARNER_WORDS}.")]
Loss = Annotated[str | None, _part("loss", f"The surrogate loss: {WORDS['loss']}.")]
Model = Annotated[
    str | None, _part("model", f"What is kept: {WORDS['model']}, KERNEL: {WORDS['kernel']}.")
]
Width = Annotated[str | None, _part("width", f"How much to explore: {WORDS['width']}.")]
Cost = Annotated[
    str | None, _part("cost", f"What a wrong label costs in its position: {WORDS['cost']}.")
]
A = Annotated[
    float | None,
    typer.Option(
        "--a",
        help="What a missed label weighs against a wrong one, 0 to 1. A label is shown if its "
        "probability is at least about 1 - a: for rare clicks say 0.95; 1 fills all slots.",
        show_default=str(_default.a),
    ),
]
Normalize = Annotated[
    bool | None,
    typer.Option(
        "--normalize/--no-normalize",
        help="Scale contexts to unit length.",
        show_default="normalize",
    ),
]
Bias = Annotated[
    bool | None,
    typer.Option(
        "--bias/--no-bias",
        help="Append a constant feature. (Default: no for data sets, yes for a service.)",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Orders equal labels; starts draws.", show_default="0")
]

# What it is tried on.
Data = Annotated[
    str, typer.Argument(help="A name of `semibandit data list`, or a file or folder of yours.")
]
Slots = Annotated[
    int | None, typer.Option(min=0, help="The most labels shown in a round; by default no limit.")
]
LabelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        help="Which columns are labels (CSV, Parquet, ARFF without XML): a name, a pattern such as "
        "'label_*' (may be repeated), or how many (the last ones).",
    ),
]

# Where it runs.
Backend = Annotated[
    str, typer.Option(help="local, or ray or dask for a cluster that is running already.")
]
Address = Annotated[str | None, typer.Option(help="The cluster's address.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Runs at a time; by default one per core.")]
ApiKey = Annotated[
    str | None, typer.Option(envvar="SEMIBANDIT_API_KEY", help="The key of the service.")
]


def learner_words(context: typer.Context) -> dict[str, Any]:
    """The options of `LearnerSpec` that were given to the command, in words."""
    names = [field.name for field in fields(LearnerSpec)]
    words = given(**{name: context.params.get(name) for name in names})
    ignored = LearnerSpec(learner=words.get("learner", _default.learner)).ignores(words)
    if "learner" in words and ignored:
        raise InputError(f"--{ignored[0]} does not go with --learner {words['learner']}")
    return words


def given(**options: Any) -> dict[str, Any]:
    """The options that were given: all that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def label_columns(columns: list[str] | None) -> list[str] | int | None:
    """What `--labels` says: names and patterns, or how many of the last columns."""
    if not columns:
        return None
    alone = len(columns) == 1 and columns[0].removeprefix("-").isdecimal()
    return int(columns[0]) if alone else columns
