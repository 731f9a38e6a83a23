"""The report, looked at in a real browser: figures visible, nothing missing, no errors."""

import json
import re

import numpy as np
import pytest
from browser import browsing
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.experiments.paper.report import Report, Table


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small report on files of our own, made by the command."""
    folder = tmp_path_factory.mktemp("report")
    random = np.random.default_rng(0)
    names = []
    for name, K in (("little", 60), ("other", 9)):
        X = random.standard_normal((150, 6))
        Y = (X @ random.standard_normal((6, K)) > 2.0).astype(np.uint8)
        Y[np.arange(150), random.integers(0, K, 150)] = 1
        np.savez(folder / f"{name}.npz", X_train=X, Y_train=Y)
        names.append(str(folder / f"{name}.npz"))
    out = folder / "out"
    arguments = ["reproduce", "--sets", names[0], "--prices", ",".join(names), "--seeds", "2"]
    arguments += ["--lab-rounds", "40", "--out", str(out), "--jobs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return out, arguments


def test_every_number_is_kept(made):
    out, _ = made
    numbers = json.loads((out / "results.json").read_text())
    (panels,) = numbers["panels"].values()
    assert set(panels) == {"left", "middle", "right"}
    assert len(numbers["findings"]) == 6
    assert len(numbers["widths"]["scaled:1"]) == 2
    for prices in numbers["prices"].values():
        assert all(price > 0 for price in prices.values())
    assert numbers["lab"]["adversarial"]["Greedy"]["final"][0] > 0
    for name in ("widths", "prices", "lab-synthetic", "lab-adversarial"):
        assert (out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{name}.svg").read_text().count("<svg") == 1


def test_a_second_time_nothing_is_run_again(made):
    out, arguments = made
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_in_a_browser(made, scheme, width):
    out, _ = made
    trouble = []
    with browsing() as browser:
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("requestfailed", lambda request: trouble.append(request.url))
        page.goto((out / "report.html").as_uri())
        figures = page.locator("figure svg")
        assert figures.count() == 5
        for i in range(5):
            box = figures.nth(i).bounding_box()
            assert box["width"] > 300
            assert box["height"] > 100
            assert figures.nth(i).locator("path").count() > 10
        ink = page.evaluate("getComputedStyle(document.querySelector('figure text')).fill")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
        assert abs(bright[0] - bright[1]) > 350  # text of figures can be read on this paper
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0  # wide things scroll by themselves
        command = page.locator("pre").first.inner_text()
        assert command.startswith("semibandit reproduce --sets ")
        assert "--seeds 2 --lab-rounds 40" in command
        assert page.locator("table").count() >= 8
    assert trouble == []


def test_words_are_escaped():
    report = Report("<b>")
    report.section("a & b")
    report.text("<script>alert(1)</script>")
    report.table(Table(("x<y",), [("<i>",)], caption="<u>"))
    report.figure("<svg></svg>", 'say "so" <now>')
    text = report.html()
    for raw in ("<b>", "<script>", "<i>", "<u>", "<now>", 'aria-label="say "'):
        assert raw not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets", "nothing"], "--sets has 'nothing': not a file, nor one of"),
        (["--prices", ","], "need at least one data set"),
        (["--width", "narrow"], "width = 'narrow': expected scaled:ALPHA"),
        (["--backend", "slurm"], "backend is 'slurm': expected 'local', 'ray' or 'dask'"),
        (["--out", "/dev/null/x"], "Not a directory"),
    ],
)
def test_mistakes_are_said_before_the_work(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert not list(tmp_path.iterdir())


def test_without_a_network_a_stand_in_takes_mediamills_place(monkeypatch, tmp_path):
    """It is said in the terminal and in the report, and Mediamill's statements are not claimed."""
    from semibandit.experiments.paper import running as reproduce

    monkeypatch.setenv("SEMIBANDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    said, found = [], reproduce.Found(reproduce.Wanted())
    assert reproduce._at_hand("mediamill", found, said.append) == "mediamill-like"
    assert "could not be fetched" in found.notes[0]
    assert any("synthetic world" in text for text in said)
