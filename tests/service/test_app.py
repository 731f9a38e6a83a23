"""The API over real HTTP: what is right is answered, what is wrong is told so."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from server import BUILD, LocalServer, Server

import semibandit as sb
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.store import Store


def detail(answer, status):
    """The reason given with this status."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()["detail"]


def test_rank_says_what_to_show_and_why(server):
    answer = server.rank([0.5, -1, 2, 0], slots=3, id="why")
    assert answer.status_code == 200
    body = answer.json()
    assert body["id"] == "why"
    assert body["version"] >= 1
    assert [one["position"] for one in body["slate"]] == [1, 2, 3]
    for one in body["slate"]:
        assert one["label"] in "abcdef"
        assert 0 <= one["estimate"] <= one["prob"] <= 1
        assert one["width"] > 0
    again = server.rank([0.5, -1, 2, 0], slots=3, id="why")
    assert again.json() == body
    assert "given to another request" in detail(server.rank([1, 1, 1, 1], id="why"), 409)


def test_the_slate_is_the_learners(tmp_path):
    with Server(tmp_path / "s", *BUILD, "--width", "scaled:0.3", "--a", 0.7) as server:
        learner = sb.SlateUCB(4, list("abcdef"), width=sb.Scaled(0.3), a=0.7, bias=True)
        for t in range(30):
            random = np.random.default_rng(t)
            x = random.standard_normal(4)
            found = server.rank(x.tolist(), slots=3, exclude=["c"]).json()
            mine = learner.rank(x, 3, exclude=["c"], draw=2 * t + 1)  # its place in the log
            assert [one["label"] for one in found["slate"]] == mine.labels
            np.testing.assert_allclose([one["prob"] for one in found["slate"]], mine.prob)
            clicked = [label for label in mine.labels if random.random() < 0.4]
            assert server.feedback(found["id"], clicked).json()["status"] == "accepted"
            learner.learn(mine, clicked)
            server.until(lambda state: state["backlog"] == 0)


def test_feedback(server):
    shown = server.rank(slots=2).json()
    labels = [one["label"] for one in shown["slate"]]
    hidden = next(label for label in "abcdef" if label not in labels)
    assert "which was not shown" in detail(server.feedback(shown["id"], [hidden]), 422)
    assert server.feedback(shown["id"], labels[:1]).status_code == 200
    assert server.feedback(shown["id"], labels[:1]).status_code == 200
    assert "has other feedback already" in detail(server.feedback(shown["id"], []), 409)
    assert "no decision has that id" in detail(server.feedback("nobody", []), 404)


def test_batches(server):
    asked = [
        {"context": [1, 0, 0, 0], "slots": 1, "id": "batch-1"},
        {"context": [1, 0, 0], "slots": 1},
        {"context": [0, 1, 0, 0], "slots": 2, "id": "batch-2"},
        {"context": [0, 1, 0, 0], "candidates": ["moon"]},
    ]
    results = server.post("/rank/batch", {"requests": asked}).json()["results"]
    assert [one.get("id") for one in results] == ["batch-1", None, "batch-2", None]
    assert results[1]["status"] == results[3]["status"] == 422
    assert "context has 3 features" in results[1]["detail"]
    assert "'moon'" in results[3]["detail"]
    told = [{"id": id, "clicked": []} for id in ("batch-2", "nobody", "batch-1")]
    results = server.post("/feedback/batch", {"feedback": told}).json()["results"]
    assert [one.get("status") for one in results] == ["accepted", 404, "accepted"]
    assert server.post("/rank/batch", {"requests": []}).json() == {"results": []}
    many = [{"context": [1, 0, 0, 0]}] * 257
    assert "at most 256" in detail(server.post("/rank/batch", {"requests": many}), 422)


