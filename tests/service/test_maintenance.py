"""Erasing and a learner's replacement over HTTP: what the engine is asked, and who may ask it."""

from concurrent.futures import Future

import pytest
from server import LocalServer

import semibandit as sb
from semibandit.errors import InputError, StoreError, UnknownDecision
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Limits, Settings
from semibandit.store.store import Store

FILE = {"content-type": "application/octet-stream", "authorization": "Bearer k"}
KEY = {"authorization": "Bearer k"}


@pytest.fixture
def asked(monkeypatch):
    """What the engine was asked; it answers with what `asked.answers` has."""
    found = []

    def done(answer):
        future = Future()
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def erase(self, ids, subjects, dry_run):
        found.append((ids, subjects, *["dry run"] * dry_run))
        if ids == ["nobody"]:
            return done(UnknownDecision("id = 'nobody', but no decision has that id"))
        return done(
            StoreError("/secret/path") if subjects == ["away"] else {"events": 2, "stays": "w"}
        )

    def replace(self, content, after):
        found.append((content, after))
        return done(InputError("no learner") if content == b"x" else {"position": 7, "after": 5})

    monkeypatch.setattr(Engine, "erase", erase)
    monkeypatch.setattr(Engine, "replace_learner", replace)
    return found


@pytest.fixture
def server(tmp_path):
    limits = Limits(body=100, learner=300)
    settings = Settings(api_key="k", read_key="r", limits=limits)
    engine = Engine(Store.create(tmp_path / "s", sb.SlateUCB(2, 3)), settings)
    with LocalServer(create_app(engine)) as one:
        yield one


def test_erasing(server, asked):
    def erase(path, **headers):
        return server.http.delete(path, headers=KEY | headers)

    assert erase("/v1/events/visit-1").json() == {"events": 2, "stays": "w"}
    assert erase("/v1/events?subject=user-7").status_code == 200
    assert asked == [(["visit-1"], ()), ((), ["user-7"])]
    assert erase("/v1/events/nobody").status_code == 404
    away = erase("/v1/events?subject=away")
    assert (away.status_code, "secret" in away.text) == (503, False)
    for path, reason in (
        ("/v1/events", "subject is missing"),
        ("/v1/events?subject=", "subject = '': expected at least 1 characters"),
        ("/v1/events?subject=a%20b", "subject = 'a b': expected letters, digits and . _ : - alone"),
        ("/v1/events/a%20b", "id = 'a b': expected letters"),
        ("/v1/events?subject=a&subject=b", "the query has subject 2 times: expected it once"),
        ("/v1/events?subject=a&dry_run=true", "the query has 'dry_run': expected subject alone"),
        ("/v1/events?subjects=a", "did you mean 'subject'?"),
        ("/v1/events/visit-1?dry_run=true", "the query has 'dry_run': expected no query here"),
    ):
        answer = erase(path)
        assert answer.status_code == 422
        assert reason in answer.json()["detail"]
    assert erase("/v1/events/visit-1", authorization="Bearer r").status_code == 403
    assert server.http.delete("/v1/events/visit-1").status_code == 401
    assert len(asked) == 4


def test_erasing_by_a_form(server, asked):
    def erase(given, path="/v1/events/erase", **headers):
        return server.http.post(path, json=given, headers=KEY | headers)

    body = {"subjects": ["a", "b"], "ids": ["..", "visit-1"]}
    assert erase(body).json() == {"events": 2, "stays": "w"}
    assert erase({"ids": ["."], "dry_run": True}).status_code == 200
    assert asked == [(["..", "visit-1"], ["a", "b"]), (["."], [], "dry run")]
    assert erase({"ids": ["nobody"]}).status_code == 404
    for given, reason in (
        ({}, "ids and subjects are both empty"),
        ({"ids": []}, "ids and subjects are both empty"),
        ({"subject": ["a"]}, "there is no such key"),
        ({"ids": ["a/b"]}, "ids[0] = 'a/b': expected letters"),
        ({"subjects": "anna"}, "subjects = 'anna': expected a list"),
        ({"ids": ["a"], "dry_run": "yes"}, "dry_run = 'yes': expected true or false"),
    ):
        answer = erase(given)
        assert answer.status_code == 422
        assert reason in answer.json()["detail"]
    twice = erase({"ids": ["a"]}, "/v1/events/erase?dry_run=true")
    assert "expected no query here" in twice.json()["detail"]
    assert erase({"ids": ["a"]}, authorization="Bearer r").status_code == 403
    assert len(asked) == 3


@pytest.mark.parametrize("path", ["/v1/feedback", "/v1/labels", "/v1/snapshot", "/v1/rank/batch"])
def test_a_query_that_is_not_known_changes_nothing(server, path):
    answer = server.http.post(f"{path}?dry_run=true", json={}, headers=KEY)
    assert answer.status_code == 422
    assert "the query has 'dry_run': expected no query here" in answer.json()["detail"]


def test_a_learner_in_place_of_another(server, asked):
    def post(content, path="/v1/learner", headers=FILE):
        return server.http.post(path, content=content, headers=headers)

    assert post(b"l" * 300, "/v1/learner?after=5").json() == {"position": 7, "after": 5}
    assert post(b"mine").status_code == 200
    assert asked == [(b"l" * 300, 5), (b"mine", None)]
    assert post(b"x").json()["detail"] == "no learner"
    assert post(b"l" * 301).json()["detail"] == "the body may have at most 300 bytes"
    assert (
        post(b"l", "/v1/learner?after=-1").json()["detail"].startswith("after = '-1': expected at")
    )
    assert post(b"l", headers=KEY | {"content-type": "application/json"}).status_code == 415
    assert post(b"l", headers=FILE | {"authorization": "Bearer r"}).status_code == 403
    chunks = iter([b"l" * 200, b"l" * 200])
    assert post(chunks).status_code == 413
    large = server.http.post("/v1/labels", json={"labels": ["l" * 100]}, headers=KEY)
    assert large.status_code == 413  # other bodies have the smaller limit
    assert len(asked) == 3
