"""The README's Python runs, block after block, as it stands."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    for block in BLOCKS[: number + 1]:  # a later block may use what an earlier one made
        exec(compile(block, "README.md", "exec"), space)


def test_there_are_blocks():
    assert len(BLOCKS) >= 3
