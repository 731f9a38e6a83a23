"""`semibandit demo --serve` as a newcomer meets it: one command, a phone, and Ctrl-C."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import httpx2
import pytest
from browser import Tab, browsing
from fork_server import fork_server
from playwright.sync_api import expect
from server import until
from typer.testing import CliRunner

from semibandit.cli import app
from semibandit.worlds.shop import KINDS

SMALL = {"width": 360, "height": 780}
PHONE = {"viewport": SMALL, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}
BOXES = "all => all.map(one => one.getBoundingClientRect().toJSON())"
PAPER = "getComputedStyle(document.body).backgroundColor"
NAME = "JSON.parse(sessionStorage.getItem('semibandit-visitor')).name"
TOUCHED = "#next, .item, #again, #watch, #who, #weather label, header nav a, main summary"


@contextmanager
def demo(*arguments):
    """A process that runs the demo, once it has greeted: it, and what it printed."""
    process = fork_server().start(["demo", "--serve", "--port", "0", *map(str, arguments)])
    errors = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True)
    reader.start()
    printed = ""
    for line in process.stdout:
        printed += line
        if line.startswith("Ctrl-C"):
            break
    try:
        assert "Ctrl-C" in printed, "".join(errors)
        yield process, printed
    finally:
        process.kill()
        process.wait(30)
        reader.join()
        process.stdout.close()
        process.stderr.close()
    assert errors == []


def link(printed, name):
    return re.search(rf"{name} +(http\S+)", printed)[1]


def end(process, how):
    process.send_signal(how)
    return process.wait(8)  # seconds


def kinds_shown(page):
    return page.locator("#cards .item").evaluate_all("all => all.map(one => one.dataset.kind)")


def answer(page, kind):
    """Tap all items of one kind, and go on; the kinds that were shown."""
    shown, liked = kinds_shown(page), page.locator(f"#cards [data-kind={kind}]")
    number = int(page.locator("#list-title").inner_text().split()[1])
    for i in range(liked.count()):
        liked.nth(i).tap()
    names = {0: "None of these, next list", 1: "I like this, next list"}
    n = shown.count(kind)
    page.get_by_role("button", name=names.get(n, f"I like these {n}, next list")).tap()
    expect(page.locator("#list-title")).to_have_text(f"List {number + 1}")
    return shown


def check_phone(page):
    """Nothing is cut off, and everything is large enough for a thumb."""
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    boxes = page.locator(TOUCHED).evaluate_all(BOXES)
    assert min(box["height"] for box in boxes) >= 44, boxes
    assert max(box["right"] for box in boxes) <= SMALL["width"]


def test_a_person_with_a_phone_is_known_after_twelve_lists(tmp_path, monkeypatch):
    options = ("--host", "0.0.0.0", "--visitors-per-second", 10)  # few, however slow the browser is
    with browsing() as browser, ExitStack() as running:
        monkeypatch.setenv("TMPDIR", str(tmp_path))  # too long a path for a browser's sockets
        process, printed = running.enter_context(demo(*options))
        mine, other = (
            link(printed, name) for name in ("Play a visitor yourself", "On a phone, same network")
        )
        url, _, key = mine.partition("#key=")
        assert other.endswith(f"/demo#key={key}")
        assert link(printed, "Watch the service") == url.removesuffix("demo")
        tab = Tab(browser, mine, color_scheme="dark", **PHONE)
        with tab as page:
            expect(page.locator("#list-title")).to_have_text("List 1")
            assert page.url == url  # the key is not there any more
            expect(page.locator("#thinks-note")).to_have_text(re.compile("^Nothing of you yet"))
            check_phone(page)
            check_history(page, [answer(page, "Garden") for _ in range(12)])
            check_crowd(page)
            for summary in page.locator("main summary").all():
                summary.tap()
            expect(page.locator("#items li")).to_have_count(30)
            check_phone(page)
            check_words(page)
            check_log(url.removesuffix("demo"), key, page)
            check_watching(page)
            dark = page.evaluate(PAPER)
        assert tab.wrong == []
        asked = [one for one in tab.asked if not one.startswith("data:")]
        assert all(one.startswith(url.removesuffix("demo")) for one in asked)
        tab = Tab(browser, url, color_scheme="light", **PHONE)
        with tab as page:  # without the key
            page.get_by_label("This demo wants a key").fill(key)
            page.get_by_role("button", name="Use it").tap()
            expect(page.locator("#list-title")).to_have_text("List 1")
            assert page.evaluate(PAPER) != dark
        assert [one for one in tab.wrong if "401" not in one] == []
        assert len(list(tmp_path.glob("semibandit-demo-*"))) == 1
        assert end(process, signal.SIGINT) == 0
        assert not list(tmp_path.glob("semibandit-demo-*"))


def check_history(page, shown):
    """A person who likes Garden alone is shown mostly that in the end, and is told so."""
    liked = [one.count("Garden") for one in shown]
    assert sum(liked[8:]) >= 8, shown  # of 16: at random it would be 3
    expect(page.locator("#thinks-note")).to_have_text("After 12 answers: Garden most of all.")
    expect(page.locator("#kinds .name").first).to_have_text("Garden")
    expect(page.locator("#kinds li")).to_have_count(len(KINDS))
    expect(page.locator("#score")).to_have_text(f"{sum(map(bool, liked[2:]))} of 10")
    text = f"Your first 5 lists: {sum(liked[:5])} of 20 items liked. Your last 5: {sum(liked[7:])}"
    expect(page.locator("#compare")).to_have_text(f"{text} of 20 items.")
    expect(page.locator("#liked span")).to_have_count(12)


def check_words(page):
    """Plain words, except in what is sent."""
    jargon = r"\b(slate|label|probe|width|margin|slot|bandit)s?\b"
    for section in page.locator("main section").all():
        assert not re.search(jargon, section.inner_text(), re.IGNORECASE)
    assert page.locator("#asked").inner_text().startswith("POST /v1/rank\n")
    assert page.locator("#told").inner_text().startswith("POST /v1/feedback\n")


def check_crowd(page):
    """The others are there, and what is said of them is between random and perfect."""
    expect(page.locator("#way")).to_have_text(re.compile(r"^\d+(\.\d)?%$"))
    expect(page.locator("#curve path")).to_have_count(1)
    expect(page.locator("#crowd-note")).to_contain_text("Items at random would get 24%")
    expect(page.locator("#crowd-note")).to_contain_text("the best possible lists 61%")


def check_log(service, key, page):
    """What the person did is in the service's own log, by the name that the page gave them."""
    state = httpx2.get(f"{service}v1/state", headers={"Authorization": f"Bearer {key}"}).json()
    visitor = next(one for one in state["features"] if one["name"] == "visitor")
    assert page.evaluate(NAME) in visitor["values"]
    assert httpx2.get(f"{service}demo/crowd").status_code == 401


