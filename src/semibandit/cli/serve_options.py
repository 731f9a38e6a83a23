"""The options of `semibandit serve` that say how the service runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semibandit.cli.completion import one_of
from semibandit.cli.config_file import read_config

__all__ = [
    "AccessLog", "AllowHost", "ApiKeyFile", "BodyTimeout", "CertFile", "Config", "Follow",
    "FollowRank", "Grace", "HeaderTimeout", "Holdout", "HoldoutPolicy", "Host", "Keep",
    "KeepAlive", "KeyFile", "LearnHoldout", "LogFormat", "LogLevel", "MaxBody", "MaxLabels",
    "MaxSlots", "MaxWaiting", "Port", "QueueTimeout", "Randomise", "Ray", "ReadKey",
    "ReadKeyFile", "RootPath", "Shards", "SnapshotEvery", "StoreTimeout", "Wait",
]  # fmt: skip


Config = Annotated[
    Path | None,
    typer.Option(
        callback=read_config,
        is_eager=True,  # the other options get their defaults from it
        help="A TOML file with any of these options: port = 8000. The command line comes first, "
        "then the environment, then this file.",
    ),
]
Wait = Annotated[
    float | None,
    typer.Option(
        help="Seconds after which a decision without feedback counts as nothing clicked. "
        "Without it, such a decision is not learned, and feedback may come at any time."
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        help="Events older than this and covered by a snapshot leave the log: 30s, 15m, 12h, 90d, "
        "2w. By default they stay for ever.",
        metavar="DURATION",
    ),
]
Randomise = Annotated[
    str | None,
    typer.Option(
        help="Draw slates at random, with probabilities that are logged: mixed:EPSILON shows one "
        "drawn evenly from all now and then (mixed alone is mixed:0.05); plackett-luce:TEMPERATURE "
        "draws labels by a softmax of their scores (alone: 0.05). It is chosen at every start.",
        metavar="POLICY",
        autocompletion=one_of("mixed:0.05", "plackett-luce:0.05"),
    ),
]
Holdout = Annotated[
    float,
    typer.Option(
        help="The share of the visitors (by subject, or by visit without one) for whom the learner "
        "does not decide: 0.02. The page and /v1/state then say what it gains over them. It is "
        "chosen at every start."
    ),
]
HoldoutPolicy = Annotated[
    str,
    typer.Option(
        help="What the holdout is shown: uniform (drawn evenly, all slots filled) or most-clicked.",
        autocompletion=one_of("uniform", "most-clicked"),
    ),
]
LearnHoldout = Annotated[
    bool,
    typer.Option("--learn-holdout", help="Learn from feedback to visits of the holdout as well."),
]

# Where it listens, and who may ask.
Host = Annotated[
    str,
    typer.Option(help="The address to listen on. One that is not loopback needs a key."),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        help="A name that the Host header of requests may have, besides localhost, --host and "
        "loopback's addresses: shop.example.org, *.example.org, or * for any. Others get 421, "
        "with a key as well. May be repeated; addresses are allowed if --host is 0.0.0.0 or ::.",
        metavar="NAME",
    ),
]
RootPath = Annotated[str, typer.Option(help="The path under which a proxy serves it: /bandit.")]
CertFile = Annotated[
    Path | None,
    typer.Option(
        help="A certificate chain (PEM), to serve HTTPS; read again on SIGHUP.", metavar="FILE"
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="Its private key, unless that is in the same file.", metavar="FILE"),
]
ReadKey = Annotated[
    str | None,
    typer.Option(envvar="SEMIBANDIT_READ_KEY", help="A second key that may only look."),
]
ApiKeyFile = Annotated[
    Path | None,
    typer.Option(
        help="Keys in a file, one a line, all of them valid; read again on SIGHUP.", metavar="FILE"
    ),
]
ReadKeyFile = Annotated[
    Path | None, typer.Option(help="The same for keys that may only look.", metavar="FILE")
]

# How much, and for how long.
SnapshotEvery = Annotated[
    int, typer.Option(help="Events learned between snapshots of the learner.")
]
MaxBody = Annotated[int, typer.Option(min=1, help="Bytes of a request.")]
MaxSlots = Annotated[
    int, typer.Option(min=1, help="Slots of a request, also of one that says nothing of slots.")
]
MaxLabels = Annotated[int, typer.Option(min=1, help="Labels of the learner.")]
MaxWaiting = Annotated[
    int, typer.Option(min=1, help="Requests that may wait; more are told to come again.")
]
StoreTimeout = Annotated[
    float, typer.Option(help="Seconds that the store may take; then requests get 503.")
]
HeaderTimeout = Annotated[
    float,
    typer.Option(help="Seconds until the headers of a request, or a TLS handshake, have arrived."),
]
BodyTimeout = Annotated[float, typer.Option(help="Seconds until its body has arrived.")]
KeepAlive = Annotated[
    float, typer.Option(help="Seconds that a connection is kept without a request.")
]
QueueTimeout = Annotated[
    float,
    typer.Option(
        help="Seconds that a request to rank or feedback may wait for its turn; then it gets 503, "
        "so that others are answered in time."
    ),
]
Grace = Annotated[
    float, typer.Option(help="Seconds from SIGTERM to the end of the process, whatever hangs.")
]

# Beside another process.
Follow = Annotated[
    bool,
    typer.Option(
        "--follow", help="Follow a store that another process writes to; take over if it ends."
    ),
]
FollowRank = Annotated[
    bool,
    typer.Option("--follow-rank", help="Answer requests to rank while following, without a log."),
]

# Where its labels are.
Shards = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Divide the labels among so many processes of a Ray cluster. It is chosen at every "
        "start; the store does not depend on it.",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        help="The Ray cluster of the shards: its address, or auto for the one of RAY_ADDRESS or "
        "`ray start`, or else a Ray that is started here and ends with the service.",
        metavar="ADDRESS",
    ),
]

# What is written to stderr.
AccessLog = Annotated[bool, typer.Option("--access-log", help="Log a line for every request.")]
LogFormat = Annotated[
    str,
    typer.Option(
        help="text, or json for one object a line.", autocompletion=one_of("text", "json")
    ),
]
LogLevel = Annotated[
    str,
    typer.Option(
        help="The least that is logged: debug, info, warning, error.",
        autocompletion=one_of("debug", "info", "warning", "error"),
    ),
]
