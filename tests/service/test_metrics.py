"""What /metrics counts: every request once, also those that were turned away, and the process."""

from types import SimpleNamespace

import pytest
from engines import give, learned, rank, running
from prometheus_client.parser import text_string_to_metric_families
from server import BUILD, Server, until

import semibandit
from semibandit.service.http.metrics import Metrics


def samples(text):
    """Every number by its name and labels."""
    return {
        (one.name, *sorted(one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def requests(found, what, status):
    labels = (("status", str(status)), ("what", what))
    return found.get(("semibandit_requests_total", *labels), 0)


def test_requests_that_are_turned_away_are_counted(tmp_path):
    with Server(tmp_path / "s", *BUILD, "--api-key", "k", "--read-key", "r") as server:
        good = {"context": [1, 0, 0, 0]}
        key = {"authorization": "Bearer k"}
        for path, body, headers, what, status in (
            ("/v1/rank", good, {}, "rank", 401),
            ("/rank", good, {"authorization": "Bearer r"}, "rank", 403),
            ("/v1/rank", good, {**key, "host": "evil.example"}, "rank", 421),
            ("/v1/rank", good, {**key, "content-type": "text/plain"}, "rank", 415),
            ("/v1/rank", "x" * (1 << 21), key, "rank", 413),
            ("/v1/rank", {}, key, "rank", 422),
            ("/v1/rank", good, key, "rank", 200),
            ("/v1/state", {}, {**key, "content-type": "text/plain"}, "state", 405),
            ("/v1/nothing", {}, key, "other", 404),
            ("/v1/labels", {"labels": "x"}, key, "labels", 422),
            ("/v1/snapshot", {}, {**key, "origin": "http://evil.example"}, "snapshot", 403),
        ):
            answer = server.post(path, body, headers=headers)
            assert answer.status_code == status, (path, answer.text)
            found = samples(server.get("/metrics", headers=key).text)
            assert requests(found, what, status) == 1, (what, status)


def test_a_batch_is_one_request_and_its_items_have_their_own_count(tmp_path):
    with Server(tmp_path / "s", *BUILD) as server:
        asked = [{"context": [1, 0, 0, 0]}] * 9 + [{"context": [1]}, 7]
        server.post("/rank/batch", {"requests": asked})
        server.post("/v1/feedback/batch", {"feedback": [{"id": "nobody", "clicked": []}]})
        found = samples(server.get("/metrics").text)
    assert requests(found, "rank/batch", 200) == requests(found, "feedback/batch", 200) == 1
    assert requests(found, "rank", 200) == 0
    seconds = found["semibandit_seconds_count", ("what", "rank/batch")]
    assert seconds == 1
    for what, status, n in (("rank", 200, 9), ("rank", 422, 2), ("feedback", 404, 1)):
        labels = (("status", str(status)), ("what", what))
        assert found[("semibandit_batch_items_total", *labels)] == n


def test_the_process_the_store_and_the_learner(tmp_path):
    with running(tmp_path) as engine:
        text = Metrics(engine)
        decision = rank(engine)
        give(engine, decision.id, decision.labels[:1])
        learned(engine, 1)
        found = samples(text.text().decode())
    version = ("version", semibandit.__version__)
    (build,) = [one for one in found if one[0] == "semibandit_build_info"]
    assert version in build
    assert found["process_resident_memory_bytes",] > 1e6
    assert found["semibandit_store_seconds_count",] == 2  # commits
    assert 0 < found["semibandit_store_seconds_sum",] < 60
    assert found["semibandit_ready",] == 1
    assert found["semibandit_lag_seconds",] == 0
    assert found["semibandit_looked_share",] == 1
    for name, n in (("decisions", 1), ("feedback", 1), ("shown", 2), ("clicks", 1)):
        assert found[f"semibandit_{name}_total",] == n


def test_not_ready_and_lagging(tmp_path, monkeypatch):
    with running(tmp_path) as engine:
        monkeypatch.setattr(type(engine.learner._state), "step", lambda *_: None + 1)
        decision = rank(engine)
        give(engine, decision.id, [])
        until(lambda: not engine.learning.alive)
        found = samples(Metrics(engine).text().decode())
    assert found["semibandit_ready",] == 0
    assert found["semibandit_backlog",] == 1
    assert 0 < found["semibandit_lag_seconds",] < 60


@pytest.mark.parametrize(("n", "last"), [(50, "20"), (3, "3")])
def test_slates_by_size_and_clicks_by_position(tmp_path, n, last):
    totals = {"decisions": 9, "empty": 4, "feedback": 7, "waited": 2, "shown": 30, "clicks": 5}
    summary = {
        "totals": totals,
        "sizes": [4, 3, 0, 0, 2] + [0] * 46 + [1],
        "positions": [[100 - i, 10] for i in range(n)],
    }
    with running(tmp_path) as engine:
        engine.statistics = SimpleNamespace(summary=lambda: summary)
        found = samples(Metrics(engine).text().decode())
    assert found["semibandit_empty_slates_total",] == 4
    assert found["semibandit_waited_total",] == 2
    for most, count in ((0, 4), (1, 7), (3, 7), (5, 9), (50, 9), ("+Inf", 10)):
        le = most if most == "+Inf" else str(most)
        assert found["semibandit_slate_size_bucket", ("le", le)] == count, most
    assert found["semibandit_position_shown_total", ("position", "1")] == 100
    assert found["semibandit_position_clicks_total", ("position", last)] == 10
    assert found["semibandit_position_clicks_total", ("position", "later")] == 10 * max(0, n - 20)
    assert ("semibandit_position_shown_total", ("position", str(int(last) + 1))) not in found
