"""A client of `semibandit serve`, with the library's `rank` and `learn`."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import is_whole, shortened, whole_number
from semibandit._util.ids import new_id
from semibandit.errors import (
    AccessDenied,
    Conflict,
    InputError,
    LabelExists,
    ServiceUnavailable,
    UnknownDecision,
    UnknownLabel,
)
from semibandit.policies.features.value import is_bool, is_set, read_members, read_number
from semibandit.policies.labels import Label, read_labels

if TYPE_CHECKING:
    import httpx2

__all__ = ["Client", "ServedSlate"]

Refusals: TypeAlias = Mapping[int, type[InputError]]  # what a status means on a path


@dataclass(frozen=True, eq=False)
class ServedSlate:
    """What the service decided: the labels to show, best first, and why each is there.

    Parameters
    ----------
    labels : list of labels
        The labels to show.
    prob, estimate, width : array
        A number for each label, as in `Slate`.
    id : str
        The decision's id, which feedback refers to.
    version : int
        The learner's round when it decided.
    probe : label, optional
        The last label, if it is there only to be tried.
    """

    labels: list[Label]
    prob: Floats
    estimate: Floats
    width: Floats
    id: str
    version: int
    probe: Label | None = None

    def __len__(self) -> int:
        return len(self.labels)


class Client:
    """A learner that lives in a service. It may be used by many threads at once.

        client = sb.Client("http://127.0.0.1:8000")
        slate = client.rank([0.2, 0.5, 0.1], slots=2)
        client.learn(slate, clicked=slate.labels[:1])

    Parameters
    ----------
    url : str
        Where the service is.
    api_key : str, optional
        Its key, if it has one.
    timeout : float
        Seconds to wait for one answer.
    patience : float
        Seconds to go on asking while the service does not answer or is busy. That is safe: every
        decision has an id, and the same id gives the same decision.

    Raises
    ------
    InputError
        By every method, if the service refuses a request, with the service's reason.
    AccessDenied
        By every method, if the service needs a key, or refuses this one.
    ServiceUnavailable
        By every method, if the service does not answer in time, or fails.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = 10.0,
        patience: float = 30.0,
    ) -> None:
        import httpx2  # here: `import semibandit` stays light

        head = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self.url, self.patience = url.rstrip("/"), patience
        self._http = httpx2.Client(base_url=self.url, headers=head, timeout=timeout)
        self._gone = httpx2.TransportError
        self._never_there = httpx2.ConnectError

    def rank(
        self, x: Any, slots: int | None = None, *, candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None, id: str | None = None,
    ) -> ServedSlate:  # fmt: skip
        """Ask which labels to show for a context, in which order and how many.

        Parameters
        ----------
        x : sequence of float, array, scipy-sparse row, or mapping
            The context: numbers, or {name: value} if the service's features have names: a value is
            a number, string, True or False, or a list of strings; None is unknown.
        slots : int, optional
            The most labels to show. By default there is no limit but the loss.
        candidates, exclude : iterable of labels, optional
            Only these labels may be shown; these may not.
        id : str, optional
            An id of your own, such as the page view's; the same id gives the same slate.

        Returns
        -------
        ServedSlate
            The labels, best first.

        Raises
        ------
        InputError
            If the context, the slots or the labels cannot be used.
        Conflict
            If the id was given to another request.
        """
        body: dict[str, Any] = {"context": _context(x), "id": id or new_id()}
        if slots is not None:
            body["slots"] = whole_number("slots", slots, least=0)
        for key, labels in (("candidates", candidates), ("exclude", exclude)):
            if labels is not None:
                body[key] = read_labels(labels, key)
        found = self._ask("POST", "/rank", body, {409: Conflict})
        columns = {
            key: np.array([one[key] for one in found["slate"]], dtype=np.float64)
            for key in ("prob", "estimate", "width")
        }
        labels = [one["label"] for one in found["slate"]]
        probe = next((one["label"] for one in found["slate"] if one.get("probe")), None)
        return ServedSlate(labels, **columns, id=found["id"], version=found["version"], probe=probe)

    def learn(
        self,
        slate: ServedSlate | str,
        clicked: Iterable[Label],
        examined: Iterable[Label] | None = None,
    ) -> None:
        """Tell what was clicked of a slate; it is kept for good.

        Parameters
        ----------
        slate : ServedSlate or str
            The slate, or the id of its decision.
        clicked : iterable of labels
            The shown labels that turned out relevant.
        examined : iterable of labels, optional
            The shown labels the user looked at: only these are learned from. By default all.

        Raises
        ------
        UnknownDecision
            If no decision has the id.
        Conflict
            If there is other feedback already; the same feedback again does nothing.
        InputError
            If the labels cannot be used.
        """
        id = slate if isinstance(slate, str) else slate.id
        body: dict[str, Any] = {"id": id, "clicked": read_labels(clicked, "clicked")}
        if examined is not None:
            body["examined"] = read_labels(examined, "examined")
        self._ask("POST", "/feedback", body, {404: UnknownDecision, 409: Conflict})

    @property
    def labels(self) -> list[Label]:
        """The labels that can be shown."""
        return list(self._ask("GET", "/labels")["labels"])

    def add_labels(self, labels: int | Iterable[Label]) -> list[Label]:
        """Add labels by name, or how many if they are numbered; returns all there are.

        Raises
        ------
        LabelExists
            If one of the names is there already.
        """
        given = labels if isinstance(labels, int) else read_labels(labels, "labels")
        body, refusals = {"labels": given}, {409: LabelExists}
        return list(self._ask("POST", "/labels", body, refusals, repeat=False)["labels"])

    def retire_labels(self, labels: Iterable[Label]) -> None:
        """Never show these labels again.

        Raises
        ------
        UnknownLabel
            If the service does not have one of them.
        """
        body = {"labels": read_labels(labels, "labels")}
        self._ask("DELETE", "/labels", body, {404: UnknownLabel}, repeat=False)

    def state(self) -> dict[str, Any]:
        """What the service says of itself: its learner, its settings, its counts."""
        return dict(self._ask("GET", "/state"))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        refusals: Refusals | None = None,
        repeat: bool = True,
    ) -> Any:
        """The answer; asks again while there is none, if asking twice is asking once."""
        until, pause = time.monotonic() + self.patience, 0.02
        while True:
            try:
                answer = self._http.request(method, path, json=body)
                if answer.status_code != 503:
                    return _read(answer, refusals or {})
                why, again = _reason(answer) or "the service is not available", repeat
            except self._gone as gone:
                why = f"{self.url} does not answer: {gone}"
                again = repeat or isinstance(gone, self._never_there)
            if not again or time.monotonic() + pause > until:
                raise ServiceUnavailable(why)
            time.sleep(pause)
            pause = min(2 * pause, 1.0)


