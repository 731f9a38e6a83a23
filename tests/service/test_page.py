"""The page in a real browser: is it worth it, is it well, and why was this shown?"""

import json
import re
import shlex

import pytest
from browser import Tab, browsing
from playwright.sync_api import expect
from server import BUILD, LocalServer, Server
from visits import shop

import semibandit as sb
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.store import Store

NASTY = "<img src=x onerror=alert(1)>"
NAMED = ("--features", "hour,weekend", "--labels", f"sea,city,{NASTY}")
BELOW = "/bandit"
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def browser():
    with browsing() as one:
        yield one


def text(page, id, wanted):
    expect(page.locator(f"#{id}")).to_have_text(re.compile(wanted))


def field(page, name):
    return page.locator("#features").get_by_label(name)


def visit(server, click=True, answer=True, **asked):
    """A visit by some other client."""
    body = {"context": {"hour": 9, "weekend": 1}, "slots": 3} | asked
    shown = server.post("/v1/rank", body).json()
    if answer:
        labels = [one["label"] for one in shown["slate"]]
        server.feedback(shown["id"], labels[:1] if click else [])
    return shown


def percent(part, whole):
    share = 100 * part / whole
    return f"{share:.1f}%" if 0 < share < 9.95 else f"{share:.0f}%"


def numbers(counts):
    """What the first screen says of these counts."""
    told = counts["feedback"] - counts["waited"]
    return {
        "rate": percent(counts["clicks"], counts["shown"]),
        "visits-count": str(counts["decisions"]),
        "empty": percent(counts["empty"], counts["decisions"]),
        "silent": percent(counts["decisions"] - told, counts["decisions"]),
    }


def check_numbers(page, wanted):
    for id, number in wanted.items():
        expect(page.locator(f"#{id}")).to_have_text(number)


def test_the_first_screen_says_what_the_state_says_also_after_a_restart(browser, tmp_path):
    server = Server(tmp_path / "s", *NAMED)
    for i in range(12):
        visit(server, click=i % 3, answer=i % 4, slots=i % 4)
    server.post("/v1/rank", {"context": [1]})
    tab = Tab(browser, server.url)
    with tab as page:
        before = server.get("/v1/state").json()
        text(page, "status", "^All is well.$")
        text(page, "last-visit", "The last visit was ")
        text(page, "about", "^3 items, 2 features$")
        check_numbers(page, numbers(before["totals"]))
        text(page, "errors-note", "^0 of 2[0-9] requests")
        text(page, "p99", r"^[0-9.]+ m?s$")
        for choice in ("Hour", "Day"):
            page.get_by_role("radio", name=choice).check(force=True)
            span = {"range": choice.lower()}
            points = server.get("/v1/series", params=span).json()["points"]
            found = {
                name: sum(one[name] for one in points)
                for name in before["totals"]
                if name != "since"
            }
            text(page, "rate-note", "in the last hour|in the last 24 hours")
            check_numbers(page, numbers(found))
        page.get_by_role("radio", name="All time").check(force=True)
        page.locator("#chart").focus()
        text(page, "rate-note", "clicked so far")
        page.keyboard.press("End")
        if "no answers" in page.locator("#readout").inner_text():
            page.keyboard.press("ArrowLeft")  # a minute has begun since the visits came
        text(page, "readout", r"^\d\d:\d\d: .* clicked \(\d+ of \d+ items\), \d+ visits?$")
        assert page.locator("#positions rect").count() == 3
        assert page.locator("#calibration circle").count() > 0
        visit(server)  # it shows up without a reload
        now = server.get("/v1/state").json()["totals"]
        check_numbers(page, numbers(now))
        assert not tab.wrong
        server.kill()
        text(page, "status", "does not answer")
        with Server(tmp_path / "s", port=server.port) as server:
            text(page, "status", "^All is well.$")
            assert server.get("/v1/state").json()["totals"] == now
            check_numbers(page, numbers(now))
    assert all(url.startswith(server.url) for url in tab.asked if not url.startswith("data:"))


def app_for(where, features, labels):
    return create_app(Engine(Store.create(where, sb.SlateUCB(features, labels))))


def sent(page, n):
    """The command that the page tells to send, and its parts as a shell reads them."""
    code = page.locator("#steps code").nth(n).inner_text()
    words = shlex.split(code.replace("\\\n", " "))
    assert words[0] == "curl"
    headers = [words[i + 1] for i, word in enumerate(words) if word == "-H"]
    return words[1], headers, json.loads(words[words.index("-d") + 1])


