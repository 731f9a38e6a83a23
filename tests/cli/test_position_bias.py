"""`semibandit position-bias`, and what its result is given to: --examination."""

import json
import re

import numpy as np
import pytest
from shop import Shop, write_shop_log
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app

THETA = np.array([1.0, 0.6, 0.3])


class BiasedShop(Shop):
    """A shop whose lower positions are often not looked at."""

    def clicks(self, X, slates, random):
        return super().clicks(X, slates, random) & (random.random(slates.shape) < THETA)


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "120"})


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "log.jsonl"
    write_shop_log(path, BiasedShop(), 1200, epsilon=0.6)
    return path


def test_it_prints_what_a_learner_takes(log, tmp_path):
    out = tmp_path / "bias.json"
    result = run("position-bias", log, "--json", out)
    assert result.exit_code == 0, result.output
    words = re.search(r"for a learner: --examination (\S+)", result.output)[1]
    found = json.loads(out.read_text())
    np.testing.assert_allclose(found["examination"], THETA, atol=0.15)
    learner = sb.SlateUCB(2, 3, examination=words)
    np.testing.assert_allclose(learner.examination, found["examination"], rtol=0.01)
    assert found["visits"] == 1200
    learned = run("replay", log, "--examination", words, "--save", tmp_path / "better.npz")
    assert learned.exit_code == 0, learned.output
    assert sb.load(tmp_path / "better.npz").examination == learner.examination


def test_knowing_it_foretells_clicks_better(log):
    """What is foretold of a click is the relevance times the chance that it was looked at."""
    plain, with_it, last = (
        sb.replay_log(log, BiasedShop().learner(examination=e), progress=False)
        for e in (None, tuple(THETA), "last-click")
    )
    assert with_it.brier < plain.brier
    assert with_it.expected == pytest.approx(with_it.clicks, rel=0.1)
    assert last.labels < plain.labels == with_it.labels


def test_a_log_that_is_too_small_is_refused_with_what_is_needed(tmp_path):
    write_shop_log(tmp_path / "log.jsonl", BiasedShop(), 300, epsilon=0.1)
    result = run("position-bias", tmp_path / "log.jsonl")
    assert result.exit_code == 1
    assert "effective clicks, but 100 and 30 are needed: about" in result.output
    assert "for a learner" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["LOG", "--confidence", "2"], "confidence = 2.0, but it must be between 0 and 1"),
        (["LOG", "--since", "1s"], "no visit that can be evaluated"),
        (["LOG", "--since", "soon"], "expected a duration"),
    ],
)
def test_mistakes_are_named(log, arguments, message):
    result = run("position-bias", *[log if a == "LOG" else a for a in arguments])
    assert result.exit_code == 2
    assert message in result.output.replace("\n", " ")


def test_every_command_that_makes_a_learner_takes_it(log):
    for command in ("replay", "evaluate", "tune", "serve"):
        assert "--examination" in run(command, "--help").output
    wrong = run("replay", log, "--examination", "1,2")
    assert wrong.exit_code == 2
    assert "examination = '1,2', but it must be a probability" in wrong.output
    other = run("replay", log, "--learner", "Random", "--examination", "1")
    assert "--examination does not go with --learner Random" in other.output


def test_evaluate_judges_learners_with_it(tmp_path):
    write_shop_log(tmp_path / "log.jsonl", BiasedShop(), 300, epsilon=1.0)
    asked = ["--examination", "1,0.6,0.3", "--policy", "examination=1"]
    judged = run("evaluate", tmp_path / "log.jsonl", *asked)
    assert judged.exit_code in (0, 1), judged.output
    assert "examination=1,0.6,0.3" in judged.output
