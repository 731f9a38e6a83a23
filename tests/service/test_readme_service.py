"""The README's section on the service, as a new user types it."""

import json
import re
import shlex
from pathlib import Path

import pytest
from server import Server

TEXT = (Path(__file__).parents[2] / "README.md").read_text()
SECTION = TEXT.split("## The service")[1].split("\n## ")[0]
SHELL = "\n".join(re.findall(r"```sh\n(.*?)```", SECTION, flags=re.DOTALL))
LINES = [shlex.split(line) for line in SHELL.replace("\\\n", " ").splitlines() if line]
PYTHON = re.findall(r"```py\n(.*?)```", SECTION, flags=re.DOTALL)


@pytest.fixture
def server(tmp_path):
    ((*_, serve),) = [[line] for line in LINES if line[:2] == ["semibandit", "serve"]]
    with Server(tmp_path / "s", *serve[2:]) as one:
        yield one


def test_the_commands_do_what_it_says(server):
    asked = [line for line in LINES if line[0] == "curl"]
    assert len(asked) == 2
    for line in asked:
        path = line[1].removeprefix("localhost:8000")
        answer = server.post(path, json.loads(line[line.index("-d") + 1]))
        assert answer.status_code == 200, answer.text


def test_the_python_does_what_it_says(server):
    import semibandit as sb

    assert len(PYTHON) == 1
    exec(PYTHON[0].replace("http://127.0.0.1:8000", server.url), space := {"sb": sb})
    space["client"].close()
    server.until(lambda state: state["feedback"] == 1)


def test_every_path_is_in_the_table(server):
    for path in server.get("/openapi.json").json()["paths"]:
        assert f"{path}`" in SECTION