def _read(answer: httpx2.Response, refusals: Refusals) -> Any:
    status = answer.status_code
    if status == 200:
        return answer.json()
    reason = _reason(answer)
    text = reason or f"status {status}, and no reason given: is this a semibandit service?"
    if status in (401, 403):
        raise AccessDenied(text)
    if 400 <= status < 500:
        known = reason is not None and reason != "Not Found"  # or it is another kind of service
        raise (refusals.get(status, InputError) if known else InputError)(text)
    raise ServiceUnavailable(f"the service failed with status {status}")


def _reason(answer: httpx2.Response) -> str | None:
    """The reason that a service of ours gives; None if there is none."""
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return None


def _context(x: Any) -> list[float] | dict[str, Any]:
    """The context as JSON can hold it: numbers by place, or values by name."""
    if isinstance(x, Mapping):
        return {str(name): _value(str(name), value) for name, value in x.items()}
    try:
        values = np.asarray(x.toarray() if hasattr(x, "tocsr") else x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"context must be numbers, got {shortened(x)}") from None
    numbers: list[float] = values.ravel().tolist()
    for i, number in enumerate(numbers):
        if not math.isfinite(number):
            raise InputError(f"context[{i}] is {number}; every feature must be a finite number")
    return numbers


def _value(name: str, value: Any) -> Any:
    """A feature's value as JSON can hold it; whether it is of the right kind, the service says."""
    if is_set(value):
        members = read_members(name, value)
        return sorted(members) if isinstance(value, set | frozenset) else members
    if value is None or isinstance(value, str) or is_bool(value):
        return bool(value) if is_bool(value) else value
    number = read_number(name, value)
    return int(value) if is_whole(value) else number
