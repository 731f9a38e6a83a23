"""Pages beside the service's own: under the same rules, and only if they are asked for."""

import pytest
from server import LocalServer

import semibandit as sb
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.http.extra_pages import ExtraPages
from semibandit.service.http.pages import HEADERS
from semibandit.service.settings import Settings
from semibandit.store.store import Store


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What a service with a key answers without extra pages, and with them."""
    file = tmp_path_factory.mktemp("page") / "more.html"
    file.write_text("<p>more</p>")
    extra = ExtraPages({"/more": file}, {"/more/data": lambda: {"n": 7}})
    found = []
    for pages in (None, extra):
        store = Store.create(tmp_path_factory.mktemp("store"), sb.SlateUCB(4, 3))
        with LocalServer(create_app(Engine(store, Settings(api_key="k")), extra=pages)) as server:
            with_key = {"Authorization": "Bearer k"}
            found.append(
                {
                    "page": server.get("/more"),
                    "data": server.get("/more/data"),
                    "data with key": server.get("/more/data", headers=with_key),
                    "other host": server.get("/more", headers={"Host": "evil.example"}),
                    "openapi": server.get("/openapi.json", headers=with_key),
                }
            )
    return found


def test_files_need_no_key_and_have_the_headers_of_every_page(answers):
    page = answers[1]["page"]
    assert (page.status_code, page.text) == (200, "<p>more</p>")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert {name: page.headers[name] for name in HEADERS} == HEADERS
    assert answers[1]["other host"].status_code == 421


def test_data_needs_the_key(answers):
    assert answers[1]["data"].status_code == 401
    assert answers[1]["data with key"].json() == {"n": 7}


def test_a_plain_service_has_none_of_it(answers):
    assert answers[0]["page"].status_code == 401
    assert answers[0]["data with key"].status_code == 404
    assert answers[0]["openapi"].json() == answers[1]["openapi"].json()
