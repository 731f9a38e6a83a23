"""How a service runs: what may be set, and the limits on requests."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, fields
from typing import Protocol

from semibandit.errors import InputError, ServiceUnavailable
from semibandit.models.gpu.device import check_word
from semibandit.models.sharded.placement import Shards
from semibandit.policies.device import on_device
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised, randomised
from semibandit.policies.sharded import model_on_shards, move_to_shards

__all__ = ["Clock", "Limits", "LogSettings", "Settings", "Timeouts", "check_key"]

LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")
HOLDOUT_POLICIES = ("uniform", "most-clicked")


class Clock(Protocol):
    """Where the service takes the time from: Python's module `time`, or what tests have set."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for, and how many may wait.

    Parameters
    ----------
    body : int
        Bytes of a request's body.
    batch : int
        Requests in one batch.
    slots : int
        Slots of a request.
    labels : int
        Labels that the learner may have.
    queue : int
        Requests that wait to be answered; more are told to come again.
    backlog : int
        Events in the log that are not yet learned; more feedback is told to come again.
    recent : int
        Bytes of recent decisions that are kept in memory.
    learner : int
        Bytes of a learner file that takes the place of the running learner.
    """

    body: int = 1 << 20
    batch: int = 256
    slots: int = 1000
    labels: int = 100_000
    queue: int = 1024
    backlog: int = 10_000
    recent: int = 1 << 25
    learner: int = 1 << 30


@dataclass(frozen=True)
class Timeouts:
    """How long something may take, in seconds.

    Parameters
    ----------
    store : float
        A connection, a statement or a lock of the store; then requests are answered with 503.
    header, body : float
        Until the headers of a request, and then its body, have arrived.
    keep_alive : float
        A connection without a request.
    queue : float
        A request to rank or feedback, from when all of it was read until its turn has come; then it
        is answered with 503.
    grace : float
        From SIGTERM to the end of the process, whatever hangs.
    """

    store: float = 5.0
    header: float = 10.0
    body: float = 30.0
    keep_alive: float = 60.0
    queue: float = 0.5
    grace: float = 10.0

    def __post_init__(self) -> None:
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if not 0 < value < math.inf:
                raise InputError(
                    f"{field_.name} = {value!r}, but it must be a number of seconds above 0"
                )


@dataclass(frozen=True)
class LogSettings:
    """What the service writes to stderr.

    Parameters
    ----------
    access : bool
        Whether there is a line for every request.
    format : str
        "text", or "json" for one object a line.
    level : str
        The least level that is written: "debug", "info", "warning" or "error".
    """

    access: bool = False
    format: str = "text"
    level: str = "info"

    def __post_init__(self) -> None:
        for name, known in (("format", LOG_FORMATS), ("level", LOG_LEVELS)):
            value = getattr(self, name)
            if value not in known:
                raise InputError(f"log {name} = {value!r}, expected one of {', '.join(known)}")


@dataclass(frozen=True)
class Settings:
    """How a service runs; what its learner is, the store knows.

    Parameters
    ----------
    wait : float, optional
        Seconds after which a decision without feedback counts as nothing clicked. By default such
        a decision is not learned from, and feedback may come at any time.
    snapshot_every : int
        Events learned between two snapshots of the learner.
    api_key : str, optional
        The key that every request must have.
    read_key : str, optional
        A second key that may only read.
    api_key_file, read_key_file : str, optional
        Files with more of such keys, one a line, which are read again on SIGHUP.
    limits : Limits
        How much a request may ask for, and how many may wait.
    timeouts : Timeouts
        How long something may take.
    keep : float, optional
        Seconds after which events that a snapshot covers are removed from the log. By default
        they stay for ever.
    follow : bool
        Whether to follow a store that another process writes to, and to take over when that ends.
    follow_rank : bool
        Whether to answer requests to rank while following; they are not logged.
    allow_hosts : tuple of str
        Names that the Host header of a request may have, besides those of loopback.
    root_path : str
        The path under which a proxy serves this service.
    certfile, keyfile : str, optional
        The certificate chain and its private key (PEM) to serve HTTPS with. The key may be in the
        same file.
    logs : LogSettings
        What is written to stderr.
    randomise : str, optional
        The policy that draws slates around the learner, in words: "mixed:0.05" or
        "plackett-luce:0.1". By default the learner decides by itself.
    holdout : float
        The share of the visitors (by subject, or by visit if there is none), below 1, whose visits
        the learner does not decide, to compare it with; 0 for none.
    holdout_policy : str
        What they are shown: "uniform" for slates that are drawn evenly and fill all slots,
        or "most-clicked".
    learn_holdout : bool
        Whether the learner learns from feedback to them.
    shards : Shards, optional
        How the labels of the learner are divided among shards. By default they are not. What is in
        the store does not depend on it.
    device : str, optional
        Where the model of the learner is: "cuda" or "cuda:1" for a GPU, see `Full`. The store does
        not record it.
    clock : Clock
        Where the time of events and of deadlines is taken from.

    Raises
    ------
    InputError
        If a value cannot be used.
    """

    wait: float | None = None
    snapshot_every: int = 5000
    api_key: str | None = None
    read_key: str | None = None
    limits: Limits = field(default_factory=Limits)
    timeouts: Timeouts = field(default_factory=Timeouts)
    keep: float | None = None
    follow: bool = False
    follow_rank: bool = False
    allow_hosts: tuple[str, ...] = ()
    root_path: str = ""
    api_key_file: str | None = None
    read_key_file: str | None = None
    certfile: str | None = None
    keyfile: str | None = None
    logs: LogSettings = field(default_factory=LogSettings)
    randomise: str | None = None
    holdout: float = 0.0
    holdout_policy: str = "uniform"
    learn_holdout: bool = False
    shards: Shards | None = None
    device: str | None = None
    clock: Clock = time

    def __post_init__(self) -> None:
        if self.device is not None:
            check_word(self.device)
        if self.randomise is not None:
            randomised(self.randomise)
        self._check_holdout()
        if self.wait is not None and not 0 < self.wait < math.inf:
            raise InputError(f"wait = {self.wait!r}, but it must be a number of seconds above 0")
        if self.keep is not None and not (self.wait or 0) < self.keep < math.inf:
            more = "" if self.wait is None else f" and above wait = {self.wait:g}"
            raise InputError(
                f"keep = {self.keep!r}, but it must be a number of seconds above 0{more}"
            )
        if self.snapshot_every < 1:
            raise InputError(f"snapshot_every = {self.snapshot_every}, but it must be at least 1")
        for name in ("api_key", "read_key"):
            if (key := getattr(self, name)) is not None:
                check_key(name, key)
        if self.keyfile is not None and self.certfile is None:
            raise InputError(f"keyfile = {self.keyfile!r} without a certfile")
        if self.root_path and (not self.root_path.startswith("/") or self.root_path[-1] == "/"):
            raise InputError(
                f"root_path = {self.root_path!r}, expected a path such as /bandit, without a / "
                "at its end"
            )

    def policy(self, learner: Learner) -> Learner | Randomised:
        """Who decides: the learner, or the policy that draws around it.

        Raises an `InputError` if there is to be one, and the learner cannot be inside of it.
        """
        return learner if self.randomise is None else randomised(self.randomise)(learner)

    def check_placement(self, learner: Learner) -> None:
        """Raise an error if the model of this learner can be neither on the device nor on shards.

        Raises
        ------
        InputError
            If the labels of the learner cannot be divided among shards.
        DeviceError
            If the learner has no model that can be on a device.
        """
        if self.shards is not None:
            model_on_shards(learner, self.shards, self.device)
        else:
            on_device({"model": getattr(learner, "model", None)}, self.device)

    def place(self, learner: Learner) -> None:
        """Move a learner that came from the store to its shards, if it is to have some."""
        if self.shards is not None:
            move_to_shards(learner, self.shards, self.device)

    @property
    def placement(self) -> str:
        """Where the model of the learner is, in words; empty if it is in this process's memory."""
        shards = "" if self.shards is None else f", its labels divided among {self.shards.n} shards"
        return shards + ("" if self.device is None else f", on the device {self.device!r}")

    @property
    def load_device(self) -> str | None:
        """The device that learners are loaded to here; with shards it is theirs."""
        return self.device if self.shards is None else None

    def policy_in_use(self, learner: Learner) -> Learner | Randomised:
        """`policy` for a learner that another process may have put in place.

        Raises `ServiceUnavailable` if the policy cannot draw around it.
        """
        try:
            return self.policy(learner)
        except InputError as why:
            raise ServiceUnavailable(f"{why}. Restart without --randomise") from None

    def policy_problem(self, learner: Learner) -> str | None:
        """Why there is no `policy_in_use` for this learner, for those who watch; None if it is."""
        try:
            self.policy_in_use(learner)
        except ServiceUnavailable as why:
            return str(why)
        return None

    def _check_holdout(self) -> None:
        if not 0 <= self.holdout < 1:
            raise InputError(
                f"holdout = {self.holdout!r}, but it must be a share of the visitors, at least 0 "
                "and below 1"
            )
        if self.holdout_policy not in HOLDOUT_POLICIES:
            known = ", ".join(HOLDOUT_POLICIES)
            raise InputError(f"holdout_policy = {self.holdout_policy!r}, expected one of {known}")
        if self.learn_holdout and not self.holdout:
            raise InputError("learn_holdout without a holdout: give its share, such as 0.02")


def check_key(name: str, key: str) -> None:
    """Raise an `InputError` if this cannot be a key; the text does not tell the key."""
    if not key or not key.isascii() or not key.isprintable():
        raise InputError(f"{name}: a key must be printable ASCII, and not empty")
