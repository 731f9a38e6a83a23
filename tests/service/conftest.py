"""A server that tests share if they do not mind what others asked of it, and an engine."""

import pytest
from engines import running
from server import BUILD, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("shared") / "store", *BUILD) as one:
        yield one


@pytest.fixture
def engine(tmp_path):
    with running(tmp_path) as one:
        yield one