def test_labels(server):
    assert server.get("/labels").json()["labels"][:6] == list("abcdef")
    assert "new" in server.post("/labels", {"labels": ["new"]}).json()["labels"]
    assert server.rank(candidates=["new"], slots=1).json()["slate"][0]["label"] == "new"
    assert "is there already" in detail(server.post("/labels", {"labels": ["new"]}), 409)
    gone = server.http.request("DELETE", "/labels", json={"labels": ["new"]})
    assert "new" not in gone.json()["labels"]
    again = server.http.request("DELETE", "/labels", json={"labels": ["new"]})
    assert "not a label" in detail(again, 404)
    assert "'new'" in detail(server.rank(candidates=["new"]), 422)
    assert "names its labels" in detail(server.post("/labels", {"labels": 3}), 422)


def test_more_labels_than_allowed_are_refused_before_they_are_made(tmp_path):
    with Server(tmp_path / "s", "--features", 2, "--labels", 3) as server:
        assert server.post("/labels", {"labels": 2}).json()["labels"] == [0, 1, 2, 3, 4]
        for many in (2**53 - 1, 10**9):
            assert detail(server.post("/labels", {"labels": many}), 422)
        assert len(server.get("/labels").json()["labels"]) == 5


def test_watching(server):
    shown = server.rank(slots=2).json()
    server.feedback(shown["id"], [shown["slate"][0]["label"]])
    state = server.until(lambda state: state["backlog"] == 0 and state)
    state = server.state()
    assert state["learner"] == "SlateUCB"
    assert state["decisions"] >= 1
    assert state["clicks"] >= 1
    assert state["latest"]
    text = server.get("/metrics").text
    assert "semibandit_decisions_total" in text
    assert "semibandit_store_up 1.0" in text
    asked = number(text, 'semibandit_requests_total{status="200",what="rank"}')
    assert asked >= 1
    assert number(text, 'semibandit_seconds_bucket{le="+Inf",what="rank"}') >= asked
    assert number(text, 'semibandit_seconds_count{what="rank"}') >= asked
    assert number(text, 'semibandit_seconds_sum{what="rank"}') > 0
    assert server.get("/healthz").json() == {"status": "ok"}
    assert server.post("/snapshot").json()["position"] == server.state()["learned"]


def test_what_is_wrong_is_counted_too(tmp_path):
    with Server(tmp_path / "s", "--features", 2, "--labels", 3) as server:
        for context in ([1, "x"], [1], [1, 2, 3], "none", [0, 1]):
            server.post("/rank", {"context": context})
        server.post("/feedback", {"clicked": []})
        server.feedback("nobody", [])
        text = server.get("/metrics").text
    for what, status, n in (
        ("rank", 422, 4), ("rank", 200, 1), ("feedback", 422, 1), ("feedback", 404, 1),
    ):  # fmt: skip
        assert number(text, f'semibandit_requests_total{{status="{status}",what="{what}"}}') == n


def number(text, name):
    """What Prometheus' text says of it."""
    return float(next(line for line in text.splitlines() if line.startswith(name)).split()[-1])


def test_docs_need_no_network(server):
    page = server.get("/docs").text
    assert "https://" not in page
    for path in ("/docs/swagger.js", "/docs/swagger.css", "/openapi.json", "/"):
        assert server.get(path).status_code == 200
    paths = server.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        "/v1/rank", "/v1/feedback", "/v1/rank/batch", "/v1/feedback/batch", "/v1/labels",
        "/v1/state", "/v1/snapshot", "/v1/events", "/v1/events/{id}",
        "/v1/events/erase", "/v1/learner", "/metrics",
        "/livez", "/readyz", "/healthz", "/v1/series", "/v1/items",
    }  # fmt: skip


def test_the_description_names_features_to_those_who_have_a_key(tmp_path):
    store = Store.create(tmp_path, sb.SlateUCB(sb.Features(secretfeature="number"), ["tea"]))
    settings = Settings(api_key="write", read_key="read")
    with LocalServer(create_app(Engine(store, settings))) as server:
        for key, told in (("write", True), ("read", True), ("no", False), (None, False)):
            headers = {} if key is None else {"Authorization": f"Bearer {key}"}
            answer = server.get("/openapi.json", headers=headers)
            assert answer.status_code == 200
            assert ("secretfeature" in answer.text) == told
            assert "tea" not in answer.text
            assert answer.json()["components"]["schemas"]["RankRequest"]["examples"]