def test_an_empty_service_says_how_to_begin_and_notices(browser, tmp_path):
    """Below a path, as a proxy serves it that takes the path away."""
    features = sb.Features(hour="number", device="it's|other")
    app = app_for(tmp_path, features, ["sea", "it's"])

    async def below(scope, receive, send):
        if scope["type"] == "http":
            scope = {**scope, "path": scope["path"].removeprefix(BELOW)}
        await app(scope, receive, send)

    with LocalServer(below) as server:
        base = str(server.http.base_url).rstrip("/") + BELOW
        with Tab(browser, f"{base}/") as page:
            text(page, "start-title", "Waiting for the first visit")
            expect(page.locator("#overview")).to_be_hidden()
            url, headers, body = sent(page, 0)
            assert url == f"{base}/v1/rank"
            assert headers == ["Content-Type: application/json"]
            assert body["context"] == {"hour": 1, "device": "it's"}
            assert server.post(f"{BELOW}/v1/rank", body).status_code == 200
            text(page, "start-title", "Waiting for the first click")
            expect(page.locator("#steps li").first).to_contain_text("✓ arrived")
            expect(page.locator("#overview")).to_be_visible()
            url, _, body = sent(page, 1)
            assert body["id"] == "visit-1"
            assert len(body["clicked"]) == 1
            page.get_by_role("button", name="Copy").first.click()
            expect(page.get_by_role("button", name="Copied")).to_be_visible()
            assert server.post(f"{BELOW}/v1/feedback", body).status_code == 200
            expect(page.locator("#start")).to_be_hidden()
            text(page, "visits-count", "^1$")


def rows(page):
    return page.locator("#item-table tbody th")


