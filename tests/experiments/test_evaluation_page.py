"""The page of a comparison: whole, escaped, and as wide as a screen."""

import sys
from pathlib import Path

from browser import Tab, browsing

from semibandit.evaluation.off_policy.compare import Comparison
from semibandit.evaluation.off_policy.result import Check, Estimate, Evaluation
from semibandit.experiments.evaluation_page import plotted_values, write_page

PASSED = Check("mean weight", "prefix", 1.0, True, "The mean weight is 1.")
FAILED = Check("coverage", "slate", 0.2, False, "The log can show 20% of it.")
LOGGED = Estimate("logged", 0.4, 0.35, 0.45)


def evaluation(name, **estimates):
    return Evaluation(name, "clicks", 1234, {"decisions without feedback": 5}, [PASSED, FAILED],
                      estimates, LOGGED, ["a note"])  # fmt: skip


COMPARISON = Comparison(
    "a<b>.jsonl",
    {
        "<i>mine</i>": evaluation(
            "x",
            IPS=Estimate("IPS", None, refused="too few"),
            snRIPS=Estimate("snRIPS", 0.5, 0.45, 0.55, assumes="a cascade"),
            PI=Estimate("PI", 0.6, 0.5, 0.7),
        ),
        "only PI": evaluation("y", PI=Estimate("PI", 0.3)),
        "nothing": evaluation("z", IPS=Estimate("IPS", None, refused="none")),
    },
)


def test_what_is_drawn():
    drawn = plotted_values(COMPARISON)
    assert drawn["<i>mine</i>"] == {"snRIPS": (0.5, 0.45, 0.55)}
    assert drawn["only PI"] == {"PI": (0.3, 0.3, 0.3)}  # better than nothing
    assert drawn["nothing"] == {}
    assert COMPARISON.headline("nothing") is None
    assert not COMPARISON.empty
    assert COMPARISON.estimators == ["IPS", "snRIPS", "PI"]


def test_the_page_in_a_browser(tmp_path):
    write_page(COMPARISON, tmp_path / "page.html")
    with browsing() as browser:
        tab = Tab(
            browser, (tmp_path / "page.html").as_uri(), viewport={"width": 500, "height": 800}
        )
        with tab as page:
            text = page.inner_text("body")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert page.locator("svg").count() == 1
            folded = page.locator("details").count()
            hidden = page.locator("text=The mean weight is 1.").first.is_visible()
            why = page.locator("td.no[title]").first.get_attribute("title")
            boxes = page.evaluate("""[...document.querySelectorAll("table, svg")].map(
                one => getComputedStyle(one.closest(".wide, figure")).overflowX)""")
    assert wide <= 500  # wide tables scroll by themselves
    assert set(boxes) == {"auto"}
    assert folded == 3  # what passed, of each policy
    assert not hidden
    assert why == "too few"
    for part in (
        "a<b>.jsonl", "<i>mine</i>", "0.5000 [0.4500, 0.5500]", "1,234 visits", "a note",
        "5 decisions without feedback", "95% intervals over visits",
        "A value is refused if this log does not support it", "1 of 2 checks passed",
        "No value can be given", "The log can show 20%",
    ):  # fmt: skip
        assert part in text
    assert tab.wrong == []


def test_nothing_to_draw_is_a_page_as_well(tmp_path):
    nothing = {"nothing": COMPARISON.evaluations["nothing"]}
    write_page(Comparison("log", nothing), tmp_path / "page.html")
    assert "<svg" not in Path(tmp_path / "page.html").read_text()
    assert "matplotlib" in sys.modules
