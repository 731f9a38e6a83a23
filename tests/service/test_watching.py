"""What those who watch are told: the state, counts by time, items, and who may write."""

import time

import pytest
from server import BUILD, Server

import semibandit as sb
from semibandit.service.http import recent_requests, watching_schema
from semibandit.service.http.recent_requests import RecentRequests
from semibandit.store.store import Store


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("watching") / "store", *BUILD) as one:
        for i in range(6):
            shown = one.rank(slots=i % 3, id=f"v{i}").json()
            if i % 2:
                one.feedback(f"v{i}", [x["label"] for x in shown["slate"][:1]])
        one.rank(slots=-1)
        yield one


def test_the_state_is_as_it_is_described(server):
    state = server.get("/v1/state").json()
    watching_schema.State.model_validate(state)
    assert state.keys() == watching_schema.State.model_fields.keys()
    assert server.state().keys() == state.keys()
    assert state["totals"].items() >= {
        "decisions": 6, "empty": 2, "feedback": 3, "waited": 0, "shown": 3, "clicks": 2,
    }.items()  # fmt: skip
    assert abs(state["totals"]["since"] - time.time()) < 600
    assert state["sizes"] == [2, 2, 2]
    assert [shown for shown, _ in state["positions"]] == [2, 1]
    assert state["problems"] == []
    requests = state["requests"]
    assert (requests["count"], requests["errors"], requests["refused"]) == (10, 0, 1)
    assert 0 < requests["p50_ms"] <= requests["p99_ms"] < 60_000
    assert state["may_write"]


def test_series_add_up_to_the_totals(server):
    totals = server.state()["totals"]
    for span, step, number in (("hour", 60, 60), ("day", 3600, 24), ("all", 60, 2)):
        found = server.get("/v1/series", params={"range": span}).json()
        watching_schema.SeriesAnswer.model_validate(found)
        assert (found["range"], found["step"]) == (span, step)
        assert len(found["points"]) >= number
        for name in ("decisions", "empty", "feedback", "waited", "shown", "clicks"):
            assert sum(one[name] for one in found["points"]) == totals[name]
    assert server.get("/v1/series", params={"range": "year"}).status_code == 422


def test_items(server):
    found = server.get("/v1/items", params={"sort": "clicked", "limit": 2}).json()
    watching_schema.ItemList.model_validate(found)
    assert (found["total"], len(found["items"])) == (6, 2)
    assert found["items"][0]["clicked"] >= found["items"][1]["clicked"]
    new = server.post("/labels", {"labels": ["brand new"]}).json()["labels"]
    assert "brand new" in new
    found = server.get("/v1/items", params={"never_shown": True, "search": "BRAND"}).json()
    assert [one["label"] for one in found["items"]] == ["brand new"]
    for wrong in ({"sort": "width"}, {"limit": 0}, {"limit": 5000}, {"offset": -1}):
        assert server.get("/v1/items", params=wrong).status_code == 422, wrong


def test_who_may_write_is_told(tmp_path):
    with Server(tmp_path, *BUILD, "--api-key", "write", "--read-key", "read") as server:
        for key, may_write in (("write", True), ("read", False)):
            headers = {"Authorization": f"Bearer {key}"}
            assert server.get("/v1/state", headers=headers).json()["may_write"] is may_write
        for path in ("/v1/state", "/v1/series", "/v1/items"):
            assert server.get(path).status_code == 401


def test_a_problem_is_said(tmp_path):
    Store.create(tmp_path, sb.SlateUCB(4, 3)).close()
    with Server(tmp_path) as server:
        for i in range(60):
            server.rank(slots=0, id=f"v{i}")
        said = [one["what"] for one in server.get("/v1/state").json()["problems"]]
    assert "shown nothing" in said[0]
    assert "what was clicked yet" in said[1]


def test_requests_of_long_ago_are_forgotten(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(recent_requests.time, "monotonic", lambda: now)
    recent = RecentRequests()
    recent.count(200, 0.010)
    now += 200
    recent.count(404, 100.0)
    assert recent.summary()["count"] == 2
    now += 150
    found = recent.summary()
    assert (found["count"], found["refused"], found["per_second"]) == (1, 1, 1 / 300)
    now += 400
    assert recent.summary() == {
        "count": 0, "errors": 0, "refused": 0, "per_second": 0.0, "p50_ms": None, "p99_ms": None,
    }  # fmt: skip
