"""What the shell offers: the protocol that Typer's scripts for shells speak."""

import os

import pytest
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.cli.completion import SPELLINGS, data_sets, logs, paths
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.policies.spec import WORDS


def offered(line: str) -> list[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    env = {"_SEMIBANDIT_COMPLETE": "complete_bash", "COMP_WORDS": line}
    env |= {"COMP_CWORD": str(len(words) - 1)}
    return CliRunner().invoke(app, [], prog_name="semibandit", env=env).stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("semibandit re", ["replay", "reproduce"]),
        ("semibandit replay media", ["mediamill", "mediamill-like"]),
        ("semibandit replay visits.csv --loss ", ["square", "logistic:1"]),
        ("semibandit replay visits.csv --learner E", ["EpsilonGreedy"]),
        ("semibandit replay visits.csv --compare T", ["Thompson"]),
        ("semibandit evaluate open-bandit/bts/w", ["open-bandit/bts/women"]),
        ("semibandit evaluate log.jsonl --model di", ["diagonal"]),
        ("semibandit serve --width u", ["unknown:0.05"]),
        ("semibandit serve --log-l", ["--log-level"]),
        ("semibandit data get open", ["open-bandit"]),
    ],
)
def test_the_shell_offers_what_can_be_typed(line, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert offered(line) == expected


def test_every_spelling_offered_is_one_and_none_is_forgotten():
    for kind, words in SPELLINGS.items():
        for word in words:
            LearnerSpec(**{kind: word}).build(2, 3)
        known = {form.partition(":")[0] for form in WORDS.get(kind, "").split(" | ")}
        assert known - {"", "table"} <= {word.partition(":")[0] for word in words}


def test_files_are_offered_beside_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "medium.csv").write_text("", encoding="utf-8")
    (tmp_path / "med[1]").mkdir()
    assert data_sets("medi") == ["mediamill", "mediamill-like", "medium.csv"]
    assert paths("med[") == [os.path.join("med[1]", "")]
    assert logs("medium") == ["medium.csv"]


def test_the_script_for_a_shell_is_shown(monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="semibandit")
    assert shown.exit_code == 0
    assert "_SEMIBANDIT_COMPLETE=complete_bash" in shown.stdout
