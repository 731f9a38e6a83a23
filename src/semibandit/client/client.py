"""A client of `semibandit serve`, with the library's `rank` and `learn`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from semibandit._util.checks import shortened
from semibandit._util.json import to_json
from semibandit.client.batch import ask_many
from semibandit.client.messages import (
    Answer,
    NoAnswer,
    Refusals,
    ServedSlate,
    error_for,
    feedback_body,
    rank_body,
    read_answer,
    reason,
    served_slate,
)
from semibandit.errors import (
    Conflict,
    InputError,
    LabelExists,
    SemibanditError,
    ServiceUnavailable,
    UnknownDecision,
    UnknownLabel,
)
from semibandit.policies.labels import Label, read_labels

__all__ = ["Client"]

PREFIX = "/v1"  # what the paths of the service begin with
OF_RANK: Refusals = {409: Conflict}
OF_FEEDBACK: Refusals = {404: UnknownDecision, 409: Conflict}


class Client:
    """A learner that lives in a service. It may be used by many threads at once.

        with sb.Client("http://127.0.0.1:8000") as client:
            slate = client.rank([0.2, 0.5, 0.1], slots=2)
            client.learn(slate, clicked=slate.labels[:1])

    Connections are kept and used again.

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
        from semibandit.client.connections import Connections  # `import semibandit` stays light

        head = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self.patience = patience
        self._connections = Connections(url, head, timeout)
        self.url = url.rstrip("/")

    # -- ranking and learning ------------------------------------------------------------------

    def rank(
        self, x: Any, slots: int | None = None, *, candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None, id: str | None = None, subject: str | None = None,
        dry_run: bool = False,
    ) -> ServedSlate:  # fmt: skip
        """Ask which labels to show for a context, in which order and how many.

        Parameters
        ----------
        x : sequence of float, array, scipy-sparse row, or mapping
            The context: numbers, or {name: value} if the service's features have names: a value is
            a number, string, True or False, or a list of strings; None is unknown.
        slots : int, optional
            The most labels to show. By default there is no limit but the loss and the service's.
        candidates, exclude : iterable of labels, optional
            Only these labels may be shown; these may not.
        id : str, optional
            An id of your own, such as the page view's; the same id gives the same slate.
        subject : str, optional
            Your name for the visitor: what the service has logged of them can be erased by it.
        dry_run : bool
            Whether nothing is to be logged: the slate cannot be learned from.

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
        body = rank_body(x, slots, candidates, exclude, id, subject)
        path = "/rank?dry_run=true" if dry_run else "/rank"
        return served_slate(self._ask("POST", path, body, OF_RANK))

    def rank_many(
        self, X: Any, slots: int | Sequence[int | None] | None = None, *,
        candidates: Iterable[Label] | None = None, exclude: Iterable[Label] | None = None,
        ids: Sequence[str] | None = None, subjects: Sequence[str | None] | None = None,
        errors: str = "raise",
    ) -> list[Any]:  # fmt: skip
        """`rank` for many contexts in few requests.

        Parameters
        ----------
        X : array, sequence of contexts or scipy-sparse matrix
            A context in each row, as `rank` takes it.
        slots : int or sequence of int, optional
            The most labels to show: one number for all contexts, or one for each.
        candidates, exclude
            As for `rank`, the same for all contexts.
        ids, subjects : sequence of str, optional
            Those of each context.
        errors : {"raise", "return"}
            What happens if some cannot be ranked. "raise": the first error is raised, once all
            others are ranked. "return": the error takes the place of its slate in the list.

        Returns
        -------
        list of ServedSlate
            One for each row of X, or with errors="return" the error that `rank` would raise.

        Raises
        ------
        InputError
            If a context cannot be used; the text names the row.
        """
        rows = [X[[i]] for i in range(X.shape[0])] if hasattr(X, "tocsr") else list(X)
        each = isinstance(slots, Sequence | np.ndarray)
        columns = (
            rows,
            _column("slots", list(slots) if each else [slots] * len(rows), rows),  # type: ignore[arg-type]
            _column("ids", ids, rows),
            _column("subjects", subjects, rows),
        )
        bodies: list[dict[str, Any] | InputError] = []
        for x, limit, id, subject in zip(*columns, strict=True):
            try:
                bodies.append(rank_body(x, limit, candidates, exclude, id, subject))
            except InputError as why:
                bodies.append(why)
        found = ask_many(self._post, "/rank/batch", "requests", bodies, OF_RANK, self.patience)
        return _settle([_slate_or_error(one) for one in found], errors, "row {} of X")

    def learn(
        self,
        slate: ServedSlate | str,
        clicked: Iterable[Label],
        examined: Iterable[Label] | str | None = None,
    ) -> None:
        """Tell what was clicked of a slate; it is kept for good.

        Parameters
        ----------
        slate : ServedSlate or str
            The slate, or the id of its decision.
        clicked : iterable of labels
            The shown labels that turned out relevant.
        examined : iterable of labels or "up to the last click", optional
            The shown labels the user looked at: only these are learned from. "up to the last click"
            are those down to the last one that was clicked, all if none was. By default all.

        Raises
        ------
        UnknownDecision
            If no decision has the id.
        Conflict
            If there is other feedback already; the same feedback again does nothing.
        InputError
            If the labels cannot be used.
        """
        self._ask("POST", "/feedback", feedback_body(slate, clicked, examined), OF_FEEDBACK)

    def learn_many(
        self, feedback: Iterable[tuple[Any, ...]], *, errors: str = "raise"
    ) -> list[SemibanditError | None]:
        """`learn` for many slates in few requests.

        Parameters
        ----------
        feedback : iterable of (slate, clicked) or (slate, clicked, examined)
            As `learn` takes them.
        errors : {"raise", "return"}
            What happens if some cannot be taken. "raise": the first error is raised, once all
            others are told. "return": the errors are returned.

        Returns
        -------
        list
            For each slate None, or with errors="return" the error that `learn` would raise.
        """
        bodies: list[dict[str, Any] | InputError] = []
        for one in feedback:
            try:
                bodies.append(feedback_body(*_read_told(one)))
            except InputError as why:
                bodies.append(why)
        found = ask_many(
            self._post, "/feedback/batch", "feedback", bodies, OF_FEEDBACK, self.patience
        )
        told = [one if isinstance(one, SemibanditError) else None for one in found]
        return _settle(told, errors, "feedback {}")

    # -- erasing -------------------------------------------------------------------------------

    def erase(
        self, ids: Iterable[str] = (), *, subjects: Iterable[str] = (), dry_run: bool = False
    ) -> dict[str, Any]:
        """Take decisions and the feedback to them out of the service's log, for good.

        Parameters
        ----------
        ids : iterable of str
            The ids of decisions.
        subjects : iterable of str
            Your names for visitors: all decisions about them.
        dry_run : bool
            Whether only to count them.

        Returns
        -------
        dict
            `events`: how many events that are; `stays`: what of them stays, in words; `pending`:
            what keeps them in the database's files for now, None if they are gone.

        Raises
        ------
        UnknownDecision
            If no decision has one of the ids: nothing is erased then. A subject may have none.
        """
        given = {"ids": read_labels(ids, "ids"), "subjects": read_labels(subjects, "subjects")}
        body, refusals = given | {"dry_run": dry_run}, {404: UnknownDecision}
        return dict(self._ask("POST", "/events/erase", body, refusals, repeat=False))

    # -- labels --------------------------------------------------------------------------------

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

    # -- connections ---------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """The answer to a request that may be repeated, whatever its status, except 503."""
        return self._answer("POST", path, body, repeat=True)

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        refusals: Refusals | None = None,
        repeat: bool = True,
    ) -> Any:
        """The content of the answer."""
        return read_answer(self._answer(method, path, body, repeat=repeat), refusals or {})

    def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, *, repeat: bool
    ) -> Answer:
        """The answer; asks again while there is none, if asking twice is asking once."""
        until, pause = time.monotonic() + self.patience, 0.02
        content = None if body is None else to_json(body)
        while True:
            try:
                answer = self._connections.ask(method, PREFIX + path, content, repeat=repeat)
                if answer.status != 503:
                    return answer
                error, again = error_for(503, reason(answer), {}), repeat
            except NoAnswer as why:
                error = ServiceUnavailable(f"{self.url} does not answer: {why}")
                again = repeat or why.never_sent
            if not again or time.monotonic() + pause > until:
                raise error
            time.sleep(pause)
            pause = min(2 * pause, 1.0)


def _column(name: str, given: Sequence[Any] | None, rows: list[Any]) -> Sequence[Any]:
    """A value for each row."""
    if given is None:
        return [None] * len(rows)
    if len(given) != len(rows):
        raise InputError(f"{len(given)} {name} for {len(rows)} contexts")
    return given


def _read_told(one: Any) -> tuple[Any, ...]:
    """(slate, clicked) or (slate, clicked, examined)."""
    if not isinstance(one, tuple | list) or len(one) not in (2, 3):
        raise InputError(f"feedback has {shortened(one)}, but it must be (slate, clicked)")
    return tuple(one)


def _slate_or_error(found: Any) -> ServedSlate | SemibanditError:
    return found if isinstance(found, SemibanditError) else served_slate(found)


def _settle(found: list[Any], errors: str, place: str) -> list[Any]:
    """The results, or the first error among them with its place."""
    if errors not in ("raise", "return"):
        raise InputError(f"errors = {errors!r}, but it must be 'raise' or 'return'")
    for i, one in enumerate(found):
        if isinstance(one, SemibanditError) and errors == "raise":
            raise type(one)(f"{place.format(i)}: {one}")
    return found