def test_every_answer_with_data_is_kept_by_no_cache_and_guessed_by_no_browser(server):
    """Once each, whatever it is and whichever way it went; the pages have headers of their own."""
    answers = [server.get(path) for path in (
        "/v1/state", "/v1/labels", "/v1/series", "/v1/items", "/metrics", "/livez", "/readyz",
        "/openapi.json", "/v1/nothing", "/v1/rank",
    )]  # fmt: skip
    one = {"context": [1, 0, 0, 0]}
    answers += [server.post(path, body) for path, body in (
        ("/v1/rank", one), ("/v1/rank?dry_run=true", one), ("/v1/rank", {}), ("/v1/feedback", {}),
        ("/v1/rank/batch", {"requests": [one]}), ("/v1/labels", {}), ("/v1/snapshot", None),
    )]  # fmt: skip
    answers.append(server.get("/livez", headers={"Host": "evil.example"}))
    answers.append(server.get("/livez", headers={"X": "a" * (1 << 17)}))
    assert {one.status_code for one in answers} == {200, 404, 405, 421, 422, 431}
    for answer in answers:
        assert answer.headers.get_list("cache-control") == ["no-store"], answer.request.url
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_every_operation_has_a_name_and_every_body_an_example(server):
    document = server.get("/openapi.json").json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    names = [one["operationId"] for one in operations]
    assert len(set(names)) == len(names)
    assert {"rank", "rank_batch", "feedback", "feedback_batch", "state", "labels"} <= set(names)
    models = document["components"]["schemas"]
    for name in ("RankRequest", "Decided", "FeedbackRequest", "Accepted", "Problem", "Added"):
        assert models[name]["examples"], name
    asked = models["RankRequest"]["examples"][0]
    assert server.post("/v1/rank", {**asked, "id": "the-example"}).status_code == 200
    assert models["State"]["properties"]["limits"]


def test_paths_without_a_version_are_the_same_for_one_release(server):
    for old in ("/rank", "/v1/rank"):
        answer = server.post(old, {"context": [1, 0, 0, 0], "id": "both-paths", "slots": 2})
        assert answer.status_code == 200
        assert answer.headers.get("deprecation") == ("true" if old == "/rank" else None)
    for path in ("/labels", "/state"):
        assert server.get(path).json().keys() == server.get(f"/v1{path}").json().keys()
    for path in ("/livez", "/readyz", "/healthz"):
        assert server.get(path).json() == {"status": "ok"}
        assert server.get(f"/v1{path}").status_code == 404


def test_the_description_says_how_long_a_context_is_unless_a_batch_says_it_for_each(server):
    document = server.get("/openapi.json").json()

    def lengths(path):
        content = document["paths"][path]["post"]["requestBody"]["content"]
        model = follow(content["application/json"]["schema"])
        if path == "/v1/rank/batch":
            model = follow(model["properties"]["requests"]["items"]["anyOf"][0])
        numbers = model["properties"]["context"]["oneOf"][0]
        return numbers.get("minItems"), numbers.get("maxItems")

    def follow(ref):
        return document["components"]["schemas"][ref["$ref"].rsplit("/", 1)[1]]

    assert lengths("/v1/rank") == (4, 4)
    assert lengths("/v1/rank/batch") == (None, None)
    asked = [{"context": [1, 0, 0, 0]}, {"context": [1, 0, 0]}]
    good, bad = server.post("/rank/batch", {"requests": asked}).json()["results"]
    assert good["slate"]
    assert bad["status"] == 422