def check_watching(page):
    """Somebody plays in the person's place until they are stopped; then it begins anew."""
    page.locator("#who").select_option("Music")
    page.get_by_role("button", name="Watch 12 lists").tap()
    expect(page.locator("#list-title")).to_have_text("List 14")
    page.get_by_role("button", name="Stop").tap()
    expect(page.get_by_role("button", name="Watch 12 lists")).to_be_visible()
    before = page.evaluate(NAME)
    page.get_by_role("button", name="Start over").tap()
    expect(page.locator("#list-title")).to_have_text("List 1")
    expect(page.locator("#thinks-note")).to_have_text(re.compile("^Nothing of you yet"))
    assert page.evaluate(NAME) != before
    answer(page, "Nothing")
    expect(page.locator("#thinks-note")).to_have_text("After 1 answer: nothing so far.")
    page.get_by_role("radio", name="Rainy").tap()
    expect(page.locator("#asked")).to_contain_text('"weather": "rain"')


def test_by_itself_it_has_no_key_and_a_store_is_kept(tmp_path, monkeypatch):
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    arguments = ("--visitors-per-second", 0, "--store", tmp_path / "kept", "--open")
    with demo(*arguments) as (process, printed):
        url = link(printed, "Play a visitor yourself")
        until(lambda: opened.exists() and opened.read_text() == f"{url}\n")
        assert url.startswith("http://127.0.0.1:")
        assert "phone" not in printed
        assert f"kept in {tmp_path / 'kept'}" in printed.replace("\n", "")
        page = httpx2.get(url)
        assert page.status_code == 200
        assert "default-src 'self'" in page.headers["content-security-policy"]
        assert httpx2.get(url, headers={"Host": "evil.example"}).status_code == 421
        assert httpx2.get(f"{url}/crowd").json() is None
        drawn = httpx2.get(f"{url}/pictures.js").text
        assert all(re.search(rf'^  "?{re.escape(name)}"?: ', drawn, re.MULTILINE)
                   for names in KINDS.values() for name in names)  # fmt: skip
        assert end(process, signal.SIGTERM) == 0
    assert (tmp_path / "kept/semibandit.db").exists()


def test_items_that_were_added_meanwhile_can_be_liked():
    names = ["constructor", 7, "<img src=x onerror=alert(1)>"]
    with demo("--visitors-per-second", 0) as (_, printed), browsing() as browser:
        url = link(printed, "Play a visitor yourself")
        labels = f"{url.removesuffix('demo')}v1/labels"
        httpx2.post(labels, json={"labels": names})
        shop = [name for kind in KINDS.values() for name in kind]
        httpx2.request("DELETE", labels, json={"labels": shop})
        tab = Tab(browser, url, **PHONE)
        with tab as page:
            expect(page.locator("#cards .name")).to_have_count(3)
            assert set(page.locator("#cards .name").all_inner_texts()) == set(map(str, names))
            assert kinds_shown(page) == ["Other"] * 3
            answer(page, "Other")
            told = page.locator("#told").text_content().partition("\n")[2]
            assert set(json.loads(told)["clicked"]) == set(names)
        assert tab.wrong == []


def run(*arguments):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--port", 8001], "--port needs --serve"),
        (["--serve", "--rounds", 10], "--rounds does not go with --serve"),
        (["--serve", "--visitors-per-second", 1e4], "must be above 0 and at most 500"),
        (["--serve", "--allow-host", "a/b"], "allow_host = 'a/b', expected a name"),
    ],
)
def test_what_cannot_be_is_refused(arguments, reason, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    result = run(*arguments)
    assert result.exit_code == 2
    assert reason in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_port_in_use_is_refused_with_a_way_out():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("--serve", "--port", port)
    assert result.exit_code == 2
    assert f"port {port}: Address already in use; take another with --port" in result.output


def test_without_the_extra_it_says_what_to_install():
    code = (
        "import sys; sys.modules['fastapi'] = None; from semibandit.cli import run; "
        "sys.argv[1:] = ['demo', '--serve']; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "demo --serve needs fastapi: pip install 'semibandit[service]'" in done.stderr


def test_help_tells_of_both_demos():
    text = run("--help").output
    for word in ("--serve", "--visitors-per-second", "phone", "Ctrl-C", "regret", "--rounds"):
        assert word in text
