"""The report, looked at in a real browser: figures visible, nothing missing, no errors."""

import re

import pytest
from browser import browsing

from semibandit.experiments.paper.findings import Finding
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.plans import BASELINE, METHODS
from semibandit.experiments.paper.point import Point
from semibandit.experiments.paper.report import render
from semibandit.experiments.paper.results import Results

SECTIONS = ["How wide to explore", "The price of partial feedback", "The regret lab"]


def test_figures_lie_in_their_folder_whatever_the_data_is_called(made):
    out, _ = made
    names = {path.stem for path in (out / "figures").iterdir()}
    assert {"widths", "prices", "lab-synthetic", "lab-adversarial"} < names
    (data,) = names - {"widths", "prices", "lab-synthetic", "lab-adversarial"}
    assert data.endswith("little_npz")
    assert {path.suffix for path in out.parent.iterdir()} == {".npz", ""}
    for name in names:
        assert (out / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{name}.svg").read_text().count("<svg") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
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
        assert figures.count() == 5
        for i in range(5):
            box = figures.nth(i).bounding_box()
            assert box["width"] > 300
            assert box["height"] > 100
            assert figures.nth(i).locator("path").count() > 10
            caption = page.locator("figcaption").nth(i).inner_text()
            assert figures.nth(i).get_attribute("aria-label") == caption
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
        for link, heading in zip(
            page.locator("nav a").all(), page.locator("h2").all(), strict=True
        ):
            assert link.inner_text() == heading.inner_text()
            assert link.get_attribute("href") == f"#{heading.get_attribute('id')}"
        assert [h.inner_text() for h in page.locator("h2").all()][2:5] == SECTIONS
        text = page.locator("body").inner_text()
        assert "judged by the means over 2 seeds" in text
        assert "The ranking loss is ℓ_{p-rank,t} of the paper's section 4" in text
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
    assert errors == []


def test_everything_is_escaped():
    nasty = "<script>alert('\"&')</script>"
    point = Point([{"ac": 1.0, "hamming": 1.0, "p_rank_per_slot": 1.0}])
    panel = {method: {1: point, None: point} for method in (*METHODS, nasty)}
    results = Results(
        ReproduceOptions([nasty], [nasty]),
        panels={nasty: {"left": panel, "middle": panel, "right": panel}},
        findings=[Finding(nasty, nasty, True, nasty)],
        widths={nasty: [1.0]},
        width_data=nasty,
        width_baseline=1.0,
        losses={nasty: {nasty: [1.0], "OBR": [1.0]}},
        regret_lab={nasty: {nasty: {"final": [1.0], "slope": [None], "covered": [0.5]}}},
        data={
            nasty: {"rows": 5, "features": 2, "labels": 3, "cardinality": 1.0}
            | {"source": nasty, "checksum": nasty}
        },
        seconds={nasty: 1.0},
        notes=[nasty],
        machine={nasty: nasty},
    )
    names = (nasty, "widths", "prices", f"lab-{nasty}")
    text = render(results, dict.fromkeys(names, "<svg><path/></svg>"))
    assert "<script" not in text
    assert text.count("&lt;script&gt;") > 20
    assert text.count("<svg role=") == text.count("</svg>") == 4
    assert BASELINE in text
    for label in re.findall(r'aria-label="(.*?)"><path/>', text, flags=re.DOTALL):
        assert '"' not in label
