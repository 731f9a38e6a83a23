"""The queue of requests: who is woken up, and when."""

import asyncio
import json
import math
import threading
import time

import pytest

from semibandit.errors import ServiceUnavailable
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.requests import set_results
from semibandit.service.http.handlers import Handlers
from semibandit.service.http.metrics import Metrics


def test_requests_are_taken_in_their_order_and_all_or_none_are_put():
    queue = RequestQueue(3)
    queue.put(["a", "b"])
    with pytest.raises(ServiceUnavailable, match="too many requests are waiting"):
        queue.put(["c", "d"], wake=False)
    queue.put(["c"], wake=False)
    assert queue.take(2, 0.0) == (["a", "b"], [])
    assert queue.take(2, 0.0) == (["c"], [])
    assert queue.take(2, 0.0) == ([], [])


def test_requests_that_have_waited_for_too_long_are_told_apart():
    queue, now = RequestQueue(9, patience=100.0), time.perf_counter()
    queue.put(["long ago"], arrived=now - 101)
    queue.put(["recently", "as well"], arrived=now - 1)
    queue.put(["of no time"])
    assert queue.take(3, 0.0) == (["recently", "as well", "of no time"], ["long ago"])


def test_who_waits_is_woken_up_once_for_all_that_was_put():
    queue, taken = RequestQueue(10), []
    thread = threading.Thread(target=lambda: taken.append(queue.take(10, 60.0)))
    thread.start()
    with queue.condition:  # so that nothing is taken in between if the thread has just started
        for one in "abc":
            queue.put([one], wake=False)
    queue.wake()
    thread.join(30)
    assert taken == [(["a", "b", "c"], [])]


def test_requests_that_the_event_loop_has_read_at_once_wake_the_writer_once(engine, monkeypatch):
    woken, wake = [], engine.queue.wake
    monkeypatch.setattr(engine.queue, "wake", lambda: (woken.append(len(engine.queue)), wake()))
    body = json.dumps({"context": [1.0] * engine.learner.n_features}).encode()

    async def ask():
        loop = asyncio.get_running_loop()
        engine.writer.deliver = lambda all: loop.call_soon_threadsafe(set_results, all)
        handlers = Handlers(engine, Metrics(engine))
        found = await asyncio.gather(*(handlers.rank(body, math.inf) for _ in range(5)))
        return [*found, await handlers.rank(body, math.inf)]

    answers = asyncio.run(ask())
    assert len({one["id"] for one in answers}) == 6
    assert len(woken) == 2
