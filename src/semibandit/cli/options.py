"""Options that several commands have, each with one name and one meaning."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit.cli.completion import SPELLINGS, data_sets, one_of
from semibandit.errors import FileError, InputError, MissingFile
from semibandit.policies.examination import EXAMINATION_WORDS
from semibandit.policies.features.encoder import NamedFeatures, parse_features
from semibandit.policies.learner_spec import LEARNER_WORDS, LearnerSpec
from semibandit.policies.spec import WORDS

__all__ = [
    "A",
    "Address",
    "ApiKey",
    "AtLeast",
    "Backend",
    "Bias",
    "Cost",
    "Data",
    "Device",
    "EXAMINATION_HELP",
    "Examination",
    "FEATURE_WORDS",
    "Features",
    "Forget",
    "Jobs",
    "LabelColumns",
    "Learner",
    "Loss",
    "Model",
    "Probe",
    "Project",
    "Scale",
    "Seed",
    "ServedA",
    "Slots",
    "Width",
    "feature_words",
    "given",
    "label_columns",
    "learner_words",
    "read_features",
    "read_lines",
]

FEATURE_WORDS = (
    "hour,device:category,tags:set,plan:free|pro (a name alone is a number), or hashed:256 for any "
    "names and values"
)

_default = LearnerSpec()


def _part(name: str, help: str) -> Any:
    """An option of `LearnerSpec`; None if it was not given."""
    complete = one_of(*SPELLINGS[name]) if name in SPELLINGS else None
    return typer.Option(
        help=help, show_default=str(getattr(_default, name)), autocompletion=complete
    )


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


def _a(default: float) -> Any:
    return typer.Option(
        "--a",
        help="What a missed label weighs against a wrong one, 0 to 1. A label is shown if its "
        "probability is at least about 1 - a: for rare clicks say 0.95; 1 fills all slots.",
        show_default=str(default),
    )


A = Annotated[float | None, _a(_default.a)]
ServedA = Annotated[float | None, _a(1.0)]  # unless it is told otherwise, a service fills its slots
Scale = Annotated[
    str | None,
    _part(
        "scale",
        "How contexts are scaled: standard (each feature by its running mean and deviation, then "
        "unit length) | unit (unit length as they are, the paper's) | none.",
    ),
]
Bias = Annotated[
    bool | None,
    typer.Option(
        "--bias/--no-bias",
        help="Append a constant feature.",
        show_default="bias",
    ),
]
Project = Annotated[
    str | None,
    _part("project", "Whose weights are projected onto D: learned (labels shown) | all (paper)."),
]
Probe = Annotated[
    float | None,
    _part("probe", "In which share of rounds with a free slot one more label is tried, 0 to 1."),
]
AtLeast = Annotated[
    int | None, typer.Option(min=0, help="Never show fewer labels.", show_default="0")
]
Forget = Annotated[
    float | None,
    typer.Option(
        help="For tastes that change: feedback loses half its weight in so many rounds, at least "
        "1. By default nothing is forgotten."
    ),
]
EXAMINATION_HELP = (
    "How likely the label at each position is looked at, as `semibandit position-bias` prints it: "
    f"{EXAMINATION_WORDS} (the labels down to the last click). The last number holds for all "
    "further positions."
)
Examination = Annotated[str | None, typer.Option(help=f"{EXAMINATION_HELP} By default all are.")]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Orders equal labels; starts draws.", show_default="0")
]

# What it is tried on.
Data = Annotated[
    str,
    typer.Argument(
        help="A name of `semibandit data list`, or a file or folder of yours.",
        autocompletion=data_sets,
    ),
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

Features = Annotated[
    str | None,
    typer.Option(
        help="Which columns of a table (CSV, Parquet) are features, and of which kind: "
        f"{FEATURE_WORDS}; or @FILE with one feature a line. By default all columns but labels, "
        "as numbers.",
    ),
]

# Where it runs.
Device = Annotated[
    str | None,
    typer.Option(
        help="Where full matrices are kept: cuda or cuda:1 for a GPU (extra gpu), cpu for the same "
        "in torch. By default numpy. It is not saved with the learner."
    ),
]
Backend = Annotated[
    str,
    typer.Option(
        help="local; ray for a Ray cluster, or a Ray that is started here if there is none; or "
        "dask for a cluster that is running already.",
        autocompletion=one_of("local", "ray", "dask"),
    ),
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


def read_features(text: str | None) -> int | NamedFeatures | None:
    """What `--features` says: how many numbers, or named features."""
    words = feature_words(text)
    return None if words is None else parse_features(words)


def feature_words(text: str | None) -> str | None:
    """The words of `--features`, which may be in a file, one feature a line."""
    if text is None or not text.startswith("@"):
        return text
    return ",".join(read_lines(text, "features"))


def read_lines(text: str, option: str) -> list[str]:
    """The lines of the file that @FILE names, without empty ones."""
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise MissingFile(f"--{option} = {text!r}, but there is no file {text[1:]}") from None
    except UnicodeDecodeError as why:
        raise FileError(f"--{option} = {text!r}, but the file is not UTF-8: {why}") from None
    return [line.strip() for line in lines if line.strip()]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given: all that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def label_columns(columns: list[str] | None) -> list[str] | int | None:
    """What `--labels` says: names and patterns, or how many of the last columns."""
    if not columns:
        return None
    alone = len(columns) == 1 and columns[0].removeprefix("-").isdecimal()
    return int(columns[0]) if alone else columns
