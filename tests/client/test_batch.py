"""Batches of a client: an answer or an error for each, however the service takes them."""

import json

import numpy as np
import pytest
from scipy import sparse
from server import BUILD, Server

import semibandit as sb
from semibandit.client import batch
from semibandit.client.batch import ask_many
from semibandit.client.messages import Answer
from semibandit.errors import Conflict, InputError, ServiceUnavailable, UnknownDecision

X = np.random.default_rng(0).standard_normal((600, 4))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with (
        Server(tmp_path_factory.mktemp("batch") / "s", *BUILD) as server,
        sb.Client(server.url) as one,
    ):
        one.server = server
        yield one


def test_many_are_ranked_and_learned_as_each_would_be(client):
    slates = client.rank_many(X, slots=[1 + i % 3 for i in range(600)])
    assert [len(slate) for slate in slates] == [1 + i % 3 for i in range(600)]
    alone = client.rank(X[1], 2, id=slates[1].id)  # refused if it was another request
    assert slates[1].labels == alone.labels
    np.testing.assert_allclose(slates[1].prob, alone.prob)
    told = [(slate, slate.labels[:1]) for slate in slates[:300]]
    told += [(slate.id, [], slate.labels[:1]) for slate in slates[300:]]
    assert client.learn_many(told) == [None] * 600
    assert client.learn_many(told[:5]) == [None] * 5  # once more is the same
    client.server.until(lambda state: state["backlog"] == 0)
    assert client.state()["feedback"] == 600
    assert [len(one) for one in client.rank_many(sparse.csr_array(X[:3]), 2)] == [2, 2, 2]
    assert client.rank_many([]) == client.learn_many([]) == []


def test_the_same_ids_are_the_same_slates(client):
    ids = [f"batch-{i}" for i in range(4)]
    one, two = (client.rank_many(X[:4], 2, ids=ids, exclude=["a"]) for _ in range(2))
    assert [s.labels for s in one] == [s.labels for s in two]
    assert [s.id for s in one] == ids
    with pytest.raises(Conflict, match=r"row 0 of X: .*given to another request"):
        client.rank_many(X[:4], 1, ids=ids)


def test_each_wrong_one_has_its_own_error(client):
    rows = [X[0], [1.0], X[1], [1.0, np.nan, 0, 0], {"hour": 1.0}, X[2]]
    found = client.rank_many(rows, 2, errors="return")
    assert [isinstance(one, InputError) for one in found] == [False, True, False, True, True, False]
    assert "context has 1 features" in str(found[1])
    with pytest.raises(InputError, match="row 1 of X: context has 1 features"):
        client.rank_many(rows, 2)
    good = found[0]
    told = [
        (good, ["moon"]),
        (good, good.labels[:1]),
        ("nobody", []),
        (good, []),
        ("x", ["a", "a"]),
    ]
    errors = client.learn_many(told, errors="return")
    assert [type(one) for one in errors] == [
        InputError, type(None), UnknownDecision, Conflict, InputError
    ]  # fmt: skip
    with pytest.raises(InputError, match="feedback 1: clicked has 'moon'"):
        client.learn_many([(found[2], []), (found[5], ["moon"])])


def test_wrong_arguments(client):
    for work, text in (
        (lambda: client.rank_many(X[:2], [1]), "1 slots for 2 contexts"),
        (lambda: client.rank_many(X[:2], ids=["a"]), "1 ids for 2 contexts"),
        (lambda: client.rank_many(X[:1], errors="ignore"), "errors = 'ignore'"),
        (lambda: client.learn_many(["id"]), r"must be \(slate, clicked\)"),
    ):
        with pytest.raises(InputError, match=text):
            work()


class Service:
    """A service that takes few at a time, is busy at times, and knows which items are wrong."""

    def __init__(self, most=256, busy=0, spoils=False):
        self.most, self.busy, self.spoils, self.sizes = most, busy, spoils, []

    def __call__(self, path, body):
        (items,) = body.values()
        self.sizes.append(len(items))
        if len(items) > self.most or (self.spoils and any("wrong" in one for one in items)):
            return Answer(422 if self.spoils else 413, b'{"detail": "not so"}')
        return Answer(200, json.dumps({"results": [self.one(item) for item in items]}).encode())

    def one(self, item):
        if "wrong" in item:
            return {"status": 409, "detail": "wrong"}
        self.busy -= 1
        return {"status": 503, "detail": "busy"} if self.busy >= 0 else {"n": item["n"]}


def ask(service, n=600, wrong=(), patience=5.0):
    bodies = [{"n": i} | ({"wrong": 1} if i in wrong else {}) for i in range(n)]
    return ask_many(service, "/x/batch", "items", bodies, {409: Conflict}, patience)


def test_batches_are_as_large_as_the_service_takes(monkeypatch):
    service = Service()
    assert ask(service) == [{"n": i} for i in range(600)]
    assert service.sizes == [256, 256, 88]
    service = Service(most=100)
    assert ask(service) == [{"n": i} for i in range(600)]
    assert max(size for size in service.sizes if size <= 100) == 88
    monkeypatch.setattr(batch, "BYTES", 50)
    service = Service()
    ask(service, 20)
    assert max(service.sizes) == 6


def test_what_the_service_was_too_busy_for_is_asked_again(monkeypatch):
    monkeypatch.setattr(batch, "PAUSE", 0.001)
    service = Service(busy=5)
    assert ask(service, 7) == [{"n": i} for i in range(7)]
    assert service.sizes == [7, 5]
    found = ask(Service(busy=10**9), 2, patience=0.0)
    assert [type(one) for one in found] == [ServiceUnavailable] * 2


@pytest.mark.parametrize("spoils", [False, True])
def test_one_that_spoils_its_batch_is_found(spoils):
    found = ask(Service(spoils=spoils), 50, wrong={7, 30})
    errors = {i: type(one) for i, one in enumerate(found) if isinstance(one, Exception)}
    kind = InputError if spoils else Conflict
    assert errors == {7: kind, 30: kind}
