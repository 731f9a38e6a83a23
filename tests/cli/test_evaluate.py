"""`semibandit evaluate` and `semibandit tune` on the log of a service, as a user types them."""

import json
import re
import sys
from dataclasses import replace

import pytest
from shop import Shop, log_lines, shop_events, write_shop_log
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.store.event import Decision

SHOP = Shop(n=4, d=8, slots=2)


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], terminal_width=200)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "log.jsonl"
    write_shop_log(path, SHOP, 1500, 0.8, group=16)
    return path


def test_a_comparison_in_the_terminal_as_html_and_as_json(log, tmp_path):
    said = run(
        "evaluate", log, "--width", "scaled:0.1", "--policy", "uniform", "--policy", "<b>=1",
    )  # fmt: skip
    assert said.exit_code == 2
    assert "'<b>=1' is not KEY=VALUE" in said.output
    page, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    said = run(
        "evaluate", log, "--width", "scaled:0.1", "--policy", "uniform", "--html", page,
        "--json", numbers, "--confidence", 0.9,
    )  # fmt: skip
    assert said.exit_code == 0, said.output
    for word in ("1,500 visits", "Checks", "pseudo-inverse", "width=scaled:0.1", "Cascade-DR", "●",
                 "Brackets: 90% intervals over visits. The log's own policy earned"):  # fmt: skip
        assert word in said.output
    assert said.output.index("Checks") < said.output.index("Value per visit")
    found = json.loads(numbers.read_text())["evaluations"]
    assert found["uniform"]["estimates"]["snRIPS"]["value"] < found["uniform"]["logged"]["value"]
    assert found["width=scaled:0.1"]["visits"] == 1500
    text = page.read_text()
    assert "<svg" in text
    assert not re.search(r"(src|href)=.http|url\(http|@import", text)  # it needs nothing else
    assert f"{found['uniform']['estimates']['snRIPS']['value']:.4f}" in text


def test_refused_values_are_explained_and_exit_with_1(tmp_path):
    write_shop_log(tmp_path / "log.jsonl", SHOP, 300, 0.05, group=64)
    said = run("evaluate", tmp_path / "log.jsonl", "--policy", "uniform")
    assert said.exit_code == 1, said.output
    assert "refused" in said.output
    assert "At least 100 are needed" in said.output
    assert "no value can be given" in said.output
    page = tmp_path / "page.html"
    said = run("evaluate", tmp_path / "log.jsonl", "--policy", "uniform", "--html", page)
    assert "No value can be given for this policy" in page.read_text()


def test_what_a_click_is_worth_may_be_in_a_file(log, tmp_path):
    values, numbers = tmp_path / "values.csv", tmp_path / "numbers.json"
    values.write_text("item,value\n" + "".join(f"{item},2\n" for item in SHOP.items))
    arguments = ["evaluate", log, "--policy", "uniform", "--json", numbers]
    assert run(*arguments).exit_code == 0
    clicks = json.loads(numbers.read_text())["evaluations"]["uniform"]["logged"]["value"]
    assert run(*arguments, "--reward", values).exit_code == 0
    twice = json.loads(numbers.read_text())["evaluations"]["uniform"]["logged"]["value"]
    assert twice == pytest.approx(2 * clicks)
    for text, message in (
        ("item-0,1\nitem-1\n", "line 2 is 'item-1'"),
        ("a,b\n", "has no values"),
        ("item-0,1\n", "no value for 'item-1', 'item-2', 'item-3': write 0"),
        ("item-0;1\nitem-1;2\n", "line 1 is 'item-0;1', but it must be a label, a comma"),
        ("item-0,l\n", "line 1 is 'item-0,l'"),
    ):
        values.write_text(text)
        said = run(*arguments, "--reward", values)
        assert said.exit_code == 2
        assert message in said.output


@pytest.mark.parametrize("module", ["matplotlib", "jinja2"])
def test_a_page_that_cannot_be_drawn_is_refused_before_anything_is_judged(
    log, tmp_path, monkeypatch, module
):
    monkeypatch.setitem(sys.modules, module, None)
    said = run("evaluate", log, "--policy", "uniform", "--html", tmp_path / "page.html")
    assert said.exit_code == 2
    assert f"--html needs {module}: pip install 'semibandit[plot]'" in said.output
    assert "Value per visit" not in said.output


