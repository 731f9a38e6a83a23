"""Items: search, sort, pages, and a hundred thousand of them."""

import time

import numpy as np
import pytest

from semibandit.service.engine.items import ItemQuery, list_items
from semibandit.service.engine.label_counts import LabelCounts
from semibandit.store.event import Decision

LABELS = ["Tea", "coffee", 7, "teapot", "new"]


@pytest.fixture
def counts():
    made = LabelCounts()
    for at, labels in enumerate(
        (["Tea", "coffee", 7, "gone"], ["coffee", 7], ["coffee", "teapot"])
    ):
        estimates = [0.1 * (i + 1) for i in range(len(labels))]
        one = Decision(
            "v", at, np.ones(2), None, None, None, labels, estimates, estimates, estimates, 1, 1
        )
        made.add_decisions([one])
        made.add_shown(labels[:3])
    made.add_clicked(["coffee", "coffee", 7])
    return made


def listed(counts, **query):
    total, items = list_items(LABELS, counts, ItemQuery(**query))
    assert total >= len(items)
    return [one["label"] for one in items]


def test_sorted_searched_and_filtered(counts):
    assert listed(counts) == ["coffee", 7, "Tea", "teapot", "new"]
    assert listed(counts, descending=False) == ["new", "Tea", "teapot", 7, "coffee"]
    assert listed(counts, sort="clicked") == ["coffee", 7, "Tea", "teapot", "new"]
    assert listed(counts, sort="rate") == ["coffee", 7, "Tea", "teapot", "new"]
    assert listed(counts, sort="rate", descending=False) == ["Tea", "teapot", 7, "coffee", "new"]
    assert listed(counts, sort="estimate") == [7, "teapot", "coffee", "Tea", "new"]
    assert listed(counts, sort="last_shown") == ["coffee", "teapot", 7, "Tea", "new"]
    assert listed(counts, sort="label", descending=False) == [7, "Tea", "coffee", "new", "teapot"]
    assert listed(counts, search="TEA") == ["Tea", "teapot"]
    assert listed(counts, search="7") == [7]
    assert listed(counts, never_shown=True) == ["new"]
    assert listed(counts, search="x", never_shown=True) == []
    assert listed(counts, offset=1, limit=2) == [7, "Tea"]
    _, (found, *_) = list_items(LABELS, counts, ItemQuery())
    assert found == {
        "label": "coffee", "decisions": 3, "shown": 3, "clicked": 2, "rate": 2 / 3,
        "estimate": pytest.approx(0.4 / 3), "last_shown": 2.0,
    }  # fmt: skip


def test_a_hundred_thousand():
    counts, labels = LabelCounts(), [f"item-{i}" for i in range(100_000)]
    counts.add_shown(labels[::2])
    start = time.process_time()
    total, items = list_items(labels, counts, ItemQuery("99", "rate", limit=20))
    assert (total, len(items)) == (3691, 20)
    assert time.process_time() - start < 1.0
