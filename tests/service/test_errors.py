"""One table from error types to HTTP: the most specific type decides, and a bug is 500."""

import pytest
from starlette.exceptions import HTTPException

from semibandit import errors
from semibandit.service.engine.requests import InternalError
from semibandit.service.http.errors import STATUS, error_response, status_and_detail, status_of

EXPECTED = {
    errors.InputError: 422,
    errors.NotShown: 422,
    errors.UnknownLabel: 404,
    errors.UnknownDecision: 404,
    errors.LabelExists: 409,
    errors.Conflict: 409,
    errors.StoreError: 503,
    errors.DuplicateId: 503,
    errors.ServiceUnavailable: 503,
    InternalError: 500,
    ValueError: 500,
    RuntimeError: 500,
    ConnectionError: 500,
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_every_type_has_its_status(kind):
    assert status_of(kind("why")) == EXPECTED[kind]


def test_no_row_of_the_table_hides_a_later_one():
    for i, (kind, _) in enumerate(STATUS):
        assert not any(issubclass(kind, earlier) for earlier, _ in STATUS[:i])


def test_the_text_of_a_refusal_is_told_and_that_of_a_bug_is_logged(caplog):
    assert status_and_detail(errors.Conflict("id = 7")) == (409, "id = 7")
    assert not caplog.records
    for error, logged in ((InternalError("secret"), 0), (KeyError("secret"), 1)):
        status, detail = status_and_detail(error)
        assert (status, "secret" in detail, len(caplog.records)) == (500, False, logged)


@pytest.mark.parametrize(
    ("error", "header"),
    [
        (errors.ServiceUnavailable("busy"), (b"retry-after", b"1")),
        (HTTPException(401, "a key"), (b"www-authenticate", b"Bearer")),
        (HTTPException(413, "large"), (b"connection", b"close")),
        (HTTPException(405, headers={"Allow": "POST"}), (b"allow", b"POST")),
    ],
)
def test_a_status_has_its_header(error, header):
    assert header in error_response(error).raw_headers
