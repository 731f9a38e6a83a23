"""Recent decisions in memory are bound by bytes."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from events import decision

import semibandit as sb
from semibandit.service.engine.recent import RecentDecisions, _size
from semibandit.store.event import Feedback
from semibandit.store.store import Store


def large(i, slots, named=None):
    """As the service makes them: labels are the learner's, numbers are new."""
    numbers = [float(n) + i for n in range(slots)]
    return decision(
        f"v{i}",
        labels=LABELS[:slots],
        prob=[n + 0.1 for n in numbers],
        estimate=[n + 0.2 for n in numbers],
        width=[n + 0.3 for n in numbers],
        candidates=None if named is None else [f"{i}-candidate-{n}" for n in range(named)],
    )


LABELS = [f"label-{i}" for i in range(1000)]


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path, sb.SlateUCB(4, 3)) as one:
        yield one


def drawn(i, slots, scores):
    """How a slate was drawn, as the service keeps it."""
    if scores is None:
        return {}
    if scores:
        told = {"plackett_luce": [LABELS[:scores], [n + i + 0.1 for n in range(scores)]]}
    else:
        told = {"mixture": [[0.9, {"slate": LABELS[:slots]}], [0.1, {"uniform": [9, 2]}]]}
    numbers = [[1 / (n + i + 2) for n in range(slots)] for _ in range(2)]
    return {
        "distribution": told,
        "prefix_propensity": numbers[0],
        "item_propensity": numbers[1] if not scores else None,
    }


@pytest.mark.parametrize(
    ("slots", "named", "scores"),
    [
        (0, None, None),
        (10, None, None),
        (1000, None, None),
        (10, 500, None),
        (10, None, 0),
        (100, None, 0),
        (10, None, 1000),
    ],
)
def test_the_estimate_is_about_what_it_takes(slots, named, scores):
    tracemalloc.start()
    try:
        made = [replace(large(i, slots, named), **drawn(i, slots, scores)) for i in range(200)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.5 < sum(map(_size, made)) / taken < 3


def test_memory_is_bound_by_bytes(store):
    recent = RecentDecisions(store, 1 << 20)
    for i in range(300):
        recent.add([large(i, 1000)], [Feedback(f"v{i}", 0.0, LABELS[:500])])
    kept = recent.in_memory({f"v{i}" for i in range(300)})
    assert 1 <= len(kept) < 10
    assert "v299" in kept
    assert recent._feedback.keys() == kept.keys()
    recent.drop(kept)
    assert recent._bytes == 0


def test_the_last_decision_is_kept_however_large(store):
    recent = RecentDecisions(store, 1)
    recent.add([large(0, 10)], [])
    recent.add([large(1, 1000)], [])
    assert recent.in_memory({"v0", "v1"}).keys() == {"v1"}
    assert np.isfinite(recent._bytes)
