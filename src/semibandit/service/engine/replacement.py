"""Replacement: the learner of a file takes the place of the running one."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from semibandit.errors import Conflict, InputError
from semibandit.policies.batch import prepare
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import LOG_POSITION, Snapshot, load
from semibandit.service.engine.learning import Learning
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.requests import PendingNewLearner
from semibandit.service.engine.validation import check_replacement
from semibandit.store.event import NewLearner
from semibandit.store.rebuild import catch_up, check_learns_from_shown
from semibandit.store.store import Store

__all__ = ["replace_learner"]

log = logging.getLogger("semibandit")


def replace_learner(
    content: bytes, after: int | None, store: Store, queue: RequestQueue, learning: Learning,
    place: Callable[[Learner], object], most_labels: int,
) -> dict[str, Any]:  # fmt: skip
    """Let the learner of a file take over: what it has not learned of the log, it learns first.

    The file and the place in the log are kept in the store, so that a restart rebuilds the same.

    Parameters
    ----------
    content : bytes
        A file that `Learner.save` or `semibandit replay STORE --save` wrote.
    after : int or None
        The last event of the log that the learner has learned; None takes what the file says.
    store, queue, learning
        Those of the engine.
    place : function
        Moves the learner to its shards, if the service has some. Until the present learner is gone
        there must be room for both.
    most_labels : int
        How many labels the file may have, if those that the service has had are not more.

    Returns
    -------
    dict
        `position`, the event from which on it decides, and `after`.

    Raises
    ------
    InputError
        If the file is damaged, or its learner cannot be served, or has other features or labels.
    Conflict
        If the log no longer has what the learner would have to learn first.
    ClusterError
        If there is no room for the shards of both learners.
    """
    header = _header(content, max(most_labels, learning.learner.n_labels_ever))
    learner = load(io.BytesIO(content), device=store.device)
    check_learns_from_shown(learner)
    after = _position(header) if after is None else after
    place(learner)
    with store.beside() as beside:
        last, removed = learning.last_put, beside.removed
        if not 0 <= after <= max(last, beside.last):
            raise InputError(f"after = {after}, but the log has events 1 to {beside.last}")
        if after < removed:
            raise Conflict(
                f"the learner knows the log up to event {after}, but feedback up to event "
                f"{removed} was removed since: replay the store again"
            )
        learned = catch_up(learner, beside, after, last + 1)
        check_replacement(learning.learner, learner)
        prepare(learner, log.debug)
        file = beside.add_file(content)
    done: Future[tuple[int, NewLearner]] = Future()
    queue.put([PendingNewLearner(NewLearner(0.0, after, file), learner, learned, done)])
    position, _ = done.result()
    log.info("another learner decides from event %d on; it had learned up to %d", position, after)
    return {"position": position, "after": after}


def _header(content: bytes, most: int) -> dict[str, Any]:
    """The header of a file; an `InputError` if it has more labels than these, first of all."""
    snapshot = Snapshot.read(io.BytesIO(content), "the learner")
    rows = len(snapshot.arrays.get("tie", ()))
    if rows > most:
        raise InputError(f"the learner has {rows} labels, over the limit of {most}")
    return snapshot.header


def _position(header: dict[str, Any]) -> int:
    found = header.get(LOG_POSITION)
    if not isinstance(found, int):
        raise InputError(
            "the file does not say which events of the log it has learned: give after=SEQ, the "
            "last of them, or after=0 if it has learned none"
        )
    return found
