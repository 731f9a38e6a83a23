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
OPERATIONS = """POST /rank, POST /feedback, POST /rank/batch, POST /feedback/batch, GET /labels,
POST /labels, DELETE /labels, GET /state, GET /metrics, GET /healthz, POST /snapshot"""

ALL = OPERATIONS.replace("\n", " ").split(", ")
BARE = ("GET", "POST /snapshot")  # they take nothing, so nothing can be wrong
STRANGE = ("/feedback", "/labels")  # ids and labels that are known do not come by chance
CASES = [(name, GenerationMode.POSITIVE) for name in ALL] + [
    (name, GenerationMode.NEGATIVE) for name in ALL if not name.startswith(BARE)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("schema") / "store", *BUILD) as one:
        yield one
        assert one.get("/healthz").status_code == 200
        assert "".join(one.errors) == ""


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
