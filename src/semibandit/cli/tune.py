"""`semibandit tune`: which settings learn best on your data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import (
    A,
    Address,
    AtLeast,
    Backend,
    Cost,
    Data,
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
    learner_words,
)
from semibandit.cli.output import draw, print_line, print_table, write_json
from semibandit.cli.replay import read_data
from semibandit.data.dataset import Dataset
from semibandit.experiments import tune as tuning
from semibandit.experiments.setting import Setting

__all__ = ["tune"]


def tune(
    context: typer.Context,
    data: Data,
    rounds: Annotated[int, typer.Option(min=1, help="Try on the first so many rows.")] = 3000,
    slots: Slots = None,
    model: Model = None,
    cost: Cost = None,
    a: A = None,
    scale: Scale = None,
    project: Project = None,
    probe: Probe = None,
    at_least: AtLeast = None,
    forget: Forget = None,
    seed: Seed = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds per setting, from --seed on.")] = 1,
    labels: LabelColumns = None,
    features: Features = None,
    out: Annotated[
        Path, typer.Option(help="Folder for what was tried; a stopped search goes on there.")
    ] = Path("semibandit-tune"),
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """Find alpha, the loss and its R, a bias and the slots, by replay on the first rows.

    Every alpha with every loss, with and without a bias; then the slots for the best of them. The
    search minimises the average loss. It prints the curve over alpha and how to make the best
    learner.
    """
    with reporting_errors("tune"):
        out.mkdir(parents=True, exist_ok=True)
        words = feature_words(features)
        dataset = read_data(data, labels, Setting(data, features=words).columns)
        found = tuning.tune(
            dataset if labels else data,  # with --labels, workers cannot read the file themselves
            slots=slots,
            rounds=rounds,
            features=words,
            seeds=seeds,
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
        draw(lambda plot: plot.tune_plot(found.curves(slots)), out / "tuned")
        print_line(f"wrote {out}: tuned.json, tuned.png")


def _show(found: tuning.Tuned, dataset: Dataset, slots: int | None) -> None:
    best, curves = found.best, found.curves(slots)
    alphas = [f"{alpha:g}" for alpha in next(iter(curves.values()))]
    print_table(
        ["alpha", *alphas],
        [(name, *(f"{value:.3f}" for value in curve.values())) for name, curve in curves.items()],
        title=f"{dataset.name}: average loss by alpha, first {best.rounds} rows",
    )
    limits = [(s.slots, value) for s, value in found.tried if s.slots != slots]
    if limits:
        text = ", ".join(f"{S}: {value:.4f}" for S, value in limits)
        print_line(f"by slots, with the best of the rest: {text}")
    named = best.named_features()
    code = found.code(dataset.d if named is None else f"sb.{named!r}", dataset.K)
    print_line(f"best: {code}, slots={best.slots}: {found.loss:.4f}")
