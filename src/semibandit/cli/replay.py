"""`semibandit replay`, `tune` and `sweep`: learners on your own data, from the command line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from semibandit._util.atomic import replacing
from semibandit._util.progress import byte_progress_bar
from semibandit.cli.errors import label_columns, said
from semibandit.cli.log import replay_log
from semibandit.data.dataset import Dataset
from semibandit.data.formats.npz import write_npz
from semibandit.data.read import read_dataset
from semibandit.errors import InputError
from semibandit.evaluation.trace_file import FORMATS, write_trace
from semibandit.experiments import tune as tuning
from semibandit.experiments.sets import STAND_INS, stand_in
from semibandit.experiments.setting import LEARNERS, Setting, replayed, result_of, run
from semibandit.experiments.sweep import grid
from semibandit.experiments.sweep import sweep as swept
from semibandit.store.export import is_log

__all__ = ["replay", "sweep", "tune"]

Data = Annotated[
    str, typer.Argument(help="A name of `semibandit data list`, or a file or folder of yours.")
]
Loss = Annotated[str, typer.Option(help="square, or logistic:R.")]
Model = Annotated[
    str, typer.Option(help="full, full:float32, diagonal, linear, rbf:GAMMA, polynomial:DEGREE.")
]
Width = Annotated[str, typer.Option(help="scaled:ALPHA, known:U,DELTA or unknown:DELTA.")]
CostName = Annotated[str, typer.Option(help="decreasing or constant.")]
Weight = Annotated[float, typer.Option("--a", help="Missed labels against wrong ones, 0 to 1.")]
Slots = Annotated[int | None, typer.Option(min=0, help="The most labels shown; none: no limit.")]
Bias = Annotated[bool, typer.Option("--bias", help="Append a constant feature.")]
Normalize = Annotated[bool, typer.Option(help="Scale contexts to unit norm.")]
Rounds = Annotated[int | None, typer.Option(min=1, help="Only the first so many rows.")]
Seed = Annotated[int, typer.Option(min=0, help="Orders labels that are equal; draws.")]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        help="Which columns are labels (CSV, Parquet, ARFF): names, patterns, or how many."
    ),
]
Backend = Annotated[str, typer.Option(help="local, or ray or dask for a cluster that is there.")]
Address = Annotated[str | None, typer.Option(help="The cluster's address.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Runs at a time; by default one per core.")]


def replay(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="A name of `semibandit data list`, a file or folder of yours, or a service's log."
        ),
    ],
    learner: Annotated[str, typer.Option(help=f"Who plays: {', '.join(LEARNERS)}.")] = "SlateUCB",
    compare: Annotated[
        list[str] | None,
        typer.Option(
            help="Another to play beside it, with what is different about it: "
            "'OBR', 'Greedy', 'SlateUCB width=scaled:0.5 loss=logistic:2'. May be repeated."
        ),
    ] = None,
    loss: Loss = "square",
    model: Model = "full",
    width: Width = Setting.width,
    cost: CostName = "decreasing",
    a: Weight = 0.5,
    slots: Slots = None,
    bias: Bias = False,
    normalize: Normalize = True,
    rounds: Rounds = None,
    seed: Seed = 0,
    labels: Labels = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the rounds, the numbers and the plot.")
    ] = None,
    format: Annotated[str, typer.Option(help=f"Of the rounds: {' or '.join(FORMATS)}.")] = "csv",
) -> None:
    """Replay a multilabel data set as partial feedback, and see who learns.

    Each row of the training part is a request: the learner shows labels, and is told which of
    those it showed are relevant. One sweep, in the order of the file.

    semibandit replay mediamill --slots 10 --compare OBR --compare Greedy --out results

    The log of a service (its store, or a file of `semibandit export`) is learned again as it was
    answered, with what --learner, --model, --width scaled:ALPHA, --a, --bias and --seed change; see
    `semibandit replay-log`.
    """
    with said("replay"):
        if is_log(data):
            _replay_log(context, data)
            return
        if format not in FORMATS:
            raise InputError(f"--format = {format!r}, but it must be one of {', '.join(FORMATS)}")
        own = Setting(
            data, learner, loss, model, width, cost, a, slots, normalize, bias, rounds, seed
        )
        players = {_name(own, own): own}
        for text in compare or []:
            other = _different(own, text)
            players[_name(other, own)] = other
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        dataset = _read(data, labels)
        for setting in players.values():  # mistakes first, work second
            setting.build(dataset.d, dataset.K)
        results = {}
        for name, setting in players.items():
            trace = replayed(setting, dataset, progress=None)
            results[name] = result_of(trace, setting)
            if out is not None:
                write_trace(trace, out / f"{_file(name)}.{format}")
        _show(dataset, results)
        if out is not None:
            _keep(out, players, results)


def tune(
    data: Data,
    rounds: Annotated[int, typer.Option(min=1, help="Try on the first so many rows.")] = 3000,
    slots: Slots = None,
    model: Model = "full",
    cost: CostName = "decreasing",
    a: Weight = 0.5,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds per setting.")] = 1,
    labels: Labels = None,
    out: Annotated[
        Path, typer.Option(help="Folder for what was tried; a stopped search goes on there.")
    ] = Path("semibandit-tune"),
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """Find alpha, the loss and its R, a bias and the slots, by replay on the first rows.

    Every alpha with every loss, with and without a bias; then the slots for the best of them. What
    is made small is the average loss. Shows the curve over alpha and what to call SlateUCB with.
    """
    with said("tune"):
        out.mkdir(parents=True, exist_ok=True)
        dataset = _read(data, labels)
        name = data
        if labels:  # workers read it from a file that needs no options
            name = str((out / "data.npz").resolve())
            write_npz(dataset, name)
        start = Setting(name, model=model, cost=cost, a=a, slots=slots, rounds=rounds)
        start.build(dataset.d, dataset.K)
        biases = (True,) if dataset.rows_without_features else (False, True)
        found = tuning.tune(
            start,
            biases=biases,
            seeds=seeds,
            folder=out / "runs",
            backend=backend,
            address=address,
            jobs=jobs,
        )
        _tuned(found, dataset, slots)
        every = [{**setting.json(), "loss_ac": value} for setting, value in found.tried]
        _write(out / "tuned.json", {"best": found.best.json(), "loss": found.loss, "tried": every})
        _draw(lambda plot: plot.tune_plot(found.curves(slots)), out / "tuned")
        Console().print(f"wrote {out}: tuned.json, tuned.png", highlight=False)


def sweep(
    plan: Annotated[Path, typer.Argument(help="A TOML file with tables `setting` and `grid`.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the results; a stopped sweep goes on there.")
    ] = Path("semibandit-sweep"),
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """Run every setting of a grid, with every seed, on all cores or a cluster.

    The file has a table `setting` of what all runs share (data = "mediamill", slots = 10) and a
    table `grid` of lists (width = "scaled:0.1", "scaled:1"; seed = 0, 1, 2): every way to choose
    one of each is a run. The keys are those of `semibandit replay`.

    Results go to results.csv. Each run is kept as soon as it is done: nothing is run twice.
    """
    with said("sweep"):
        try:
            asked = tomllib.loads(plan.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as why:
            raise InputError(f"{plan} is not TOML: {why}") from None
        for key in asked:
            if key not in ("setting", "grid"):
                raise InputError(f"{plan}: [{key}] is unknown; there is [setting] and [grid]")
        base = asked.get("setting", {})
        runs = [Setting.of({**base, **one}).json() for one in grid(**asked.get("grid", {}))]
        out.mkdir(parents=True, exist_ok=True)
        results = swept(run, runs, folder=out / "runs", backend=backend, address=address, jobs=jobs)
        keys = [key for key in runs[0] if len({json.dumps(one[key]) for one in runs}) > 1]
        numbers = [key for key, value in results[0].items() if not isinstance(value, list)]
        lines = [",".join([*runs[0], *numbers])]
        for one, result in zip(runs, results, strict=True):
            lines.append(",".join(_cell(v) for v in [*one.values(), *(result[n] for n in numbers)]))
        with replacing(out / "results.csv") as file:
            file.write(("\n".join(lines) + "\n").encode())
        table = Table()
        for key in [*keys, "loss ac", "precision", "slate size"]:
            table.add_column(key, justify="left" if key in keys else "right")
        for one, result in zip(runs, results, strict=True):
            figures = (f"{result['ac']:.4f}", f"{result['precision']:.1%}", f"{result['size']:.2f}")
            table.add_row(*(str(one[key]) for key in keys), *figures)
        Console().print(table)
        Console().print(f"wrote {out / 'results.csv'}", highlight=False)


def _replay_log(context: typer.Context, log: str) -> None:
    """`replay-log` with those options of `replay` that were given."""
    given: dict[str, Any] = {}
    for name, value in context.params.items():
        source = context.get_parameter_source(name)
        if name != "data" and source is not None and source.name == "COMMANDLINE":
            given[name] = value
    width = given.pop("width", None)
    if width is not None:
        name, _, number = str(width).partition(":")
        if name != "scaled" or not number:
            raise InputError(f"--width = {width!r}: a log is replayed with scaled:ALPHA")
        given["alpha"] = float(number)
    for name in given:
        if name not in ("learner", "model", "alpha", "a", "bias", "seed"):
            raise InputError(f"--{name} does not go with a log: what was shown is in it")
    replay_log(log, **given)


def _read(data: str, labels: list[str] | None) -> Dataset:
    if data in STAND_INS:
        return stand_in(data)
    with byte_progress_bar() as watch:
        return read_dataset(data, labels=label_columns(labels), watch=watch)


def _different(own: Setting, text: str) -> Setting:
    """'Greedy', or 'SlateUCB width=scaled:0.5': the same but for what it says."""
    name, *rest = text.split()
    changes: dict[str, Any] = {"learner": name}
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals or key not in own.json() or key == "data":
            keys = ", ".join(k for k in own.json() if k not in ("data", "learner"))
            raise InputError(f"--compare {text!r}: {part!r} is not KEY=VALUE with a key of {keys}")
        changes[key] = _value(key, value, getattr(own, key))
    return replace(own, **changes)


def _value(key: str, text: str, like: object) -> object:
    if key in ("slots", "rounds"):
        return None if text.lower() == "none" else int(text)
    if isinstance(like, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f"{key} = {text!r}, but it must be true or false")
        return text.lower() == "true"
    return type(like)(text) if isinstance(like, int | float) else text


def _name(setting: Setting, own: Setting) -> str:
    parts = [
        f"{key}={value}"
        for key, value in setting.json().items()
        if key != "learner" and value != own.json()[key]
    ]
    return " ".join([setting.learner, *parts])


def _file(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-.=" else "_" for c in name)


def _show(dataset: Dataset, results: dict[str, dict[str, Any]]) -> None:
    rounds = next(iter(results.values()))["rounds"]
    table = Table(title=f"{dataset.name}: {rounds} rounds, d={dataset.d}, K={dataset.K}")
    table.add_column("learner", no_wrap=True)
    for name in ("loss ac", "hamming", "rank", "precision", "recall", "size"):
        table.add_column(name, justify="right")
    for name, r in results.items():
        table.add_row(
            name,
            f"{r['ac']:.4f}",
            f"{r['hamming']:.3f}",
            f"{r['rank']:.1f}",
            f"{r['precision']:.1%}",
            f"{r['recall']:.1%}",
            f"{r['size']:.2f}",
        )
    Console().print(table)


def _keep(out: Path, players: dict[str, Setting], results: dict[str, dict[str, Any]]) -> None:
    every = {name: {"setting": s.json(), **results[name]} for name, s in players.items()}
    _write(out / "results.json", every)
    curves = {name: (r["marks"], r["curve"]) for name, r in results.items()}
    _draw(lambda plot: plot.replay_plot(curves), out / "replay")
    text = f"wrote {out}: the rounds of each learner, results.json, replay.png"
    Console().print(text, highlight=False)


def _draw(make: Callable[[Any], Any], path: Path) -> None:
    """A figure as PNG and SVG, where matplotlib is installed."""
    try:
        from semibandit.experiments import plot
    except ImportError:
        Console().print("no plot: pip install 'semibandit[plot]'", markup=False)
    else:
        plot.save(make(plot), path)


def _tuned(found: tuning.Tuned, dataset: Dataset, slots: int | None) -> None:
    best, curves = found.best, found.curves(slots)
    table = Table(title=f"{dataset.name}: average loss by alpha, first {best.rounds} rows")
    table.add_column("alpha", no_wrap=True)
    for alpha in next(iter(curves.values())):
        table.add_column(f"{alpha:g}", justify="right")
    for name, curve in curves.items():
        table.add_row(name, *(f"{value:.3f}" for value in curve.values()))
    console = Console()
    console.print(table)
    limits = [(s.slots, value) for s, value in found.tried if s.slots != slots]
    if limits:
        text = ", ".join(f"{S}: {value:.4f}" for S, value in limits)
        console.print(f"by slots, the rest as is best: {text}", highlight=False)
    console.print(
        f"best: {found.code(dataset.d, dataset.K)}, slots={best.slots}: {found.loss:.4f}",
        highlight=False,
        soft_wrap=True,
    )


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f'"{text}"' if "," in text else text


def _write(path: Path, what: object) -> None:
    with replacing(path) as file:
        file.write((json.dumps(what, indent=1) + "\n").encode())
