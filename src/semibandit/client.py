"""A client of `semibandit serve`, with the library's `rank` and `learn`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.ids import new_id
from semibandit.errors import InputError
from semibandit.policies.labels import Label

if TYPE_CHECKING:
    import httpx2

__all__ = ["Client", "ServedSlate"]


@dataclass(frozen=True, eq=False)
class ServedSlate:
    """What the service decided: the labels to show, best first, and why each is there."""

    labels: list[Label]
    prob: Floats
    estimate: Floats
    width: Floats
    id: str  # of the decision
    version: int  # the learner's round when it decided

    def __len__(self) -> int:
        return len(self.labels)


class Client:
    """A learner that lives in a service.

        client = sb.Client("http://127.0.0.1:8000")
        slate = client.rank([0.2, 0.5, 0.1], slots=2)
        client.learn(slate, clicked=slate.labels[:1])

    url       where the service is
    api_key   its key, if it has one
    patience  seconds to go on asking while the service does not answer or is busy. That is
              safe: every decision has an id, and the same id gives the same decision.

    Wrong input gets a ValueError with the service's reason, a wrong key a PermissionError, a
    service that does not answer in time a ConnectionError. It may be used by many threads.
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
        self,
        x: Any,
        slots: int | None = None,
        *,
        candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None,
        id: str | None = None,
    ) -> ServedSlate:
        """The slate for context x: numbers, or {name: number} where the service has names.

        id  of your own, such as the page view's; the same id gives the same slate
        """
        body: dict[str, Any] = {"context": _context(x), "id": id or new_id()}
        if slots is not None:
            body["slots"] = int(slots)
        for key, labels in (("candidates", candidates), ("exclude", exclude)):
            if labels is not None:
                body[key] = _labels(labels)
        found = self._ask("POST", "/rank", body)
        columns = {
            key: np.array([one[key] for one in found["slate"]], dtype=np.float64)
            for key in ("prob", "estimate", "width")
        }
        labels = [one["label"] for one in found["slate"]]
        return ServedSlate(labels, **columns, id=found["id"], version=found["version"])

    def learn(
        self,
        slate: ServedSlate | str,
        clicked: Iterable[Label],
        examined: Iterable[Label] | None = None,
    ) -> None:
        """Tell what was clicked of a slate (or of the decision with this id); it is kept for good.

        Telling the same again does nothing; telling otherwise is a ValueError.
        """
        id = slate if isinstance(slate, str) else slate.id
        body: dict[str, Any] = {"id": id, "clicked": _labels(clicked)}
        if examined is not None:
            body["examined"] = _labels(examined)
        self._ask("POST", "/feedback", body)

    @property
    def labels(self) -> list[Label]:
        """The labels that can be shown."""
        return list(self._ask("GET", "/labels")["labels"])

    def add_labels(self, labels: int | Iterable[Label]) -> list[Label]:
        """Add labels by name, or how many where they are numbered; returns all there are."""
        given = labels if isinstance(labels, int) else _labels(labels)
        return list(self._ask("POST", "/labels", {"labels": given}, repeat=False)["labels"])

    def retire_labels(self, labels: Iterable[Label]) -> None:
        """Never show these labels again."""
        self._ask("DELETE", "/labels", {"labels": _labels(labels)}, repeat=False)

    def state(self) -> dict[str, Any]:
        """What the service says of itself: its learner, its settings, its counts."""
        return dict(self._ask("GET", "/state"))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, repeat: bool = True
    ) -> Any:
        """The answer; asks again while there is none, where asking twice is asking once."""
        until, pause = time.monotonic() + self.patience, 0.02
        while True:
            try:
                answer = self._http.request(method, path, json=body)
                if answer.status_code != 503:
                    return _read(answer)
                why, again = _detail(answer), repeat
            except self._gone as gone:
                why = f"{self.url} does not answer: {gone}"
                again = repeat or isinstance(gone, self._never_there)
            if not again or time.monotonic() + pause > until:
                raise ConnectionError(why)
            time.sleep(pause)
            pause = min(2 * pause, 1.0)


def _read(answer: httpx2.Response) -> Any:
    if answer.status_code == 200:
        return answer.json()
    if answer.status_code in (401, 403):
        raise PermissionError(_detail(answer))
    if 400 <= answer.status_code < 500:
        raise InputError(_detail(answer))
    raise ConnectionError(f"the service failed with status {answer.status_code}")


def _detail(answer: httpx2.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"status {answer.status_code}, and no reason given: is this a semibandit service?"


def _context(x: Any) -> list[float] | dict[str, float]:
    if isinstance(x, Mapping):
        return {str(name): float(value) for name, value in x.items()}
    if hasattr(x, "tocsr"):
        x = x.toarray()
    values = np.asarray(x, dtype=np.float64).ravel()
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"context[{at}] is {values[at]}; every feature must be a finite number")
    return [float(value) for value in values]


def _labels(labels: Iterable[Label]) -> list[Label]:
    return [int(one) if isinstance(one, np.integer) else one for one in labels]
