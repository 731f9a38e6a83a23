"""The command line, as a user types it."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from semibandit.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_demo_writes_a_table_the_numbers_and_a_plot(tmp_path):
    result = run("demo", "--rounds", 60, "--seeds", 2, "--out", tmp_path / "new" / "out")
    assert result.exit_code == 0, result.output
    for name in ("SlateUCB", "Greedy", "Random", "OBR", "Bayes"):
        assert name in result.output
    numbers = json.loads((tmp_path / "new/out/results.json").read_text())
    assert numbers["rows"][0]["learner"] == "SlateUCB"
    bayes = numbers["rows"][-1]
    assert bayes["learner"] == "Bayes"
    assert abs(bayes["regret"]) < 1e-9
    assert all(row["regret"] > 0 for row in numbers["rows"][:-1])
    assert len(numbers["regret"]["SlateUCB"]) == 2
    assert (tmp_path / "new/out/regret.png").read_bytes().startswith(b"\x89PNG")
    assert "| SlateUCB |" in (tmp_path / "new/out/table.md").read_text()


def test_the_same_seed_gives_the_same_numbers(tmp_path):
    for folder in "ab":
        run("demo", "--rounds", 40, "--seeds", 1, "--seed", 7, "--out", tmp_path / folder)
    assert (tmp_path / "a/results.json").read_text() == (tmp_path / "b/results.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--density", 3], "density = 3.0, but Square() gives probabilities in (0, 1)"),
        (["--width", "scaled:-1"], "width = 'scaled:-1': alpha = -1"),
        (["--slots", 0], "slots"),
        (["--rounds", "many"], "rounds"),
        (["--out", "/dev/null/x"], "Not a directory"),
        (["--colour", "red"], "No such option"),
    ],
)
def test_wrong_arguments_exit_with_2_and_a_reason(arguments, message):
    result = run(
        "demo", "--seeds", 1, *(["--rounds", 5] if "--rounds" not in arguments else []), *arguments
    )
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_help_teaches():
    assert "demo" in run("--help").output
    text = run("demo", "--help").output
    for word in ("rounds", "density", "slots", "width", "regret"):
        assert word in text
    assert run("--version").output.startswith("semibandit 0.")
    assert run().exit_code == 2


def test_the_command_is_installed():
    run = subprocess.run(
        [sys.executable, "-m", "semibandit", "--version"], capture_output=True, text=True
    )
    assert run.stdout.startswith("semibandit "), run.stderr
