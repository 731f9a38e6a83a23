"""The page about the service, as a new user types it, from its first command to its last."""

import json
import re
import shlex
from itertools import pairwise

import pytest
from pages import ROOT, agree, blocks
from server import Server

PAGE = (ROOT / "docs/how-to/serve.md").read_text()
BLOCKS = blocks(PAGE)


def lines(block):
    """The commands of a block, as words."""
    return [shlex.split(line) for line in block.text.replace("\\\n", " ").splitlines()]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    first = next(line for b in BLOCKS if b.kind == "sh" for line in lines(b) if "serve" in line)
    with Server(tmp_path_factory.mktemp("serve") / "s", *first[2:]) as one:
        yield one


def curl(server, words):
    """The answer to what curl is told: a path, and options with a value each."""
    path = next(word for word in words if "localhost:8000" in word)
    options = dict(pairwise(words))
    method = options.get("-X", "POST" if "-d" in words else "GET")
    content = options.get("-d")
    headers = {"Content-Type": "application/json"} if content else {}
    return server.http.request(
        method, path.removeprefix("localhost:8000"), content=content, headers=headers
    )


def test_the_commands_are_answered_as_the_page_shows(server):
    asked = 0
    for block, after in zip(BLOCKS, [*BLOCKS[1:], None], strict=True):
        requests = [line for line in lines(block) if line[:1] == ["curl"]]
        if block.kind != "sh" or not requests:
            continue
        for words in requests:
            answer = curl(server, words)
            assert answer.status_code == 200, answer.text
            asked += 1
        if after is not None and after.kind == "json" and after.follows:
            want = json.dumps(json.loads(after.text))
            assert agree(json.dumps(answer.json()), want), f"line {after.line}: {answer.text}"
    assert asked == 7


def test_the_python_does_what_it_says(server, capsys):
    (code,) = [block.text for block in BLOCKS if block.kind == "py"]
    before = server.state()["feedback"]
    exec(code.replace("http://127.0.0.1:8000", server.url), space := {})
    space["client"].close()
    server.until(lambda state: state["feedback"] == before + 3)
    assert "sea" in capsys.readouterr().out


def test_every_path_is_in_the_table(server):
    paths = list(server.get("/openapi.json").json()["paths"])
    assert len(paths) > 10
    table = PAGE.split("## Paths")[1].split("\n## ")[0]
    assert not [path for path in paths if f"{path}`" not in table]
    named = set(re.findall(r"[` ](/[a-z][^` ]*)`", table))
    assert named - {"/v1", "/docs"} <= set(paths)
