"""SECURITY.md: each promise names a test that is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_has_a_test():
    text = (ROOT / "SECURITY.md").read_text()
    table = re.search(r"^\| promise \| test \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
    for row in table.splitlines():
        promise, tests = row.strip("| ").rsplit(" | ", 1)
        found = re.findall(r"`(tests/[^`:]+)::([^`]+)`", tests)
        assert found, promise
        for file, name in found:
            there = {one.name for one in ast.walk(ast.parse((ROOT / file).read_text()))
                     if isinstance(one, ast.FunctionDef)}  # fmt: skip
            assert name in there, promise
