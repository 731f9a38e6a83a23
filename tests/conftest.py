"""Shared by all tests: hypothesis runs the same examples every time; real databases."""

import line_coverage
import pytest
from hypothesis import settings
from postgres import Postgres

line_coverage.start()  # before the first import of the library, which the next line causes

pytest_plugins = ["package_fixtures", "quick"]

settings.register_profile("semibandit", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("semibandit")


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, started when the first test asks for it."""
    server = Postgres()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    """A place for a new store, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "store")
    return request.getfixturevalue("postgres").database()
