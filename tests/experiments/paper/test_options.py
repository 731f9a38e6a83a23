"""Mistakes are found before the work, and the command gives the same numbers again."""

import shlex
import sys

import pytest
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.errors import MissingExtra
from semibandit.experiments.paper.options import ReproduceOptions


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets", "nothing"], "--sets has 'nothing': not a file, nor one of"),
        (["--prices", ","], "need at least one data set"),
        (["--seeds", "many"], "--seeds has 'many', expected numbers"),
        (["--seeds", "3,0"], "--seeds has [3, 0], but each must be at least 1"),
        (["--width", "narrow"], "width = 'narrow': expected scaled:ALPHA"),
        (["--backend", "slurm"], "backend is 'slurm': expected 'local', 'ray' or 'dask'"),
        (["--out", "/dev/null/x"], "Not a directory"),
    ],
)
def test_mistakes_are_found_before_the_work(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("module", ["matplotlib", "jinja2"])
def test_what_the_report_needs_is_asked_for_before_the_work(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"the report needs {module}: .*semibandit\[plot\]"):
        ReproduceOptions().check()


def test_the_command_spells_the_options():
    options = ReproduceOptions(["my data.npz", "yeast"], ["scene"], "scaled:0.5", [3, 2], 50)
    words = shlex.split(options.command)
    assert words[:4] == ["semibandit", "reproduce", "--sets", "my data.npz,yeast"]
    assert words[4:8] == ["--prices", "scene", "--width", "scaled:0.5"]
    assert words[8:] == ["--seeds", "3,2", "--lab-rounds", "50"]


def test_the_last_number_of_seeds_holds_for_further_sets():
    options = ReproduceOptions(seeds=[5, 3, 2])
    assert [options.seeds_of(place) for place in range(5)] == [5, 3, 2, 2, 2]
