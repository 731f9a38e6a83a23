"""Many requests in few: batches as large as the service takes, and an answer for each request."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from semibandit._util.json import to_json
from semibandit.client.messages import Answer, Refusals, error_for, read_answer, reason
from semibandit.errors import InputError, SemibanditError

__all__ = ["ask_many"]

MOST = 256  # requests in a batch: what a service takes by default
BYTES = 900_000  # of their bodies together: a service takes 1 MiB by default
PAUSE = 0.1  # seconds until requests are repeated that the service had no time for

Post: TypeAlias = Callable[[str, Mapping[str, Any]], Answer]
Bodies: TypeAlias = list[tuple[int, dict[str, Any]]]  # each with its place in the results


def ask_many(
    post: Post, path: str, key: str, bodies: list[dict[str, Any] | InputError],
    refusals: Refusals, patience: float,
) -> list[Any]:  # fmt: skip
    """The content of the answer to each of many requests, or the error.

    Parameters
    ----------
    post : function
        Sends a body to a path.
    path, key : str
        The path of batches, and what the list of requests is called in the body.
    bodies : list
        The requests; errors are passed on.
    refusals : mapping
        The type of error that a status means.
    patience : float
        Seconds to go on asking for requests that the service had no time for.
    """
    results: list[Any] = list(bodies)
    waiting = [(i, body) for i, body in enumerate(bodies) if not isinstance(body, InputError)]
    until = time.monotonic() + patience
    while True:
        for piece in _pieces(waiting):
            for i, answer in _ask_piece(post, path, key, piece, refusals):
                results[i] = answer
        waiting = [(i, body) for i, body in waiting if _is_busy(results[i])]
        if not waiting or time.monotonic() + PAUSE > until:
            return [_content(one, refusals) for one in results]
        time.sleep(PAUSE)


def _pieces(bodies: Bodies) -> Iterator[Bodies]:
    """The requests in batches that a service takes by default."""
    piece: Bodies = []
    size = 0
    for i, body in bodies:
        more = len(to_json(body)) + 1
        if piece and (len(piece) == MOST or size + more > BYTES):
            yield piece
            piece, size = [], 0
        piece.append((i, body))
        size += more
    if piece:
        yield piece


def _ask_piece(
    post: Post, path: str, key: str, piece: Bodies, refusals: Refusals
) -> Iterator[tuple[int, Any]]:
    """The answer to each request of a batch, with its place; one that is refused as a whole is
    divided, so that it is known which request is to blame."""
    answer = post(path, {key: [body for _, body in piece]})
    if answer.status in (413, 422) and len(piece) > 1:
        half = len(piece) // 2
        for part in (piece[:half], piece[half:]):
            yield from _ask_piece(post, path, key, part, refusals)
    elif answer.status in (413, 422):
        yield piece[0][0], error_for(answer.status, reason(answer), refusals)
    else:
        results = read_answer(answer, refusals)["results"]
        yield from zip((i for i, _ in piece), results, strict=True)


def _is_busy(result: Any) -> bool:
    return isinstance(result, Mapping) and result.get("status") == 503


def _content(result: Any, refusals: Refusals) -> Any:
    """The result, or the error that its status means."""
    if isinstance(result, SemibanditError) or not isinstance(result.get("status"), int):
        return result
    return error_for(result["status"], result.get("detail"), refusals)