def test_named_features(tmp_path):
    names = ("--features", "hour,weekend", "--labels", "2")
    with Server(tmp_path / "s", *names) as server:
        one = server.post("/rank", {"context": {"weekend": 1, "hour": 9}, "id": "a"})
        assert one.status_code == 200
        again = server.post("/rank", {"context": {"hour": 9.0, "weekend": 1}, "id": "a"})
        assert again.json() == one.json()
        assert server.post("/rank", {"context": [9, 1]}).status_code == 200
        assert server.post("/rank", {"context": {"hour": 2}}).status_code == 200
        wrong = server.post("/rank", {"context": {"hours": 2}})
        assert "context names 'hours', which is not a feature" in detail(wrong, 422)
        assert server.state()["feature_names"] == ["hour", "weekend"]
        assert server.post("/labels", {"labels": 2}).json()["labels"] == [0, 1, 2, 3]
    with Server(tmp_path / "t", *BUILD) as server:
        assert "have none" in detail(server.post("/rank", {"context": {"hour": 2}}), 422)


WRONG = {
    "no body": (b"", 422),
    "no JSON": (b"{", 422),
    "half a text": (b'{"context": "', 422),
    "not an object": (b"[1, 2, 3, 4]", 422),
    "a number": (b"7", 422),
    "nothing": (b"null", 422),
    "NaN": (b'{"context": [NaN, 0, 0, 0]}', 422),
    "Infinity": (b'{"context": [1e999, 0, 0, 0]}', 422),
    "minus Infinity": (b'{"context": [-Infinity, 0, 0, 0]}', 422),
    "a text for a number": (b'{"context": ["1", 0, 0, 0]}', 422),
    "true for a number": (b'{"context": [true, 0, 0, 0]}', 422),
    "null for a number": (b'{"context": [null, 0, 0, 0]}', 422),
    "a huge whole number": (b'{"context": [1' + b"0" * 400 + b", 0, 0, 0]}", 422),
    "an endless number": (b'{"context": [1' + b"0" * 9000 + b", 0, 0, 0]}", (400, 422)),
    "too short": (b'{"context": [1, 0]}', 422),
    "too long": (b'{"context": [' + b"1, " * 9999 + b"1]}", 422),
    "all zeros": (b'{"context": [0, 0, 0, 0], "slots": -1}', 422),
    "slots below 0": (b'{"context": [1, 0, 0, 0], "slots": -1}', 422),
    "half a slot": (b'{"context": [1, 0, 0, 0], "slots": 1.5}', 422),
    "endless slots": (b'{"context": [1, 0, 0, 0], "slots": 1000001}', 422),
    "a text for slots": (b'{"context": [1, 0, 0, 0], "slots": "3"}', 422),
    "true for slots": (b'{"context": [1, 0, 0, 0], "slots": true}', 422),
    "an unknown key": (b'{"context": [1, 0, 0, 0], "slot": 1}', 422),
    "an unknown label": (b'{"context": [1, 0, 0, 0], "candidates": ["moon"]}', 422),
    "a label twice": (b'{"context": [1, 0, 0, 0], "exclude": ["a", "a"]}', 422),
    "a label of half": (b'{"context": [1, 0, 0, 0], "exclude": [0.5]}', 422),
    "an object for a label": (b'{"context": [1, 0, 0, 0], "exclude": [{}]}', 422),
    "an empty id": (b'{"context": [1, 0, 0, 0], "id": ""}', 422),
    "a long id": (b'{"context": [1, 0, 0, 0], "id": "' + b"x" * 201 + b'"}', 422),
    "an id with a line": (b'{"context": [1, 0, 0, 0], "id": "a\\n"}', 422),
    "an id with a zero": (b'{"context": [1, 0, 0, 0], "id": "\\u0000"}', 422),
    "half a character": (b'{"context": [1, 0, 0, 0], "exclude": ["\\ud800"]}', 422),
    "deep lists": (b'{"context": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", (400, 422)),
    "deep objects": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, (400, 422)),
    "not UTF-8": (b'{"context": [1, 0, 0, 0], "id": "\xff\xfe"}', (400, 422)),
    "UTF-16": ('{"context": [1, 0, 0, 0], "slots": 9999}'.encode("utf-16"), (400, 422)),
    "bytes": (bytes(range(256)), (400, 422)),
    "too large": (b'{"context": [' + b"1," * (1 << 19) + b"1]}", 413),
}


