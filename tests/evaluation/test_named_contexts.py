"""Replay of contexts with names: by the column, by the row, fast or plain, it is the loop."""

import numpy as np
import pytest
from learners import bits

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation import feed
from semibandit.policies.persistence import snapshot_of

T, K = 230, 6
FEATURES = sb.Features(
    hour="number", price="number", device="category:9", plan=["free", "pro"], tags="set:12"
)
KINDS = [pytest.param(FEATURES, id="features"), pytest.param(sb.Hashed(16), id="hashed")]
LEARNERS = [
    pytest.param(lambda features: sb.SlateUCB(features, K, probe=0.5), id="full"),
    pytest.param(lambda features: sb.SlateUCB(features, K, model=sb.Diagonal()), id="diagonal"),
    pytest.param(lambda features: sb.SlateUCB(features, K, scale="unit"), id="unit"),
    pytest.param(lambda features: sb.OBR(features, K), id="OBR"),
    pytest.param(lambda features: sb.Thompson(features, K), id="Thompson"),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(feed, "BLOCK_ROUNDS", 100)


def table():
    """Columns, some of them arrays, in which new values come now and then."""
    random = np.random.default_rng(0)
    hour = random.integers(0, 24, T).astype(float)
    unknown = random.random((3, T)) < 0.1
    price = [
        None if gone else float(p)
        for p, gone in zip(random.exponential(99.0, T), unknown[0], strict=True)
    ]
    device = [
        None if gone else f"device{min(int(d), 8)}"
        for d, gone in zip(random.exponential(1.5, T), unknown[1], strict=True)
    ]
    plan = np.where(random.random(T) < 0.4, "pro", "free")
    tags = [
        None if gone else [f"tag{i}" for i in random.choice(11, 2, replace=False)]
        for gone in unknown[2]
    ]
    return {"hour": hour, "price": price, "device": device, "plan": plan, "tags": tags}  # fmt: skip


def rows(columns):
    return [
        {name: column[t] for name, column in columns.items() if column[t] is not None}
        for t in range(T)
    ]


def answers():
    return (np.random.default_rng(1).random((T, K)) < 0.3).astype(int)


def chosen(trace):
    return [[int(i) for i in slate if i >= 0] for slate in trace.slates]


def same(one, two):
    assert snapshot_of(one).header == snapshot_of(two).header
    for x in rows(table())[::20]:
        left, right = one.scores(x), two.scores(x)
        np.testing.assert_allclose(left.margin, right.margin, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(left.width, right.width, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("features", KINDS)
@pytest.mark.parametrize("make", LEARNERS)
def test_replay_is_the_loop(make, features):
    columns, Y, loop = table(), answers(), make(features)
    shown = []
    for x, y in zip(rows(columns), Y, strict=True):
        slate = loop.rank(x, 3)
        told = np.flatnonzero(y) if loop.full_information else [i for i in slate.labels if y[i]]
        loop.learn(slate, [int(i) for i in told])
        shown.append(slate.labels)
    for X in (columns, rows(columns), iter([rows(columns)[:130], rows(columns)[130:]])):
        learner = make(features)
        trace = sb.replay(learner, X, Y, 3, progress=False)
        assert chosen(trace) == shown
        same(learner, loop)
    learner = make(features)
    plain = sb.replay(learner, columns, Y, 3, plain=True, progress=False)
    assert chosen(plain) == shown
    assert bits(learner) == bits(loop)


@pytest.mark.parametrize("plain", [True, False])
def test_a_bad_row_is_named_and_its_block_is_not_played(plain):
    columns = table()
    columns["price"][150] = "cheap"
    learner = sb.SlateUCB(FEATURES, K)
    for X in (columns, rows(columns)):
        learner = sb.SlateUCB(FEATURES, K)
        with pytest.raises(InputError, match="row 150: feature 'price' = 'cheap'"):
            sb.replay(learner, X, answers(), 3, plain=plain, progress=False)
        assert learner.t == 101
        good = sb.SlateUCB(FEATURES, K)
        first = {name: column[:100] for name, column in table().items()}
        sb.replay(good, first, answers()[:100], 3, plain=plain, progress=False)
        assert bits(learner) == bits(good)


def test_what_does_not_fit_is_refused():
    learner = sb.SlateUCB(FEATURES, K)
    for X, reason in (
        ({"hour": [1.0], "price": [1.0, 2.0]}, "column 'price' has 2 rows, but 'hour' has 1"),
        ({}, "no columns"),
        ({"hours": [1.0] * T}, "'hours', which is not a feature"),
        ({"hour": [1.0] * 3}, r"expected \(3, 6\)"),
        ([[1.0, 2.0]] * T, "context has 2 numbers"),
    ):
        with pytest.raises(InputError, match=reason):
            sb.replay(learner, X, answers(), 3, progress=False)
    for X in (table(), rows(table())):
        with pytest.raises(InputError, match=r"n_features=sb\.Features"):
            sb.replay(sb.SlateUCB(5, K), X, answers(), 3, progress=False)


def test_a_memory_mapped_matrix_of_encoded_contexts_may_have_unknown_features():
    X, _ = FEATURES.encoder().encode_columns(table())
    one, two = (sb.SlateUCB(FEATURES, K) for _ in range(2))
    traces = [sb.replay(learner, X, answers(), 3, plain=plain, progress=False)
              for learner, plain in ((one, True), (two, False))]  # fmt: skip
    assert [list(s) for s in traces[0].slates] == [list(s) for s in traces[1].slates]
    with pytest.raises(InputError, match=r"row 0 of X: .*nan"):
        sb.replay(sb.SlateUCB(FEATURES.size, K), np.full((T, FEATURES.size), np.nan), answers())
