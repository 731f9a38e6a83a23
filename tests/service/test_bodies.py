"""Batches: each item has its own answer, whatever is wrong with it or with the others."""

import pytest
from pydantic import ValidationError

from semibandit.errors import InputError
from semibandit.service.http import schema
from semibandit.service.http.bodies import read_batch

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
        found, other = read_batch(body, schema.RankBatch, "requests", schema.RankRequest)
        assert isinstance(other, InputError)
        assert (len(str(found).split("; ")) if isinstance(found, InputError) else 0) == alone, text
