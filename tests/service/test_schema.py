"""Requests made from the OpenAPI schema: no 5xx, and every answer is as the schema says."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks
from server import BUILD, Server

CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
OPERATIONS = """POST /v1/rank, POST /v1/feedback, POST /v1/rank/batch, POST /v1/feedback/batch,
GET /v1/labels, POST /v1/labels, DELETE /v1/labels, GET /v1/state, POST /v1/snapshot, GET /metrics,
GET /livez, GET /readyz, GET /healthz, GET /v1/series, GET /v1/items, DELETE /v1/events/{id},
DELETE /v1/events, POST /v1/events/erase, POST /v1/learner"""

ALL = OPERATIONS.replace("\n", " ").split(", ")
# they take nothing, or a name, of which none is wrong
BARE = ("GET", "POST /v1/snapshot", "DELETE /v1/events")
# ids, labels and files of learners that are good do not come by chance
STRANGE = ("/v1/feedback", "/v1/labels", "/v1/events/{id}", "/v1/learner")
CASES = [(name, GenerationMode.POSITIVE) for name in ALL] + [
    (name, GenerationMode.NEGATIVE) for name in ALL if not name.startswith(BARE)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("schema") / "store", *BUILD) as one:
        yield one
        assert one.get("/healthz").status_code == 200
        assert not [line for line in one.errors if " INFO " not in line]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_the_schema_holds(server, name, mode):
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    method, path = name.split()
    operation = schema[path][method]
    seen = set()

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    def ask(case):
        seen.add(case.call_and_validate(base_url=server.url, checks=CHECKS).status_code)

    ask()
    if mode is GenerationMode.POSITIVE and path not in STRANGE:
        assert 200 in seen
    if mode is GenerationMode.NEGATIVE:
        assert seen <= {400, 404, 405, 413, 422}


def test_no_operation_is_left_out(server):
    paths = server.get("/openapi.json").json()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert found == set(ALL)
