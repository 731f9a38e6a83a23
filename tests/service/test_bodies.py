"""Batches: each item has its own answer, whatever is wrong with it or with the others."""

import json

import pytest
from pydantic import ValidationError

from semibandit.errors import InputError
from semibandit.service.http import schema
from semibandit.service.http.bodies import MOST_PARTS, read_batch

GOOD = {"context": [1, 0, 0, 0], "slots": 1}
WRONG = [
    ({**GOOD, "slots": "many"}, "slots = 'many': expected a whole number"),
    ({**GOOD, "slots": -1}, "slots = -1: expected at least 0"),
    ({**GOOD, "slots": 5000}, "slots = 5000, but at most 1000 can be had"),
    ({**GOOD, "id": "a b"}, "id = 'a b': expected letters"),
    ({**GOOD, "id": 7}, "id = 7: expected a string"),
    ({**GOOD, "slot": 1}, "slot = 1: there is no such key; did you mean 'slots'?"),
    ({"context": [1, "x", 0, 0]}, "context[1] = 'x': expected a number"),
    ({"context": [1, 0]}, "context has 2 features"),
    ({"slots": 1}, "context is missing"),
    ({**GOOD, "candidates": ["moon"]}, "'moon'"),
    ("rank", "the body = 'rank': expected an object"),
    (None, "the body = None: expected an object"),
    ([], "the body = []: expected an object"),
    (7, "the body = 7: expected an object"),
]


def test_a_wrong_item_is_no_problem_of_the_others(server):
    items = [item for wrong, _ in WRONG for item in (GOOD, wrong)]
    answer = server.post("/v1/rank/batch", {"requests": items})
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert len(results) == len(items)
    assert all(len(one["slate"]) == 1 for one in results[::2])
    for (_, reason), found in zip(WRONG, results[1::2], strict=True):
        assert found["status"] == 422
        assert reason in found["detail"]


def test_wrong_feedback_is_no_problem_of_the_others(server):
    ids = [server.rank(slots=1).json()["id"] for _ in range(3)]
    told = [
        {"id": ids[0], "clicked": []},
        {"id": ids[1], "clicked": "a"},
        {"id": "no such id!", "clicked": []},
        {"clicked": []},
        17,
        {"id": ids[1], "clicked": [], "seen": []},
        {"id": ids[1], "clicked": [], "examined": "all"},
        {"id": ids[1], "clicked": [], "examined": 7},
        {"id": ids[1], "clicked": [], "examined": [0.5]},
        {"id": ids[2], "clicked": []},
    ]
    results = server.post("/v1/feedback/batch", {"feedback": told}).json()["results"]
    assert [one["status"] for one in results] == ["accepted", *[422] * 8, "accepted"]
    assert results[1]["detail"] == "clicked = 'a': expected a list"
    wanted = "examined = 7: expected a list of labels, or 'up to the last click'"
    assert results[7]["detail"] == wanted
    assert results[6]["detail"] == "examined = 'all': expected 'up to the last click'"
    assert results[8]["detail"].startswith("examined[0] = 0.5: expected a string")
    assert server.feedback(ids[1], []).status_code == 200  # it was not taken


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "the body is no JSON"),
        (b"", "the body is no JSON"),
        (b"[]", "the body = []: expected an object"),
        (b"{}", "requests is missing"),
        (b'{"requests": {}}', "requests = {}: expected a list"),
        (b'{"requests": [], "more": 1}', "more = 1: there is no such key"),
        (b'{"requests": [7], "request": 1}', "no such key; did you mean 'requests'?"),
    ],
)
def test_what_is_no_batch_is_refused_as_a_whole(server, body, reason):
    head = {"content-type": "application/json"}
    answer = server.http.post("/v1/rank/batch", content=body, headers=head)
    assert answer.status_code == 422
    assert reason in answer.json()["detail"]


def test_an_item_is_read_as_it_would_be_alone():
    """By itself and after parsing, pydantic must find the same."""
    for text in (
        "NaN", "1e999", "true", "1.0", "1e400", '"1"', "[1]", "null", "12345678901234567890",
    ):  # fmt: skip
        item = b'{"context": [0, %b], "slots": %b}' % (text.encode(), text.encode())
        try:
            schema.RankRequest.model_validate_json(item)
            alone = 0
        except ValidationError as why:
            alone = len(why.errors())
        body = b'{"requests": [%b, 7]}' % item
        found, other = read_batch(body, schema.RankBatch, "requests", schema.RankRequest, 9)
        assert isinstance(other, InputError)
        assert (len(str(found).split("; ")) if isinstance(found, InputError) else 0) == alone, text


# -- what would take long ----------------------------------------------------------------------

JSON_HEAD = {"content-type": "application/json"}


def many(begin, one, n, end="]}"):
    """A body with a list of so many."""
    return (begin + ",".join([one] * n) + end).encode()


def named(n, value):
    """A context of so many names."""
    return "{" + ",".join(f'"k{i}":{value}' for i in range(n)) + "}"


