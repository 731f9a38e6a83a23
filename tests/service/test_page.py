"""The page in a real browser: ask for a slate, click, see the numbers move."""

import re

import pytest
from browser import browsing
from playwright.sync_api import expect
from server import BUILD, Server

from semibandit.store.store import Store

NASTY = "<img src=x onerror=alert(1)>"
NAMED = ("--features", "hour,weekend", "--labels", f"sea,city,{NASTY}")


@pytest.fixture(scope="module")
def browser():
    with browsing() as one:
        yield one


class Tab:
    """A page that notes what went wrong, and whom it asked."""

    def __init__(self, browser, url, **more):
        self.page = browser.new_context(**more).new_page()
        self.asked, self.wrong = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", lambda dialog: self.wrong.append("a dialog"))
        self.page.goto(url)
        self.page.evaluate("window.untouched = true")

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def __enter__(self):
        return self.page

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.page.evaluate("window.untouched"), "it was loaded again"
        self.page.context.close()


def text(page, id, wanted):
    expect(page.locator(f"#{id}")).to_have_text(re.compile(wanted))


def test_ask_click_and_see_the_numbers_move(browser, tmp_path):
    with Server(tmp_path / "s", *NAMED) as server:
        tab = Tab(browser, server.url)
        with tab as page:
            text(page, "about", "SlateUCB, 2 features, 3 labels")
            text(page, "decisions", "^0$")
            text(page, "health-text", "well")
            page.get_by_label("hour").fill("9")
            page.get_by_label("weekend").fill("-0.5")
            page.get_by_label("Slots").fill("3")
            page.get_by_role("button", name="What to show?").click()
            slate = page.locator("#answer .slate button")
            expect(slate).to_have_count(3)
            expect(page.locator("#latest > li")).to_have_count(1)
            text(page, "decisions", "^1$")
            text(page, "clicks", "^0$")
            expect(page.locator("#latest .cut")).to_have_text(re.compile("all 3 slots are taken"))
            for name in ("sea", NASTY):
                page.get_by_role("button", name=name, exact=True).click()
            page.get_by_role("button", name="Send what was clicked").click()
            expect(page.locator("#answer .good")).to_have_text(re.compile("it is learned"))
            text(page, "clicks", "^2$")
            text(page, "rate", "66.7%")
            text(page, "version", "^1$")
            text(page, "size", "3.00")
            expect(page.locator("#top tbody tr")).to_have_count(3)
            expect(page.locator("#latest .tick")).to_have_count(2)
            expect(page.locator("#calibration circle")).not_to_have_count(0)
            before = page.locator("#width").inner_text()
            # someone else's visit shows up without a reload
            shown = server.post("/rank", {"context": {"hour": 1, "weekend": 1}, "slots": 1}).json()
            text(page, "decisions", "^2$")
            assert page.locator("#width").inner_text() != before
            expect(page.locator("#latest b").first).to_have_text(shown["id"])
        assert all(url.startswith(server.url) for url in tab.asked if not url.startswith("data:"))
        assert not tab.wrong
        stored = server.state()["latest"][-1]
        assert set(stored["clicked"]) == {"sea", NASTY}


def test_where_the_cut_fell(browser, tmp_path):
    words = ("--width", "scaled:0.01", "--a", 0.5, "--probe", 0)
    with Server(tmp_path / "s", "--features", 2, "--labels", 4, *words) as server:
        for _ in range(30):
            shown = server.post("/rank", {"context": [1, 0]}).json()
            yes = [one["label"] for one in shown["slate"] if one["label"] < 2]
            server.feedback(shown["id"], yes)
            server.until(lambda state: state["backlog"] == 0)
        with Tab(browser, server.url) as page:
            page.locator("#context").fill("1, 0")
            page.get_by_label("Slots").fill("4")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .slate li")).to_have_count(2)
            cut = page.locator("#latest .cut").first
            expect(cut).to_have_text(
                re.compile(r"would cost more than it is worth; next in line: [23]")
            )
            expect(page.locator("#latest .numbers").first).to_have_text(
                re.compile(r"^0\.\d\d \+ 0\.\d\d = 0\.\d\d$|^1\.00")
            )


@pytest.mark.parametrize("a", [0.5, 0.95])
def test_a_service_that_shows_hardly_anything_says_why(browser, tmp_path, a):
    """Three labels that are never clicked: with a = 0.5 they are soon given up."""
    words = (*NAMED, "--a", a, "--probe", 0)
    with Server(tmp_path / "s", *words) as server, Tab(browser, server.url) as page:
        for _ in range(80):
            shown = server.rank([1, 2]).json()
            server.feedback(shown["id"], [])
            server.until(lambda state: state["backlog"] == 0)
        text(page, "decisions", "^80$")
        advice = page.locator("#advice")
        if a == 0.5:
            expect(advice).to_be_visible()
            text(page, "advice", "with a = 0.5 .* about 50.0% of the time")
        else:
            expect(advice).to_be_hidden()


