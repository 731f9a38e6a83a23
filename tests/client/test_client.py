"""The client: the library's rank and learn, against a real service that comes and goes."""

import json
import threading

import numpy as np
import pytest
from scipy import sparse
from server import BUILD, Server

import semibandit as sb
from semibandit.client.connections import Connections
from semibandit.client.messages import Answer
from semibandit.errors import (
    AccessDenied,
    Conflict,
    InputError,
    LabelExists,
    ServiceUnavailable,
    UnknownDecision,
    UnknownLabel,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("client") / "store", *BUILD) as one:
        yield one


@pytest.fixture
def client(server):
    with sb.Client(server.url) as one:
        yield one


def test_rank_and_learn_as_in_the_library(tmp_path):
    with Server(tmp_path / "s", *BUILD) as server, sb.Client(server.url) as client:
        learner = sb.SlateUCB(4, list("abcdef"), a=1.0)  # as a service is by default
        for t in range(25):
            x = np.random.default_rng(t).standard_normal(4)
            ours = learner.rank(x, 3, exclude=["d"], draw=2 * t + 1)  # its place in the log
            theirs = client.rank(x, 3, exclude=["d"])
            assert theirs.labels == ours.labels
            assert theirs.version == learner.t
            np.testing.assert_allclose(theirs.prob, ours.prob)
            np.testing.assert_allclose(theirs.width, ours.width)
            seen = ours.labels[:2] if t % 3 else "up to the last click"
            for one, slate in ((learner, ours), (client, theirs)):
                one.learn(slate, slate.labels[: t % 2], examined=seen)
            server.until(lambda state: state["backlog"] == 0)


def test_contexts_of_every_kind(client):
    x = [0.0, 2.0, 0.0, 1.0]
    kinds = (x, tuple(x), np.array(x), np.array([x]), sparse.csr_array([x]))
    for one in kinds:  # another context under the same id would be refused
        assert (
            client.rank(one, 2, id="every-kind").labels == client.rank(x, 2, id="every-kind").labels
        )
    assert len(client.rank(x, np.int64(2), candidates=np.array(["a", "b"]))) == 2


def test_the_same_id_is_the_same_decision(client):
    one = client.rank([1, 0, 0, 0], 2, id="page-view-7")
    assert client.rank([1, 0, 0, 0], 2, id="page-view-7").labels == one.labels
    client.learn("page-view-7", one.labels[:1])
    client.learn(one, one.labels[:1])
    with pytest.raises(Conflict, match="has other feedback already"):
        client.learn(one, [])
    with pytest.raises(Conflict, match="given to another request"):
        client.rank([1, 0, 0, 0], 1, id="page-view-7")


def test_wrong_input_is_refused_with_the_reason(client):
    for x, reason in (
        ([1.0, 2.0], "context has 2 features"),
        ([1.0, np.nan, 0, 0], r"context\[1\] is nan"),
        ({"hour": 1.0}, "have none"),
        ({"hour": np.inf}, "feature 'hour' = inf"),
        ({"hour": {"at": 7}}, "feature 'hour' = {'at': 7}"),
        ({"tags": [0.5]}, "feature 'tags' has 0.5, but a member must be"),
        (["x", 0, 0, 0], "context must be numbers"),
        ([0, 0, 0], "context has 3 features"),
    ):
        with pytest.raises(InputError, match=reason):
            client.rank(x)
    with pytest.raises(UnknownDecision, match="no decision has that id"):
        client.learn("nobody", [])
    with pytest.raises(InputError, match="'moon'"):
        client.rank([1, 0, 0, 0], candidates=["moon"])
    for slots in (1.5, -1, "two"):
        with pytest.raises(InputError, match=f"slots = {slots!r}"):
            client.rank([1, 0, 0, 0], slots)
    with pytest.raises(InputError, match="clicked names 'a' twice"):
        client.learn("nobody", ["a", "a"])


def test_labels(client):
    assert client.add_labels(["new"])[-1] == "new"
    assert "new" in client.labels
    client.retire_labels(["new"])
    assert "new" not in client.labels
    with pytest.raises(UnknownLabel, match="not a label"):
        client.retire_labels(["new"])
    with pytest.raises(LabelExists, match="is there already"):
        client.add_labels(["a"])


def test_a_key_is_asked_for(tmp_path):
    with Server(tmp_path / "s", *BUILD, "--api-key", "k") as server:
        with sb.Client(server.url) as client, pytest.raises(AccessDenied, match="a key"):
            client.rank([1, 0, 0, 0])
        with sb.Client(server.url, "k") as client:
            assert client.rank([1, 0, 0, 0], 2).labels


def test_it_waits_for_a_service_that_comes_back(tmp_path):
    server = Server(tmp_path / "s", *BUILD)
    with sb.Client(server.url) as client:
        slate = client.rank([1, 0, 0, 0], 2)
        server.kill()
        back = []
        starting = threading.Thread(
            target=lambda: back.append(Server(tmp_path / "s", port=server.port))
        )
        starting.start()
        client.learn(slate, slate.labels[:1])  # asks until it is there
        starting.join()
        assert back[0].state()["feedback"] == 1
        back[0].stop()


def test_patience_ends(tmp_path):
    server = Server(tmp_path / "s", *BUILD)
    server.stop()
    with sb.Client(server.url, patience=0.1) as client:
        with pytest.raises(ServiceUnavailable, match="does not answer"):
            client.rank([1, 0, 0, 0])
        with pytest.raises(ServiceUnavailable):
            client.add_labels(["x"])


def test_what_is_no_service_of_ours_is_not_taken_for_one(server):
    with sb.Client(server.url + "/elsewhere") as client:
        with pytest.raises(InputError, match="Not Found") as why:
            client.learn("somebody", [])
        assert type(why.value) is InputError  # nothing is known of decisions


def test_a_subject_and_a_dry_run_are_told_to_the_service(monkeypatch):
    asked = []

    def ask(self, method, path, body, *, repeat):
        asked.append((method, path, json.loads(body)))
        return Answer(200, b'{"slate": [], "id": "i", "version": 1}')

    monkeypatch.setattr(Connections, "ask", ask)
    client = sb.Client("http://127.0.0.1:1")
    client.rank([1.0], 2, id="i", subject="visitor 7", dry_run=True)
    client.rank([1.0], 2, id="i")
    assert asked[0] == (
        "POST",
        "/v1/rank?dry_run=true",
        {"context": [1.0], "slots": 2, "id": "i", "subject": "visitor 7"},
    )
    assert asked[1] == ("POST", "/v1/rank", {"context": [1.0], "slots": 2, "id": "i"})


def test_a_connection_is_kept(client):
    client.rank([1, 0, 0, 0], 2)
    (kept,) = client._connections._idle
    for _ in range(3):
        client.learn(client.rank([1, 0, 0, 0], 2), [])
        assert list(client._connections._idle) == [kept]