def test_items_are_searched_sorted_added_and_retired(browser, tmp_path):
    labels = ",".join(["sea", "city", NASTY, *(f"item {i}" for i in range(20))])
    keys = ("--api-key", "write", "--read-key", "read")
    server = Server(tmp_path / "s", "--features", "hour,weekend", "--labels", labels, *keys)
    server.http.headers["Authorization"] = "Bearer write"
    tab = Tab(browser, server.url)
    with server, tab as page:
        text(page, "status", "^It is locked.$")
        page.get_by_label("This service wants a key").fill("wrong")
        page.get_by_role("button", name="Use it").click()
        text(page, "key-note", "a key is needed")
        page.get_by_label("This service wants a key").fill("write")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#key-form")).to_be_hidden()
        assert "Authorization: Bearer $SEMIBANDIT_API_KEY" in sent(page, 0)[1]
        assert "write" not in page.locator("main").inner_text().split()
        visit(server, candidates=["city", NASTY, "item 3"])
        clicked = server.get("/v1/items", params={"sort": "clicked"}).json()["items"][0]["label"]
        expect(rows(page)).to_have_count(15)
        text(page, "page-note", "^1–15 of 23$")
        page.get_by_role("button", name="Next").click()
        text(page, "page-note", "^16–23 of 23$")
        page.get_by_role("button", name="Clicked").click()
        text(page, "page-note", "^1–15 of 23$")
        expect(rows(page).first).to_have_text(clicked)
        expect(page.locator("[aria-sort=descending]")).to_have_text("Clicked")
        page.get_by_role("button", name="Item", exact=True).click()
        expect(rows(page).first).to_have_text(NASTY)
        expect(page.locator("[aria-sort=ascending]")).to_have_text("Item")
        page.get_by_label("never shown").check()
        text(page, "page-note", "of 20$")
        page.get_by_label("never shown").uncheck()
        page.get_by_label("Search items").fill("CIT")
        expect(rows(page)).to_have_text(["city"])
        page.get_by_role("button", name="Add items").click()
        expect(page.locator("#add-names")).to_be_focused()
        page.keyboard.type("new city, city hall")
        page.keyboard.press("Enter")
        expect(rows(page)).to_have_text(["city", "city hall", "new city"])
        page.locator("#add-names").fill("city")
        page.keyboard.press("Enter")
        text(page, "items-note", "city.* already")
        page.get_by_role("button", name="Retire city hall").click()
        text(page, "confirm-title", "Retire “city hall”?")
        expect(page.get_by_role("button", name="Keep it")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#confirm")).to_be_hidden()
        assert "city hall" in server.get("/labels").json()["labels"]
        page.get_by_role("button", name="Retire city hall").click()
        page.get_by_role("button", name="Retire it").click()
        expect(rows(page)).to_have_text(["city", "new city"])
        assert "city hall" not in server.get("/labels").json()["labels"]
        page.evaluate("sessionStorage.setItem('semibandit-key', 'read')")
        expect(page.get_by_role("button", name="Add items")).to_be_hidden()
        page.get_by_label("Search items").fill("city")
        expect(page.get_by_role("button", name=re.compile("^Retire "))).to_have_count(0)
    assert [one for one in tab.wrong if not re.search("401|409", one)] == []


def test_a_visit_opens_to_say_why(browser, tmp_path):
    words = ("--features", "hour,weekend", "--labels", 3, "--a", 0.5, "--width", "scaled:0")
    with Server(tmp_path / "s", *words, "--probe", 1) as server:
        for i in range(12):  # nothing is ever clicked: only what is tried out is left
            shown = visit(server, click=False, id=f"v{i}")
            server.until(lambda state: state["backlog"] == 0)
        assert [one["probe"] for one in shown["slate"]] == [True]
        with Tab(browser, server.url) as page:
            expect(page.locator("#visit-list details")).to_have_count(12)
            expect(page.locator("#visit-list .inside").first).to_be_hidden()
            newest = page.locator("#visit-list details").first
            expect(newest.locator(".outcome")).to_have_text("nothing clicked")
            newest.locator("summary").press("Enter")
            expect(newest.locator("dl")).to_have_text(re.compile("hour9weekend1"))
            expect(newest.locator(".bars li")).to_have_count(1)
            expect(newest.locator(".bars .place")).to_have_text("1")
            expect(newest.locator(".tag")).to_have_text("trying it out")
            expect(newest.locator(".numbers")).to_have_text(re.compile(r"^[\d.]+% [+−] [\d.]+%$"))
            visit(server, id="newer")  # the list stands still while one is open
            expect(page.locator("#held")).to_be_visible()
            expect(newest).to_have_attribute("data-id", "v11")
            newest.locator("summary").click()
            expect(page.locator("#visit-list details").first).to_have_attribute("data-id", "newer")
            expect(page.locator("#visit-list details").first).to_contain_text("✓")
            jargon = r"\b(slate|label|probe|width|well|cut|margin|slot)s?\b"
            said = re.sub("All is well", "", page.locator("body").inner_text())
            assert not re.search(jargon, said, re.IGNORECASE)


def test_trying_records_nothing_unless_told(browser, tmp_path):
    with Server(tmp_path / "s", *NAMED) as server:
        tab = Tab(browser, server.url)
        with tab as page:
            field(page, "hour").fill("9")
            field(page, "weekend").fill("-0.5")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .bars li")).to_have_count(3)
            text(page, "answer", "All 3 places were taken.*nothing was recorded")
            assert server.state()["position"] == 0
            page.get_by_label("record it as a real visit").check()
            page.get_by_role("button", name="What to show?").click()
            for name in ("sea", NASTY):
                page.locator("#answer").get_by_role("button", name=name, exact=True).click()
            page.get_by_role("button", name="Send what was clicked").click()
            expect(page.locator("#answer .good")).to_have_text(re.compile("it is learned"))
            text(page, "rate", "^67%$")
            stored = server.state()["latest"][-1]
            assert set(stored["clicked"]) == {"sea", NASTY}
            assert stored["context"] == {"hour": 9, "weekend": -0.5}
            assert not tab.wrong
            page.get_by_label("Places").fill("1001", force=True)
            page.evaluate("document.getElementById('places').max = ''")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .problem")).to_have_text(re.compile("1001"))


KINDS = "hour,device:category,plan:free|pro,tags:set,mood:set:good|bad"


def test_every_kind_of_feature_has_its_field(browser, tmp_path):
    with Server(tmp_path / "s", "--features", KINDS, "--labels", 4) as server:
        tab = Tab(browser, server.url)
        with tab as page:
            page.get_by_label("record it").check()
            field(page, "hour").fill("7.5")
            field(page, "device").fill(NASTY)
            expect(field(page, "plan").locator("option")).to_have_text(["unknown", "free", "pro"])
            field(page, "plan").select_option("pro")
            field(page, "tags").fill("new, sale")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .bars button")).to_have_count(3)
            page.get_by_role("button", name="Send what was clicked").click()
            expect(page.locator("#answer .good")).to_have_count(1)
            server.until(lambda state: state["backlog"] == 0)
            # what was learned is offered, and what was typed is still there
            expect(page.locator("#features datalist option")).to_have_count(5)
            expect(field(page, "device")).to_have_value(NASTY)
            field(page, "mood").fill("good, sad")
            page.get_by_role("button", name="What to show?").click()
            expect(page.locator("#answer .problem")).to_have_text(
                re.compile("feature 'mood' has 'sad', expected one of bad, good")
            )
        assert [text for text in tab.wrong if "422" not in text] == []
    with Store(tmp_path / "s") as store:
        named = next(event.named for _, event in store.events(kinds=["decision"]))
    assert named == {"hour": 7.5, "device": NASTY, "plan": "pro", "tags": ["new", "sale"]}


MANY = sb.Features(**{f"x{i}": "number" for i in range(25)})


@pytest.mark.parametrize("features", [sb.Hashed(64), MANY], ids=["hashed", "many"])
def test_other_contexts_are_json(browser, tmp_path, features):
    server = LocalServer(app_for(tmp_path, features, 4))
    with server, Tab(browser, str(server.http.base_url)) as page:
        box = page.get_by_label("{name: value} as JSON")
        expect(box).to_have_value(re.compile(r"^\{.*\}$"))
        page.get_by_role("button", name="What to show?").click()
        expect(page.locator("#answer .bars li")).to_have_count(3)
        box.fill("{hour}")
        page.get_by_role("button", name="What to show?").click()
        expect(page.locator("#answer .problem")).to_have_text(re.compile("is no JSON"))


def test_what_is_wrong_is_said_on_a_phone_in_light_and_dark(browser, tmp_path):
    with Server(tmp_path / "s", *BUILD) as server:
        server.rank(id="a-rather-long-id-that-does-not-fit-on-a-phone-" + "x" * 100)
        for i in range(60):
            server.rank(slots=0, id=f"v{i}")
        server.rank(slots=6, id="last")
        colours = {}
        for scheme in ("light", "dark"):
            with Tab(browser, server.url, color_scheme=scheme, viewport=PHONE) as page:
                said = page.locator("#status .alarm")
                expect(said).to_have_count(2)
                expect(said.first).to_have_text(re.compile("97% of the visits .* nothing at all"))
                expect(said.last).to_have_text(re.compile("Nobody has told it what was clicked"))
                page.locator("#visit-list summary").first.click()
                page.get_by_role("button", name="What to show?").click()
                expect(page.locator("#answer .bars li")).to_have_count(3)
                page.get_by_role("button", name="Add items").click()
                assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
                colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
                page.locator("#context").fill("1, 2, x, 4")
                page.get_by_role("button", name="What to show?").click()
                text(page, "answer", "the visit has x, which is no number")
        assert colours["light"] != colours["dark"]


def test_with_the_keyboard_alone(browser, tmp_path):
    with Server(tmp_path / "s", *NAMED) as server, Tab(browser, server.url) as page:
        visit(server)
        expect(page.locator("#overview")).to_be_visible()
        expect(rows(page)).to_have_count(3)
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        seen = set()
        for _ in range(40):  # everything that can be used is reached, and is seen to be
            page.keyboard.press("Tab")
            seen.add(
                page.evaluate(
                    "(one => one.id || one.dataset.sort || one.textContent.trim() || one.name)"
                    "(document.activeElement)"
                )
            )
            if page.evaluate("document.activeElement.id") == "chart":
                style = "getComputedStyle(document.activeElement).outlineStyle"
                assert page.evaluate(style) == "solid"
        wanted = {"chart", "range", "search", "never-shown", "rate", "add-open", "Retire", "places"}
        assert seen >= wanted, wanted - seen
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(field(page, "hour")).to_be_focused()
        page.keyboard.press("Enter")  # a form is sent by Enter
        expect(page.locator("#answer .bars li").first).to_be_visible()
        page.locator("#range input:checked").focus()
        page.keyboard.press("ArrowLeft")
        text(page, "rate-note", "last 24 hours")


def test_it_says_what_the_learner_gains_over_the_holdout(browser, tmp_path):
    store = Store.create(tmp_path, sb.SlateUCB(4, list("abcdef")))
    app = create_app(Engine(store, Settings(holdout=0.3, randomise="mixed:0.1")))
    with LocalServer(app) as server:
        shop(server, 0, 20)
        with Tab(browser, str(server.http.base_url)) as page:
            expect(page.locator("#uplift-gain")).to_have_text("Cannot tell yet")
            text(page, "uplift-note", r"^(between|at most) \d+% fewer .*visits with a click; ")
            how = re.compile(
                r"^30% of the visitors \(by subject, .*\) are shown items drawn at random, "
                r".*answered count\. This comparison began on .*\. The learner's visits "
                r"include .* mixed:0\.1\. The range is"
            )
            expect(page.locator("#uplift-how")).to_have_text(how)
            for first in range(20, 820, 200):
                shop(server, first, 200)
            state = server.get("/v1/state").json()
            told = state["uplift"]["visits_with_a_click"]
            more = f"{round(100 * told['relative'])}% more"
            expect(page.locator("#uplift-gain")).to_have_text(more)
            text(page, "uplift-note", r"a click than random lists \(between \d+% and \d+%\)$")
            visits = f"{state['uplift']['learner']['visits']}"
            expect(page.locator("#uplift-table tbody td").first).to_have_text(visits)
            marked = sum(one["holdout"] is not None for one in state["latest"])
            expect(page.locator("#visit-list .tag")).to_have_count(marked)
