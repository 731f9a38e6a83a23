"""`semibandit tune`: which settings learn best on your data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit._util.blas import one_thread
from semibandit.cli.completion import data_sets
from semibandit.cli.errors import reporting_errors
from semibandit.cli.log_options import Reward, Since, read_reward_words, time_before
from semibandit.cli.options import (
    A,
    Address,
    AtLeast,
    Backend,
    Cost,
    Examination,
    Features,
    Forget,
    Jobs,
    LabelColumns,
    Model,
    Probe,
    Project,
    Scale,
    Seed,
    Slots,
    feature_words,
    given,
    learner_words,
)
from semibandit.cli.output import draw, print_line, print_table, write_json
from semibandit.cli.replay import read_data
from semibandit.data.dataset import Dataset
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.result_text import counted, interval, interval_words
from semibandit.experiments import tune as tuning
from semibandit.experiments.setting import Setting
from semibandit.store.export import is_log

__all__ = ["tune"]

FOLDER = Path("semibandit-tune")


def tune(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="A name of `semibandit data list`, a file or folder of yours; or the log of a "
            "service: its store, or a file of `semibandit export`.",
            autocompletion=data_sets,
        ),
    ],
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Try on the first so many rows.", show_default=str(tuning.ROUNDS)),
    ] = None,
    slots: Slots = None,
    model: Model = None,
    cost: Cost = None,
    a: A = None,
    scale: Scale = None,
    project: Project = None,
    probe: Probe = None,
    at_least: AtLeast = None,
    forget: Forget = None,
    examination: Examination = None,
    seed: Seed = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Seeds per setting, from --seed on.", show_default="1"),
    ] = None,
    labels: LabelColumns = None,
    features: Features = None,
    reward: Reward = None,
    since: Since = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for what was tried; a stopped search goes on there.",
            show_default=f"{FOLDER}; nothing is written on a log",
        ),
    ] = None,
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """Find alpha, the loss and its R, a bias and the slots, by replay on the first rows.

    Every alpha with every loss, with and without a bias; then the slots for the best of them. The
    search minimises the average loss. It prints the curve over alpha and how to make the best
    learner.

    On the log of a service (its store, or a file of `semibandit export`) alphas and losses are
    judged by what they would have earned, each learning along the log, and compared with the log's
    own settings; --reward and --since are for logs. What is not given stays as it is in the log.
    The log must say how likely its slates were: serve --randomise mixed:0.05.
    """
    with reporting_errors("tune"):
        if is_log(data):
            of_data = given(
                rounds=rounds, slots=slots, seeds=seeds, labels=labels, features=features,
                backend=None if backend == "local" else backend, address=address, jobs=jobs,
            )  # fmt: skip
            for name in of_data:
                raise InputError(
                    f"--{name} does not go with a log: its visits (all, or those --since) are "
                    "judged as they were asked for, in one pass"
                )
            _tune_log(data, learner_words(context), reward or "clicks", since, out)
            return
        for name in given(reward=reward, since=since):
            raise InputError(f"--{name} is for the log of a service, and {data} is none")
        out = FOLDER if out is None else out
        out.mkdir(parents=True, exist_ok=True)
        words = feature_words(features)
        dataset = read_data(data, labels, Setting(data, features=words).columns)
        found = tuning.tune(
            dataset if labels else data,  # with --labels, workers cannot read the file themselves
            slots=slots,
            rounds=tuning.ROUNDS if rounds is None else rounds,
            features=words,
            seeds=1 if seeds is None else seeds,
            folder=out / "runs",
            backend=backend,
            address=address,
            jobs=jobs,
            **learner_words(context),
        )
        _show(found, dataset, slots)
        tried = [{**setting.json(), "loss_ac": value} for setting, value in found.tried]
        best = {"best": found.best.json(), "loss": found.loss, "tried": tried}
        write_json(out / "tuned.json", best)
        drawn = draw(lambda plot: plot.tune_plot(found.curves(slots)), out / "tuned")
        print_line(f"wrote {out}: tuned.json{', tuned.png' if drawn else ''}")


def _tune_log(
    log: str, words: dict[str, Any], reward: str, since: str | None, out: Path | None
) -> None:
    one_thread()
    found = tuning.tune(
        log,
        reward=read_reward_words(reward, log),
        since=time_before("--since", since),
        **words,
    )
    _show_log(log, found)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        tried = [{**setting.json(), "value": -loss} for setting, loss in found.tried]
        best = {"best": found.best.json(), "value": -found.loss, "estimator": found.estimator}
        write_json(out / "tuned.json", best | {"tried": tried})
        print_line(f"wrote {out / 'tuned.json'}")


def _show_log(log: str, found: tuning.Tuned) -> None:
    one = found.evaluation
    assert one is not None
    curves = {
        name: {alpha: -loss for alpha, loss in curve.items()}
        for name, curve in found.curves(None).items()
    }
    print_line(f"{log}: {counted(one.visits, 'visits')}, reward: {one.reward} per visit")
    alphas = sorted({alpha for curve in curves.values() for alpha in curve})
    print_table(
        ["alpha", *curves],
        [
            (
                f"{a:g}",
                *(f"{curve[a]:.4f}" if a in curve else "refused" for curve in curves.values()),
            )
            for a in alphas
        ],
        title=f"value per visit by alpha ({found.estimator})",
        caption=f"Brackets below: {interval_words(one.confidence)}.",
    )
    if found.refused:
        setting, why = found.refused[0]
        n = len(found.refused)
        settings = f"{n:,} settings refused, such as" if n > 1 else "1 setting refused:"
        print_line(f"{settings} {setting.loss} with {setting.width}. {why}")
    print_line(f"the log's own policy earned {interval(one.logged)}")
    print_line(f"the log's own settings, begun anew: {interval(found.present)}")
    print_line(f"best: {interval(one.estimates[found.estimator or ''])}")
    print_line(found.verdict())
    print_line(f"in Python: {found.code()}")
    print_line(f"for serve and replay: {found.options()}")


def _show(found: tuning.Tuned, dataset: Dataset, slots: int | None) -> None:
    best, curves = found.best, found.curves(slots)
    rows = min(best.rounds or dataset.n_train, dataset.n_train)
    alphas = [f"{alpha:g}" for alpha in next(iter(curves.values()))]
    print_table(
        ["alpha", *alphas],
        [(name, *(f"{value:.3f}" for value in curve.values())) for name, curve in curves.items()],
        title=f"{dataset.name}: average loss by alpha, first {rows} rows",
    )
    limits = [(s.slots, value) for s, value in found.tried if s.slots != slots]
    if limits:
        text = ", ".join(f"{S}: {value:.4f}" for S, value in limits)
        print_line(f"by slots, with the best of the rest: {text}")
    named = best.named_features()
    code = found.code(dataset.d if named is None else f"sb.{named!r}", dataset.K)
    print_line(f"best: {code}, slots={best.slots}: {found.loss:.4f}")
    print_line(f"for serve and replay: {found.options()}")