INTERNALS = (
    "Traceback", ".py", "pydantic", "sqlite", "site-packages", "https://", "Input", "should be",
    "valid ", "tag", "Extra", "permitted", "it cannot be used",
)  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("path", ["/rank", "/feedback", "/labels", "/rank/batch"])
def test_hostile_bodies_get_4xx_and_no_internals(server, what, path):
    body, status = WRONG[what]
    head = {"content-type": "application/json"}
    answer = server.http.post(path, content=body, headers=head)
    if path == "/rank":
        assert answer.status_code in (status if isinstance(status, tuple) else (status,))
    assert 400 <= answer.status_code < 500, answer.text
    detail = answer.json()["detail"]
    assert len(detail) < 2000
    for secret in INTERNALS:
        assert secret not in detail
    assert server.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"context": [1, 2]}, "context has 2 features, this model was built for 4"),
        ({"context": [0, 0, 0, "x"]}, "context[3] = 'x': expected a number"),
        ({"context": "none"}, "context = 'none': expected a list of numbers, or an object of"),
        ({"context": [1, 0, 0, 0], "slots": -1}, "slots = -1: expected at least 0"),
        ({"context": [1, 0, 0, 0], "slots": 1.5}, "slots = 1.5: expected a whole number"),
        ({"context": [1, 0, 0, 0], "id": "a b"}, "id = 'a b': expected letters, digits and . _ :"),
        ({"context": [1, 0, 0, 0], "exclude": "a"}, "exclude = 'a': expected a list"),
        ({"context": [1, 0, 0, 0], "exclude": [0.5]}, "exclude[0] = 0.5: expected a string of 1"),
        ([1, 2], "the body = [1, 2]: expected an object"),
        ({"context": [1, 0, 0, 0], "slots": 2000}, "slots = 2000, but at most 1000 can be had"),
        ({}, "context is missing"),
        ({"context": [1, 0, 0, 0], "colour": "red"}, "colour = 'red': there is no such key"),
        ({"context": [1, 0, 0, 0], "slot": 1}, "there is no such key; did you mean 'slots'?"),
    ],
)
def test_errors_say_the_key_the_value_and_what_was_expected(server, body, reason):
    assert reason in detail(server.post("/rank", body), 422)


def test_numbers_at_the_edge_of_float64_are_numbers(server):
    for x in ([1e100, -1e100, 5e-324, 0.0], [5e-324, 0, 0, 0], [1e-308, 1e99, 1, -0.0]):
        answer = server.rank(x, slots=6)
        assert answer.status_code == 200
        server.feedback(answer.json()["id"], [])
    server.until(lambda state: state["backlog"] == 0)
    assert all(one["prob"] == one["prob"] for one in server.rank(slots=6).json()["slate"])
    assert "at most 1e+100 in size" in detail(server.rank([1e101, 0, 0, 0]), 422)


def test_other_paths_methods_and_types(server):
    detail(server.get("/nothing"), 404)
    detail(server.get("/rank"), 405)
    assert server.get("/feedback").headers["allow"] == "POST"
    for path in ("/rank/", "/v1/rank/", "/labels/", "/docs/"):  # no redirect to wherever
        detail(server.post(path, {}), 404)
        detail(server.get(path), 404)
    text = server.http.post("/rank", content=b"context=1", headers={"content-type": "text/plain"})
    assert 400 <= text.status_code < 500


def test_a_body_of_unknown_length_is_counted(server):
    def pieces():
        for _ in range(40):
            yield b" " * 65536

    answer = server.http.post(
        "/rank", content=pieces(), headers={"content-type": "application/json"}
    )
    assert "at most 1048576 bytes" in detail(answer, 413)
    body = json.dumps({"context": [1, 0, 0, 0]}).encode()
    head = {"content-type": "application/json"}
    assert server.http.post("/rank", content=iter([body]), headers=head).status_code == 200