TOO_MANY = f"the body has more than {MOST_PARTS} objects, lists and keys"
HOSTILE = {  # a path, a body, and what is wrong with it: the first thing alone
    "objects": ("/v1/rank/batch", many('{"requests":[', "{}", 349_000), TOO_MANY),
    "lists": ("/v1/rank/batch", many('{"requests":[', "[]", 349_000), TOO_MANY),
    "numbers": (
        "/v1/feedback/batch",
        many('{"feedback":[', "0", 500_000),
        "500000 in one batch, but at most 256 can be had",
    ),
    "right requests": (
        "/v1/rank/batch",
        many('{"requests":[', '{"context":[1,0,0,0]}', 257),
        "257 in one batch, but at most 256 can be had",
    ),
    "clicked nulls": (
        "/v1/feedback",
        many('{"id":"a","clicked":[', "null", 200_000),
        "clicked[0] = None: expected a string of 1 to 200 characters, or a whole number",
    ),
    "strings in a context": (
        "/v1/rank?dry_run=true",
        many('{"context":[', '""', 340_000),
        "context[0] = '': expected a number",
    ),
    "names": ("/v1/rank", f'{{"context":{named(90_000, 0)}}}'.encode(), TOO_MANY),
    "wrong values": (
        "/v1/rank",
        f'{{"context":{named(2_000, "[[]]")}}}'.encode(),
        "2000 keys or values of the body cannot be used",
    ),
    "unknown keys": (
        "/v1/rank",
        named(2_000, 0).encode(),
        "2001 keys or values of the body cannot be used",
    ),
    "labels": (
        "/v1/labels",
        many('{"labels":[', "{}", 300_000),
        TOO_MANY,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_large_body_is_refused_at_its_first_mistake(server, what):
    """Not after it has looked at all of them, which held up all other requests for seconds."""
    path, body, reason = HOSTILE[what]
    answer = server.http.post(path, content=body, headers=JSON_HEAD)
    assert (answer.status_code, answer.json()["detail"]) == (422, reason)


def test_a_full_batch_is_answered_whatever_its_labels_look_like(server):
    """Colons, quotes and brackets inside of strings are no keys, objects or lists."""
    label = 'a:"b": [{x}]'
    server.post("/v1/labels", {"labels": [label]})
    for name, more in {"x": {}, "y": {"subject": "::"}}.items():
        asked = [{**GOOD, **more, "exclude": [label], "id": f"{name}:{i}"} for i in range(256)]
        body = json.dumps({"requests": asked})
        assert len(body) > MOST_PARTS / 2
        answer = server.http.post("/v1/rank/batch", content=body, headers=JSON_HEAD)
        assert [one["id"] for one in answer.json()["results"]] == [one["id"] for one in asked]
    server.http.request("DELETE", "/v1/labels", json={"labels": [label]})


# -- keys that come twice ----------------------------------------------------------------------

TWICE = {
    "/v1/rank": [
        ('{"context": [1, 0, 0, 0], "id": "a1", "id": "a2"}', "id"),
        ('{"context": [1, 0, 0, 0], "id" \t\r\n: "a1", "\\u0069d": "a2"}', "id"),
        ('{"context": {"x": 1, "y": 2, "x": 3}}', "x"),
        ('{"context": {"x": 1, "y": [], "x": 3}, "id": "a:b"}', "x"),
    ],
    "/v1/rank?dry_run=true": [('{"slots": 1, "context": [1, 0, 0, 0], "slots": 1}', "slots")],
    "/v1/feedback": [('{"id": "a1", "clicked": [], "clicked": ["a"]}', "clicked")],
    "/v1/rank/batch": [
        ('{"requests": [], "requests": []}', "requests"),
        ('{"requests": [{"context": [1, 0, 0, 0], "slots": 1, "slots": 2}]}', "slots"),
        ('{"requests": [7, {"context": [1, 0, 0, 0], "slots": 1, "slots": 2}]}', "slots"),
        (f'{{"requests": [{{"x": {{"y": {{"z": 1, "z": 2}}}}, "n": {"9" * 4300}}}]}}', "z"),
    ],
    "/v1/feedback/batch": [
        ('{"feedback": [{"id": "a", "clicked": [], "id": "b"}, {}]}', "id"),
    ],
    "/v1/labels": [('{"labels": ["new1"], "labels": ["new2"]}', "labels")],
}


@pytest.mark.parametrize("path", TWICE)
def test_a_key_may_not_come_twice(server, path):
    """Readers of JSON differ in which of them counts: a proxy may have checked the other."""
    before = server.state()["position"], server.get("/v1/labels").json()
    for body, key in TWICE[path]:
        answer = server.http.post(path, content=body, headers=JSON_HEAD)
        assert answer.status_code == 422
        assert answer.json()["detail"] == f"the body has the key '{key}' twice in one object"
    assert (server.state()["position"], server.get("/v1/labels").json()) == before
