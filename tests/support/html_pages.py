"""The built pages of the site: what each refers to, and what in it can be referred to."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

STYLE_URL = re.compile(r"""(?:url\(|@import\s+)["']?([^"')\s]+)""")


@dataclass
class Page(HTMLParser):
    """A page: the ids in it, where its links lead, and what a browser loads to show it."""

    path: Path
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link":
            self.loaded.append(found["href"])
        elif tag in ("script", "img", "iframe", "source", "video", "audio") and "src" in found:
            self.loaded.append(found["src"])


def pages_of(site):
    """Every page of a site, by its path in it; but for the one that a server shows for others."""
    paths = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    return {str(path.relative_to(site)): Page(path) for path in paths}


def loaded_by_styles(site):
    """What the style sheets of a site refer to, but for data that they hold themselves."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.css"))]
    return [url for text in texts for url in STYLE_URL.findall(text) if not url.startswith("data:")]