def test_a_probe_is_marked(browser, tmp_path):
    words = ("--features", 2, "--labels", 5, "--a", 0.5, "--probe", 1, "--width", "scaled:0")
    with Server(tmp_path / "s", *words) as server, Tab(browser, server.url) as page:
        for _ in range(12):  # nothing is ever clicked: only probes are left
            shown = server.post("/rank", {"context": [1, 0], "slots": 3}).json()
            server.feedback(shown["id"], [])
            server.until(lambda state: state["backlog"] == 0)
        assert [one["probe"] for one in shown["slate"]] == [True]
        page.locator("#context").fill("1, 0")
        page.get_by_role("button", name="What to show?").click()
        for place in ("#answer", "#latest > li:first-child"):
            tag = page.locator(f"{place} .probe")
            expect(tag).to_have_count(1)
            expect(tag).to_have_text("probe")
            expect(tag).to_have_attribute("title", re.compile("only to be tried"))


KINDS = "hour,device:category,plan:free|pro,tags:set,mood:set:good|bad"


def test_every_kind_of_feature_has_its_field(browser, tmp_path):
    with Server(tmp_path / "s", "--features", KINDS, "--labels", 4) as server:
        tab = Tab(browser, server.url)
        with tab as page:
            page.get_by_label("hour").fill("7.5")
            page.get_by_label("device").fill(NASTY)
            expect(page.get_by_label("plan").locator("option")).to_have_text(
                ["unknown", "free", "pro"]
            )
            page.get_by_label("plan").select_option("pro")
            page.get_by_label("tags").fill("new, sale")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .slate button")).to_have_count(3)
            page.get_by_role("button", name="Send what was clicked").click()
            expect(page.locator("#answer .good")).to_have_count(1)
            server.until(lambda state: state["backlog"] == 0)
            # what was learned is offered, and what was typed is still there
            expect(page.locator("#features datalist option")).to_have_count(5)
            expect(page.get_by_label("device")).to_have_value(NASTY)
            page.get_by_label("mood").fill("good, sad")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .problem")).to_have_text(
                re.compile("feature 'mood' has 'sad', expected one of bad, good")
            )
        assert [text for text in tab.wrong if "422" not in text] == []
    with Store(tmp_path / "s") as store:
        named = next(event.named for _, event in store.events(kinds=["decision"]))
    assert named == {"hour": 7.5, "device": NASTY, "plan": "pro", "tags": ["new", "sale"]}


@pytest.mark.parametrize("features", ["hashed:64", ",".join(f"x{i}" for i in range(25))])
def test_other_contexts_are_json(browser, tmp_path, features):
    with Server(tmp_path / "s", "--features", features, "--labels", 4) as server:
        with Tab(browser, server.url) as page:
            box = page.get_by_label("Context: {name: value} as JSON")
            expect(box).to_have_value(re.compile(r"^\{.*\}$"))
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .slate button")).to_have_count(3)
            box.fill("{hour}")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .problem")).to_have_text(re.compile("context is no JSON"))
        assert server.state()["decisions"] == 1


def test_with_the_keyboard_alone(browser, tmp_path):
    with Server(tmp_path / "s", *NAMED) as server, Tab(browser, server.url) as page:
        expect(page.get_by_label("hour")).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_label("hour")).to_be_focused()
        page.keyboard.press("Enter")  # a form is sent by Enter
        expect(page.locator("#answer .slate button").first).to_be_visible()
        for _ in range(4):  # weekend, slots, ask, the first label
            page.keyboard.press("Tab")
        page.keyboard.press("Space")
        first = page.locator("#answer .slate button").first
        expect(first).to_have_attribute("aria-pressed", "true")
        page.locator("#send").focus()
        page.keyboard.press("Enter")
        text(page, "clicks", "^1$")


def test_light_dark_and_phone(browser, tmp_path):
    with Server(tmp_path / "s", *BUILD) as server:
        server.rank(id="a-rather-long-id-that-does-not-fit-on-a-phone-" + "x" * 100)
        colours = {}
        for scheme in ("light", "dark"):
            size = {"width": 360, "height": 700}
            with Tab(browser, server.url, color_scheme=scheme, viewport=size) as page:
                expect(page.locator("#latest > li")).to_have_count(1)
                assert page.evaluate("document.documentElement.scrollWidth") <= 360
                colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
                expect(page.locator("#key-box")).to_be_hidden()
        assert colours["light"] != colours["dark"]


def test_what_is_wrong_is_said_and_a_server_that_comes_back_is_seen(browser, tmp_path):
    server = Server(tmp_path / "s", *BUILD)
    with Tab(browser, server.url) as page:
        page.locator("#context").fill("1, 2")
        page.get_by_role("button", name="What to show?").click()
        expect(page.locator("#answer .problem")).to_have_text(re.compile("context has 2 features"))
        page.locator("#context").fill("1, 2, x, 4")
        page.get_by_role("button", name="What to show?").click()
        expect(page.locator("#answer .problem")).to_have_text("context has x, which is no number")
        server.kill()
        text(page, "health-text", "does not answer")
        with Server(tmp_path / "s", port=server.port):
            text(page, "health-text", "well")


def test_with_a_key(browser, tmp_path):
    server = Server(tmp_path / "s", *BUILD, "--api-key", "open")
    with server, Tab(browser, server.url) as page:
        page.get_by_label("This service wants a key").fill("wrong")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#key-said")).to_have_text(re.compile("a key is needed"))
        page.get_by_label("This service wants a key").fill("open")
        page.get_by_role("button", name="Use it").click()
        text(page, "health-text", "well")
        expect(page.locator("#key-box")).to_be_hidden()
        page.get_by_role("button", name="What to show?").click()
        text(page, "decisions", "^1$")
