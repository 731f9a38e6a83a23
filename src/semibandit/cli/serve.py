"""`semibandit serve`: a learner as a service."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semibandit._util.duration import parse_duration
from semibandit._util.extras import import_extra
from semibandit.cli import serve_options as options
from semibandit.cli.config_file import warn_of_unknown_variables
from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import (
    FEATURE_WORDS,
    ApiKey,
    AtLeast,
    Bias,
    Cost,
    Device,
    Examination,
    Forget,
    Learner,
    Loss,
    Model,
    Probe,
    Project,
    Scale,
    Seed,
    ServedA,
    Width,
    learner_words,
    read_features,
    read_lines,
)
from semibandit.errors import InputError

if TYPE_CHECKING:
    from semibandit.models.sharded.placement import Shards
    from semibandit.service.config import StoreConfig
    from semibandit.service.settings import Settings

__all__ = ["DEFAULT_STORE", "serve"]

DEFAULT_STORE = "semibandit-store"


def serve(
    context: typer.Context,
    config: options.Config = None,
    store: Annotated[
        str, typer.Option(help="A folder (SQLite), or postgresql://user:password@host/database.")
    ] = DEFAULT_STORE,
    features: Annotated[
        str | None,
        typer.Option(
            help="How many numbers a context has; or its features by name, "
            f"{FEATURE_WORDS}; or @FILE with one feature a line."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="How many labels, their names: a,b,c, or @FILE with one a line."),
    ] = None,
    learner: Learner = None,
    loss: Loss = None, model: Model = None, width: Width = None, cost: Cost = None,
    a: ServedA = None, scale: Scale = None, bias: Bias = None, project: Project = None,
    probe: Probe = None, at_least: AtLeast = None, forget: Forget = None,
    examination: Examination = None, seed: Seed = None,
    start_from: Annotated[
        Path | None,
        typer.Option(help="A learner that was saved in Python, in place of --labels to --seed."),
    ] = None,
    wait: options.Wait = None, keep: options.Keep = None, randomise: options.Randomise = None,
    holdout: options.Holdout = 0.0, holdout_policy: options.HoldoutPolicy = "uniform",
    learn_holdout: options.LearnHoldout = False, device: Device = None,
    host: options.Host = "127.0.0.1", port: options.Port = 8000,
    allow_host: options.AllowHost = None, root_path: options.RootPath = "",
    certfile: options.CertFile = None, keyfile: options.KeyFile = None,
    api_key: ApiKey = None, api_key_file: options.ApiKeyFile = None,
    read_key: options.ReadKey = None, read_key_file: options.ReadKeyFile = None,
    snapshot_every: options.SnapshotEvery = 5000,
    max_body: options.MaxBody = 1 << 20, max_slots: options.MaxSlots = 1000,
    max_labels: options.MaxLabels = 100_000, max_waiting: options.MaxWaiting = 1024,
    store_timeout: options.StoreTimeout = 5.0, header_timeout: options.HeaderTimeout = 10.0,
    body_timeout: options.BodyTimeout = 30.0, keep_alive: options.KeepAlive = 60.0,
    queue_timeout: options.QueueTimeout = 0.5, grace: options.Grace = 10.0,
    follow: options.Follow = False, follow_rank: options.FollowRank = False,
    shards: options.Shards = None, ray: options.Ray = None,
    access_log: options.AccessLog = False, log_format: options.LogFormat = "text",
    log_level: options.LogLevel = "info",
) -> None:  # fmt: skip
    """Serve a learner over HTTP: rank, feedback, a page to watch it learn.

    Features and labels are needed once, when the store is made, and so is what the learner is made
    with (--learner to --seed); afterwards `semibandit serve` with the same store goes on where it
    stopped, however it stopped. The other options, --randomise and --holdout among them, are given
    at every start. Every learner but OBR can be served.
    """
    with reporting_errors("serve"):
        service = import_extra("semibandit.service.serve", "service", "the service")
        from semibandit.service.logs import configure_logs

        settings, made_for = _settings(context.params), _store_config(context)
        configure_logs(settings.logs)
        warn_of_unknown_variables(context)
        with suppress(KeyboardInterrupt):  # Ctrl-C is how one stops it
            service.serve(store, made_for, settings, host, port, lambda text: typer.echo(text))


def _settings(given: dict[str, Any]) -> Settings:
    """How the service runs, by the options that were given."""
    from semibandit.service.settings import Limits, LogSettings, Settings, Timeouts

    files = ("api_key_file", "read_key_file", "certfile", "keyfile")
    same = (
        "wait", "snapshot_every", "api_key", "read_key", "follow", "follow_rank", "root_path",
        "randomise", "holdout", "holdout_policy", "learn_holdout", "device",
    )  # fmt: skip
    plain: dict[str, Any] = {name: given[name] for name in same}
    plain["follow"] |= plain["follow_rank"]
    plain |= {name: None if given[name] is None else str(given[name]) for name in files}
    return Settings(
        **plain,
        limits=Limits(
            body=given["max_body"],
            slots=given["max_slots"],
            labels=given["max_labels"],
            queue=given["max_waiting"],
        ),
        timeouts=Timeouts(
            store=given["store_timeout"],
            header=given["header_timeout"],
            body=given["body_timeout"],
            keep_alive=given["keep_alive"],
            queue=given["queue_timeout"],
            grace=given["grace"],
        ),
        shards=_shards(given["shards"], given["ray"], given["device"]),
        keep=None if given["keep"] is None else parse_duration("keep", given["keep"]),
        allow_hosts=tuple(given["allow_host"] or ()),
        logs=LogSettings(given["access_log"], given["log_format"], given["log_level"]),
    )


def _shards(n: int | None, ray: str | None, device: str | None) -> Shards | None:
    """How labels are divided; while a shard is lost, requests are told to come again.

    On a GPU each shard has one of its own.
    """
    from semibandit.models.sharded.placement import Shards

    if n is None and ray is not None:
        raise InputError(f"--ray = {ray!r} without --shards: say among how many to divide labels")
    gpu = {"num_gpus": 1} if (device or "").startswith("cuda") else {}
    if n is None:
        return None
    return Shards(n, on="ray", address=ray, ray_actor_options=gpu, missing="raise")


def _store_config(context: typer.Context) -> StoreConfig:
    """What the store is made for, by the options that were given."""
    from semibandit.service.config import StoreConfig

    given = context.params
    return StoreConfig(
        features=read_features(given["features"]),
        labels=_count_or_names(given["labels"]),
        learner=learner_words(context),
        start_from=None if given["start_from"] is None else str(given["start_from"]),
    )


def _count_or_names(text: str | None) -> Any:
    """A number, names by commas, or @FILE with a name in each line."""
    if text is None:
        return None
    if text.startswith("@"):
        return read_lines(text, "labels")
    if text.isdecimal():
        return int(text)
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(f"--labels = {text!r} has an empty name")
    return names
