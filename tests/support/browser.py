"""A real browser for the tests: the system's chromium."""

import shutil
import tempfile
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HOW = """no browser to test the page in. Any of these brings one:
    make browser                 (if you are root)
    apt-get install chromium     (or your system's package)
It must be on the path as one of """ + ", ".join(NAMES)


@contextmanager
def browsing():
    """A browser with an empty profile."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise RuntimeError(HOW)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[*ARGUMENTS, f"--disk-cache-dir={folder}"]
        )
        yield browser
        browser.close()


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