def test_no_slots_are_as_many_as_may_be(tmp_path):
    where = tmp_path / "s"
    body = {"context": [1, 0], "id": "open"}
    with Server(where, "--features", 2, "--labels", 7, "--max-slots", 5) as server:
        first = server.post("/v1/rank", body).json()
        assert len(first["slate"]) == 5
        null = server.post("/v1/rank", {**body, "id": "null", "slots": None})
        assert len(null.json()["slate"]) == 5
        asked = [{"context": [0, 1]}, {"context": [0, 1], "slots": 2}]
        batch = server.post("/v1/rank/batch", {"requests": asked}).json()["results"]
        assert [len(one["slate"]) for one in batch] == [5, 2]
        assert server.state()["latest"][-1]["slots"] == 5  # so that the log says how it was ranked
    with Server(where, "--max-slots", 3) as server:  # the default has changed, the request has not
        assert server.post("/v1/rank", body).json() == first
        assert "given to another" in detail(server.post("/v1/rank", {**body, "slots": 2}), 409)
        assert len(server.post("/v1/rank", {"context": [1, 0]}).json()["slate"]) == 3


def test_a_dry_run_leaves_no_trace(tmp_path):
    env = {"SEMIBANDIT_API_KEY": "write-it", "SEMIBANDIT_READ_KEY": "read-it"}
    with Server(tmp_path / "s", *BUILD, env=env) as server:
        server.http.headers["authorization"] = "Bearer read-it"
        body = {"context": [1, 0, 0, 0], "slots": 2, "id": "mine"}
        before = server.state()
        dry = server.post("/v1/rank?dry_run=true", body)
        assert dry.status_code == 200
        assert server.state() | {"minutes": 0} == before | {"minutes": 0}
        assert "for reading only" in detail(server.post("/v1/rank", body), 403)
        assert "for reading only" in detail(server.post("/v1/rank?dry_run=false", body), 403)
        for wrong in ("dry_run=yes", "dry_run="):
            assert "expected true or false" in detail(server.post(f"/v1/rank?{wrong}", body), 422)
        twice = server.post("/v1/rank?dry_run=true&dry_run=true", body)
        assert "the query has dry_run 2 times: expected it once" in detail(twice, 422)
        misspelt = server.post("/v1/rank?dryrun=true", body)
        assert "did you mean 'dry_run'?" in detail(misspelt, 422)
        assert "'moon'" in detail(
            server.post("/v1/rank?dry_run=true", body | {"exclude": ["moon"]}), 422
        )
        server.http.headers["authorization"] = "Bearer write-it"
        real = server.post("/v1/rank", body).json()
        assert dry.json() == real | {"id": None, "dry_run": True}
        text = server.get("/metrics").text
    assert number(text, 'semibandit_requests_total{status="200",what="rank/dry_run"}') == 1
    assert number(text, "semibandit_decisions_total") == 1


def test_two_at_once_with_one_id_over_http(server):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: server.rank(id="twice", slots=3).json(), range(16)))
    assert all(one == found[0] for one in found)


def test_keys(tmp_path):
    env = {"SEMIBANDIT_API_KEY": "write-it", "SEMIBANDIT_READ_KEY": "read-it"}
    with Server(tmp_path / "s", *BUILD, env=env) as server:

        def ask(method, path, key, body=None):
            head = {} if key is None else {"authorization": f"Bearer {key}"}
            return server.http.request(method, path, json=body, headers=head)

        context = {"context": [1, 0, 0, 0]}
        for key in (None, "wrong", "write-i", "write-it2", "x y"):
            answer = ask("POST", "/rank", key, context)
            assert "a key is needed" in detail(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
            detail(ask("GET", "/state", key), 401)
        assert ask("POST", "/rank", "write-it", context).status_code == 200
        assert ask("GET", "/state", "write-it").status_code == 200
        for path in ("/state", "/labels", "/metrics"):
            assert ask("GET", path, "read-it").status_code == 200
        for path in ("/rank", "/feedback", "/labels", "/snapshot", "/rank/batch"):
            assert "for reading only" in detail(ask("POST", path, "read-it", context), 403)
        detail(ask("DELETE", "/labels", "read-it", {"labels": ["a"]}), 403)
        for path in (
            "/",
            "/healthz",
            "/livez",
            "/readyz",
            "/docs",
            "/page.js",
        ):  # they tell nothing
            assert ask("GET", path, None).status_code == 200