def test_mistakes_are_one_line(log, tmp_path):
    nothing = dict.fromkeys(
        ("distribution", "slate_propensity", "prefix_propensity", "item_propensity")
    )
    bare = tmp_path / "bare.jsonl"
    some = shop_events(SHOP, SHOP.learner(), 20, group=4)
    events = [replace(e, **nothing) if isinstance(e, Decision) else e for e in some]
    bare.write_bytes(b"".join(log_lines(events, SHOP.learner())))
    for arguments, reason in (
        (["none.jsonl"], "there is no file"),
        ([tmp_path / "none"], "there is no store"),
        ([bare], "--randomise mixed:0.05"),
        ([log, "--policy", "unifrom"], "did you mean 'uniform'"),
        ([log, "--learner", "OBR"], "OBR must be told every relevant label"),
        ([log, "--learning", "maybe"], "log, accepted, none"),
        ([log, "--since", "30"], "--since = '30', expected a duration"),
        ([log, "--reward", "x.csv"], "there is no such file"),
        ([log, "--since", "1d"], "it has no feedback in this time"),
        ([log, "--reward", "money"], "must be clicks, dcg, any, or a .csv file"),
        ([log, "--examination", "abc"], "such as 1,0.7,0.5, or last-click"),
        ([log, "--html", "none/page.html"], "--html = 'none/page.html', but there is no folder"),
        ([log, "--json", tmp_path], "but that is a folder"),
    ):
        said = run("evaluate", *arguments)
        assert said.exit_code == 2, said.output
        assert reason in said.output
        assert "Traceback" not in said.output


def test_help_teaches():
    text = run("evaluate", "--help").output
    for word in ("--policy", "--randomise", "most-clicked", "a=0.9", "--html", "--learning"):
        assert word in text
    words = " ".join(re.sub("[│╭╰─]", " ", text).split())
    assert words.count("as the log's own") == 14  # each option of the learner
    assert "[default: (0.5)]" not in words
    assert "The last number holds for all further positions" in words


def test_tune_on_a_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log.jsonl"
    write_shop_log(log, Shop(n=2, d=2, slots=1), 300, 0.8, group=16)
    said = run("tune", log, "--a", 1, "--reward", "dcg", "--out", "out")
    assert said.exit_code == 0, said.output
    for word in (
        "value per visit by alpha", "clicks weighted by position", "in Python: sb.SlateUCB",
        "for serve and replay: --loss ", "the log's own policy earned",
        "the log's own settings, begun anew: 0.", "The best of 28 looks better than it is",
        "wrote out/tuned.json",
    ):  # fmt: skip
        assert word in said.output
    best = json.loads((tmp_path / "out/tuned.json").read_text())
    assert best["value"] == max(one["value"] for one in best["tried"])
    words = re.search(r"for serve and replay: (.*)", said.output)[1].split()
    assert run("replay", log, *words).exit_code == 0
    for option, value in (("--slots", 2), ("--rounds", 500), ("--seeds", 3), ("--jobs", 1)):
        refused = run("tune", log, option, value)
        assert refused.exit_code == 2
        assert f"{option} does not go with a log" in refused.output
    refused = run("tune", "emotions", "--reward", "dcg")
    assert "--reward is for the log of a service" in refused.output
    refused = run("tune", log, "--since", "1d")
    assert "it has no feedback in this time" in refused.output
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log.jsonl", "out"]  # nothing unasked


def test_the_open_bandit_log_has_policies_of_its_own():
    said = run("evaluate", "open-bandit/bts/all")
    assert said.exit_code == 0, said.output
    assert "uniform" in said.output
    said = run("evaluate", "open-bandit/random/all", "--policy", "logged")
    assert said.exit_code == 0, said.output
    assert "0.0038 [" in said.output
    said = run("evaluate", "open-bandit/bts/all", "--a", 0.5)
    assert "The policies that can be judged on it are uniform, logged" in said.output
