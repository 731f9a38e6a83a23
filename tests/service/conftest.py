"""A server that tests share where they do not mind what others asked of it."""

import pytest
from server import BUILD, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("shared") / "store", *BUILD) as one:
        yield one
