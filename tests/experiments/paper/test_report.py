"""The report, looked at in a real browser: figures visible, nothing missing, no errors."""

import re

import pytest
from browser import browsing

from semibandit.experiments.paper.findings import PANELS, Finding
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.plans import BASELINE, METHODS
from semibandit.experiments.paper.point import Point
from semibandit.experiments.paper.regret_lab import PICTURES
from semibandit.experiments.paper.report import render
from semibandit.experiments.paper.results import Results

FIGURES = len(PANELS) + 2 + len(PICTURES)
LINE = {
    "marks": [5], "final": [1.0], "slope": [None], "slope_before": [0.5], "covered": [0.5],
}  # fmt: skip
SECTIONS = ["How wide to explore", "The price of partial feedback", "The regret lab"]


def test_figures_lie_in_their_folder_whatever_the_data_is_called(made):
    out, _ = made
    names = {path.stem for path in (out / "figures").iterdir()}
    known = {"widths", "prices", *(f"lab-{picture}" for picture in PICTURES)}
    assert known < names
    assert {name.rpartition("little_npz-")[2] for name in names - known} == {*PANELS}
    assert {path.suffix for path in out.parent.iterdir()} == {".npz", ".json", ""}
    for name in names:
        assert (out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{name}.svg").read_text().count("<svg") == 1


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_page_in_a_browser(made, scheme, width):
    out, _ = made
    errors = []
    with browsing() as browser:
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(request.url))
        page.goto((out / "report.html").as_uri())
        figures = page.locator("figure svg")
        assert figures.count() == FIGURES
        for i in range(FIGURES):
            box = figures.nth(i).bounding_box()
            assert box["width"] > 300
            assert box["height"] > 100
            assert figures.nth(i).locator("path").count() > 10
            caption = page.locator("figcaption").nth(i).inner_text()
            label = figures.nth(i).get_attribute("aria-label")
            assert re.sub(r"_\{(.*?)\}", r"\1", label) == caption
            text = figures.nth(i).locator("text").first.bounding_box()
            assert text["height"] >= 10  # it can be read without zooming
        ink = page.evaluate("getComputedStyle(document.querySelector('figure text')).fill")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
        assert abs(bright[0] - bright[1]) > 350  # text of figures can be read on this paper
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0  # wide things scroll by themselves
        command = page.locator("pre").first.inner_text()
        assert command.startswith("semibandit reproduce --sets ")
        assert "--seeds 2 --lab-rounds 20" in command
        assert page.locator("table").count() >= 8
        for link, heading in zip(
            page.locator("nav a").all(), page.locator("h2").all(), strict=True
        ):
            assert link.inner_text() == heading.inner_text()
            assert link.get_attribute("href") == f"#{heading.get_attribute('id')}"
        assert [h.inner_text() for h in page.locator("h2").all()][3:6] == SECTIONS
        text = page.locator("body").inner_text()
        assert "How wide to explore was chosen with the answer in sight" in text
        assert not re.search(r"_\{|\\[a-z]|\$", text)  # no raw TeX
        words = page.locator(".verdicts b")
        assert words.count() >= 11
        colours = {}
        for word in words.all():
            colours[word.inner_text()] = word.evaluate("one => getComputedStyle(one).color")
        assert set(colours) <= {"holds", "differs", "undecided"}
        row = page.locator(".verdicts tbody td").first
        assert row.evaluate("one => getComputedStyle(one).color") not in colours.values()
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
    assert errors == []


def test_everything_is_escaped():
    nasty = "<script>alert('\"&')</script>"
    numbers = {"ac": 1.0, "hamming": 1.0, "p_rank_per_slot": 1.0}
    point = Point([numbers | {"rounds": 9, "last_shown": {"0": 1}}])
    panel = {method: {1: point, None: point} for method in (*METHODS, nasty)}
    results = Results(
        ReproduceOptions([nasty], [nasty]),
        panels={nasty: dict.fromkeys(PANELS, panel)},
        findings=[Finding(nasty, nasty, nasty, "differs", nasty, nasty)],
        widths={nasty: [1.0]},
        width_data=nasty,
        width_baseline=1.0,
        losses={nasty: {nasty: [1.0], "OBR": [1.0]}},
        regret_lab={nasty: {nasty: LINE}},
        data={
            nasty: {"rows": 5, "features": 2, "labels": 3, "cardinality": 1.0}
            | {"frequent": {"0": 0.5}}
            | {"source": nasty, "checksum": nasty}
        },
        seconds={nasty: 1.0},
        notes=[nasty],
        machine={nasty: nasty},
    )
    names = (*(f"{nasty}-{panel}" for panel in PANELS), "widths", "prices", f"lab-{nasty}")
    text = render(results, dict.fromkeys(names, "<svg><path/></svg>"))
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 20
    assert text.count("<svg role=") == text.count("</svg>") == 7
    assert BASELINE in text
    for label in re.findall(r'aria-label="(.*?)"><path/>', text, flags=re.DOTALL):
        assert '"' not in label
