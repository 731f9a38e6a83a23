"""The site is built strictly, whole, and needs nothing from elsewhere."""

import os
import re
import shlex
import subprocess
import sys
from urllib.parse import unquote, urldefrag

import pytest
import yaml
from browser import Tab, browsing
from filelock import FileLock
from html_pages import loaded_by_styles, pages_of
from pages import ROOT
from tools.site import command_line, http_schema

import semibandit as sb

WIDE = (  # pages with wide tables, long words or much code
    "index", "reference/command-line", "reference/http", "reference/files",
    "reference/python/learners", "benchmarks/quality", "design", "changelog",
)  # fmt: skip


BUILD = shlex.split(re.search(r"-m mkdocs (build.*)", (ROOT / "Makefile").read_text())[1])


def build(*options):
    """What `make docs` runs."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *BUILD, *map(str, options)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, built once, however many workers the tests are divided among."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    built = folder / "site"
    with FileLock(folder / "site.lock"):
        if not built.exists():
            done = build("--site-dir", built)
            assert done.returncode == 0, done.stdout + done.stderr
    return built


@pytest.fixture(scope="module")
def pages(site):
    return pages_of(site)


def test_what_leads_nowhere_is_an_error(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[a](b.md) [c](#d) [e](/f) [g](h)\n")
    small = {"INHERIT": str(ROOT / "mkdocs.yml"), "docs_dir": "docs", "nav": ["index.md"]}
    small |= {"hooks": [], "plugins": ["search"], "watch": [], "extra_css": []}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(small))
    done = build("--config-file", tmp_path / "mkdocs.yml", "--site-dir", tmp_path / "site")
    assert done.returncode == 1
    assert done.stderr.count("WARNING") == 4


def test_every_link_and_anchor_leads_somewhere(site, pages):
    wrong = []
    for name, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            if "://" in target or target.startswith("mailto:"):
                continue
            path = (site / name).parent / unquote(target) if target else site / name
            found = os.path.relpath(path.resolve(), site.resolve())
            if found not in pages:
                wrong += [] if path.is_file() else [f"{name}: {link}"]
            elif anchor and unquote(anchor) not in pages[found].ids:
                wrong.append(f"{name}: {link}")
    assert not wrong
    assert len(pages) > 40


def test_nothing_is_loaded_from_elsewhere(site, pages):
    loaded = [url for page in pages.values() for url in page.loaded] + loaded_by_styles(site)
    assert not [url for url in loaded if "//" in url.removeprefix("data:")]
    for name, page in pages.items():
        for url in page.loaded:
            assert ((site / name).parent / urldefrag(url).url.split("?")[0]).is_file(), (name, url)


def test_every_public_name_and_error_is_described_once(pages):
    described = [
        name for path, page in pages.items() if "reference/python" in path for name in page.ids
    ]
    for name in sb.__all__:
        if name not in sb.errors.__all__:
            assert described.count(f"semibandit.{name}") == 1, name
    for name in sb.errors.__all__:
        assert described.count(f"semibandit.errors.{name}") == 1, name
    for name in ("theorem1", "theorem2", "theorem3"):
        assert f"semibandit.bounds.{name}" in described


def test_no_example_is_shown_as_a_quotation(site):
    """`>>>` that is not in a section Examples is a quotation of a quotation in Markdown."""
    for page in (site / "reference/python").glob("*.html"):
        assert "<blockquote>" not in page.read_text(), page.name


def test_parameters_have_the_types_and_defaults_that_they_have(site):
    text = re.sub(r"<[^>]*>", "", (site / "reference/python/models.html").read_text())
    device = text.split("Full second-order matrices", 1)[1].split("Where weights", 1)[0]
    assert device.split("device", 1)[1].split("default:")[1].split()[0] == "None"
    text = re.sub(r"<[^>]*>", "", (site / "reference/python/learners.html").read_text())
    assert re.search(r"forget, examination, seed\s+–\s+As for SlateUCB", text)


def test_every_command_and_option_is_in_the_reference(site):
    text = (site / "reference/command-line.html").read_text()
    for name, command, context in command_line.commands():
        assert f'id="{name.replace(" ", "-")}"' in text
        for row in command_line.panels(command, context).values():
            assert all(cell in text for cells in row for cell in cells), name
    assert text.count('<p class="panel">Arguments</p>') >= 6


def test_every_path_is_in_the_reference(site, pages):
    text = (site / "reference/http.html").read_text()
    whole = http_schema.document()
    for path, methods in whole["paths"].items():
        for method, about in methods.items():
            assert f"{method.upper()} {path}<" in text
            assert about["operationId"]
    for field in whole["components"]["schemas"]["State"]["properties"]:
        assert f"<code>{field}</code>" in text


def test_it_works_in_a_browser_from_a_folder(site):
    with browsing() as browser:
        tab = Tab(browser, f"file://{site}/index.html", color_scheme="light")
        with tab as page:
            check_colours(page)
            page.locator(".md-search__input").press_sequentially("Thompson")
            page.wait_for_selector(".md-search-result__item mark")
            found = page.locator(".md-search-result__link").first.get_attribute("href")
            assert "reference/python/learners.html" in found
        assert not tab.wrong
        assert all(url.startswith(("file:", "data:", "about:")) for url in tab.asked)
        check_narrow(browser, site)


def check_colours(page):
    """The button leads from the system's colours to light, to dark, and back to the system's."""
    schemes = []
    for _ in range(3):
        page.locator(".md-header__option label:visible").click()
        schemes.append(page.evaluate("document.body.dataset.mdColorScheme"))
    assert schemes == ["default", "slate", "default"]


def check_narrow(browser, site):
    """On a phone, no page is wider than the screen."""
    tab = Tab(browser, f"file://{site}/index.html", viewport={"width": 360, "height": 700})
    wide = {}
    for name in WIDE:
        tab.page.goto(f"file://{site}/{name}.html")
        tab.page.wait_for_selector("html.js")
        width = tab.page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[name] = width
    assert not wide
    assert not tab.wrong
    tab.page.context.close()
