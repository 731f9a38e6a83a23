"""`semibandit replay`: a data set as partial feedback, or the log of a service learned again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit._util.checks import whole_number
from semibandit._util.duration import parse_duration
from semibandit._util.progress import byte_progress_bar
from semibandit.cli.completion import SPELLINGS, data_sets, one_of
from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import (
    A,
    AtLeast,
    Bias,
    Cost,
    Device,
    Examination,
    Features,
    Forget,
    LabelColumns,
    Learner,
    Loss,
    Model,
    Probe,
    Project,
    Scale,
    Seed,
    Slots,
    Width,
    feature_words,
    given,
    label_columns,
    learner_words,
)
from semibandit.cli.output import draw, print_line, print_table, write_json
from semibandit.data.dataset import Dataset
from semibandit.data.read import read_dataset
from semibandit.errors import InputError, UnknownKeyword
from semibandit.evaluation.off_policy.policy_words import read_value
from semibandit.evaluation.trace_file import FORMATS, write_trace
from semibandit.experiments.sets import STAND_INS, stand_in
from semibandit.experiments.setting import Setting, replayed, result_of
from semibandit.policies.features.encoder import parse_features
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.store.export import is_log

__all__ = ["read_data", "replay"]


def replay(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="A name of `semibandit data list`, a file or folder of yours, or a service's log: "
            "its store, or a file of `semibandit export`.",
            autocompletion=data_sets,
        ),
    ],
    learner: Learner = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            help="Another learner to play beside it, with what is different about it: "
            "'OBR', 'Greedy', 'SlateUCB width=scaled:0.5 loss=logistic:2'. May be repeated.",
            autocompletion=one_of(*SPELLINGS["learner"]),
        ),
    ] = None,
    loss: Loss = None, model: Model = None, width: Width = None, cost: Cost = None, a: A = None,
    scale: Scale = None, bias: Bias = None, project: Project = None, probe: Probe = None,
    at_least: AtLeast = None, forget: Forget = None,
    examination: Examination = None, seed: Seed = None,
    slots: Slots = None, device: Device = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Only the first so many rows.")] = None,
    labels: LabelColumns = None,
    features: Features = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the rounds, the numbers and the plot.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help=f"Of the rounds: {' or '.join(FORMATS)}.",
            show_default=FORMATS[0],
            autocompletion=one_of(*FORMATS),
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Of a log: only feedback of the last 30d, 12h, ...; by default all."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write the learner to this file (.npz) afterwards. Of a log, a running service "
            "takes it in place of its own: POST /v1/learner."
        ),
    ] = None,
) -> None:  # fmt: skip
    """Replay a multilabel data set as partial feedback, and see who learns.

    Each row of the training part is a request: the learner shows labels, and is told which of
    those it showed are relevant. One sweep, in the order of the file.

    semibandit replay mediamill --slots 10 --compare OBR --compare Greedy --out results

    The log of a service is learned again as it was answered: by the learner that it was, or with
    what the options --learner to --seed change. It learns from what was shown then. The Brier score
    says how well each answer was foretold before it was learned: smaller is better.

    semibandit replay semibandit-store --since 30d --a 0.95 --save better.npz
    """
    with reporting_errors("replay"):
        words = learner_words(context)
        play = given(
            compare=compare, slots=slots, rounds=rounds, labels=labels, out=out, format=format
        )
        named = feature_words(features)
        if not is_log(data):
            if since is not None:
                raise InputError("--since is for the log of a service: data sets have no time")
            _replay_data(data, words | given(features=named), play, save, device)
        elif play:
            raise InputError(
                f"--{next(iter(play))} does not go with a log: what was shown is in it"
            )
        else:
            _check_log_features(data, named)
            _replay_log(data, words, since, save, device)


def read_data(
    data: str, labels: list[str] | None, columns: tuple[str, ...] | str | None = None
) -> Dataset:
    """The data set, with a progress bar if it has to be downloaded."""
    if data in STAND_INS:
        return stand_in(data)
    with byte_progress_bar() as progress:
        return read_dataset(data, labels=label_columns(labels), columns=columns, progress=progress)


def _replay_data(
    data: str, words: dict[str, Any], play: dict[str, Any], save: Path | None, device: str | None
) -> None:
    form = play.get("format", FORMATS[0])
    if form not in FORMATS:
        raise InputError(f"--format = {form!r}, but it must be one of {', '.join(FORMATS)}")
    own = Setting(data, slots=play.get("slots"), rounds=play.get("rounds"), **words)
    players = {_name(own, own): own}
    for text in play.get("compare", []):
        other = _different(own, text)
        players[_name(other, own)] = other
    out: Path | None = play.get("out")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    dataset = read_data(data, play.get("labels"), own.columns)
    learners = {
        name: one.learner_for(dataset, device if one is own or _has_full_matrices(one) else None)
        for name, one in players.items()
    }
    results = {}
    for name, setting in players.items():  # all mistakes have been found: now the work
        trace = replayed(setting, dataset, learner=learners[name], progress=None)
        results[name] = result_of(trace)
        if out is not None:
            write_trace(trace, out / f"{_file_name(name)}.{form}")
    _show(dataset, results)
    for name, learner in learners.items():
        if undecided := getattr(learner, "undecided", 0):
            times = "once" if undecided == 1 else f"{undecided:,} times"
            print_line(f"{name}: float32 could not tell two labels apart {times}")
    if out is not None:
        every = {name: {"setting": s.json(), **results[name]} for name, s in players.items()}
        write_json(out / "results.json", every)
        curves = {name: (r["marks"], r["curve"]) for name, r in results.items()}
        drawn = draw(lambda plot: plot.replay_plot(curves), out / "replay")
        plot = ", replay.png" if drawn else ""
        print_line(f"wrote {out}: the rounds of each learner, results.json{plot}")
    if save is not None:
        learners[_name(own, own)].save(save)
        print_line(f"wrote {save}")


def _has_full_matrices(setting: Setting) -> bool:
    """Whether the learner can be on a device; a baseline that cannot is compared from numpy."""
    return setting.model.partition(":")[0] == "full" and not setting.ignores(["model"])


def _replay_log(
    log: str, words: dict[str, Any], since: str | None, save: Path | None, device: str | None
) -> None:
    from semibandit._util.blas import one_thread
    from semibandit.evaluation.replay_log import replay_log

    start = None if since is None else time.time() - parse_duration("--since", since)
    one_thread()
    changed = _changed_learner(log, words, device) if words else None
    found = replay_log(log, changed, since=start, device=device)
    print_table(
        ("learner", "events", "passed over", "click rate", "expected", "Brier score"),
        [
            (
                type(found.learner).__name__,
                f"{found.events:,}",
                f"{found.passed_over:,}",
                f"{found.rate:.2%}",
                f"{found.expected / max(found.labels, 1):.2%}",
                f"{found.brier:.4f}",
            )
        ],
    )
    if found.held_out:
        print_line(f"{found.held_out:,} visits of the holdout are not learned (serve --holdout)")
    if found.removed:
        print_line(
            f"feedback up to event {found.removed} has left the log, at least in part "
            "(serve --keep, or erased): this learner does not know it"
        )
    if save is not None:
        found.save(save)
        print_line(f"wrote {save}: it has learned the log up to event {found.position}")


def _check_log_features(log: str, words: str | None) -> None:
    """Refuse features that are not those of the log: its contexts were encoded by them."""
    if words is None:
        return
    from semibandit.store.export import open_log

    with open_log(log) as opened:
        features, size = opened.learner.features, opened.learner.n_features
    if parse_features(words) != (features or size):
        there = size if features is None else features.words
        raise InputError(f"--features = {words!r}, but this log was made with {there}")


def _changed_learner(log: str, words: dict[str, Any], device: str | None) -> Any:
    """A new learner like the one that the log began with, except for what was changed."""
    from semibandit.store.export import open_log

    with open_log(log) as opened:
        first = opened.learner
    if first.t > 1:
        raise InputError(
            f"--{next(iter(words))} does not go with this log: it began with a learner that had "
            f"learned {first.t - 1} rounds elsewhere, which a changed one could not have"
        )
    spec = LearnerSpec.of(first).changed(**words)
    features = first.features or first.n_features
    return spec.build(features, first.n_labels if first.numbered else first.labels, device)


def _different(own: Setting, text: str) -> Setting:
    """'Greedy', or 'SlateUCB width=scaled:0.5': the same except for what it says."""
    if not text.strip():
        raise InputError("--compare needs a learner: 'OBR', 'SlateUCB width=scaled:0.5'")
    name, *rest = text.split()
    changes: dict[str, Any] = {"learner": name}
    known = own.json()
    for part in rest:
        key, equals, value = part.partition("=")
        fixed = ("data", "learner", "features")  # what all learners are replayed on
        if not equals or key not in known or key in fixed:
            keys = ", ".join(k for k in known if k not in fixed)
            raise UnknownKeyword(
                f"--compare {text!r}: {part!r} is not KEY=VALUE with a key of {keys}"
            )
        changes[key] = read_value(key, value, known[key])
        if key == "rounds" and changes[key] is not None:
            whole_number(key, changes[key], least=1)
    return own.changed(**changes)


def _name(setting: Setting, own: Setting) -> str:
    """The learner and what is different about it."""
    there = own.json()
    changes = [
        f"{key}={value}"
        for key, value in setting.json().items()
        if key != "learner" and value != there[key]
    ]
    return " ".join([setting.learner, *changes])


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-.=" else "_" for c in name)


def _show(dataset: Dataset, results: dict[str, dict[str, Any]]) -> None:
    rounds = next(iter(results.values()))["rounds"]
    print_table(
        ("learner", "loss ac", "hamming", "rank", "precision", "recall", "size"),
        [
            (
                name,
                f"{r['ac']:.4f}",
                f"{r['hamming']:.3f}",
                f"{r['rank']:.1f}",
                f"{r['precision']:.1%}",
                f"{r['recall']:.1%}",
                f"{r['size']:.2f}",
            )
            for name, r in results.items()
        ],
        title=f"{dataset.name}: {rounds} rounds, d={dataset.d}, K={dataset.K}",
    )
