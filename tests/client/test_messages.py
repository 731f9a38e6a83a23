"""What goes over the wire, and what answers mean, without a service."""

import json

import numpy as np
import pytest

from semibandit.client.messages import (
    Answer,
    _value,
    error_for,
    feedback_body,
    rank_body,
    read_answer,
    reason,
)
from semibandit.errors import AccessDenied, InputError, ServiceUnavailable, UnknownDecision

REFUSALS = {404: UnknownDecision}


@pytest.mark.parametrize(
    ("status", "why", "error", "message"),
    [
        (401, "no key", AccessDenied, "no key"),
        (404, "no decision 'x'", UnknownDecision, "no decision 'x'"),
        (404, "Not Found", InputError, "Not Found"),  # of another kind of server
        (404, None, InputError, "status 404, and no reason given: is this a semibandit service"),
        (422, "bad", InputError, "bad"),
        (503, None, ServiceUnavailable, "the service is not available"),
        (500, "secret", ServiceUnavailable, "the service failed with status 500"),
    ],
)
def test_a_status_is_an_error(status, why, error, message):
    found = error_for(status, why, REFUSALS)
    assert type(found) is error
    assert str(found).startswith(message)


def test_an_answer_is_its_content_or_an_error_with_its_reason():
    assert read_answer(Answer(200, b'{"a": 1}'), REFUSALS) == {"a": 1}
    body = json.dumps({"detail": "no decision 'x'"}).encode()
    with pytest.raises(UnknownDecision, match="no decision 'x'"):
        read_answer(Answer(404, body), REFUSALS)


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b'{"error": 1}', b"\xff"])
def test_other_servers_give_no_reason(body):
    assert reason(Answer(502, body)) is None


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ({"b", "a"}, ["a", "b"]),
        (frozenset("ba"), ["a", "b"]),
        (["b", "a"], ["b", "a"]),
        (np.True_, True),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (None, None),
        ("word", "word"),
    ],
)
def test_values_of_features_are_sent_as_json_has_them(value, sent):
    found = _value("tags", value)
    assert found == sent
    assert type(found) is type(sent)
    assert json.loads(json.dumps(found)) == sent


@pytest.mark.parametrize("key", ["clicked", "examined", "candidates", "exclude"])
def test_a_mapping_is_never_sent_as_a_list_of_labels(key):
    ask = {"x": [1.0], "slots": 1, "candidates": None, "exclude": None, "id": None, "subject": None}
    tell = {"slate": "visit", "clicked": []}
    send, what = (rank_body, ask) if key in ask else (feedback_body, tell)
    with pytest.raises(InputError, match=rf"{key} must be a list .*; did you mean \['a'\]\?"):
        send(**what | {key: {"a": 3.0, "b": 0.0}})
