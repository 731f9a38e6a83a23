"""Links between files of the repository, as links between pages of the site."""

from __future__ import annotations

import re
from posixpath import join, normpath, relpath

__all__ = ["page_of", "rewrite_links"]

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def page_of(path: str) -> str | None:
    """The page of the site that a file of the repository is on, if there is one.

    >>> page_of("docs/how-to/scale.md"), page_of("benchmarks/results/gpu.md"), page_of("LICENSE")
    ('how-to/scale.md', 'benchmarks/gpu.md', None)
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("benchmarks/results/") and path.endswith(".md"):
        return path.replace("results/", "")
    return PAGES.get(path)


def rewrite_links(text: str, source: str, page: str) -> str:
    """The text of a file of the repository as that of a page; files without a page are named only.

    >>> rewrite_links("[all](results/gpu.md#a) of [it](../LICENSE)", "benchmarks/x.md", "x.md")
    '[all](benchmarks/gpu.md#a) of it'
    """

    def replaced(match: re.Match[str]) -> str:
        words, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        found = page_of(normpath(join(source, "..", path)))
        if found is None:
            return words
        return f"[{words}]({relpath(found, normpath(join(page, '..')))}{anchor and '#' + anchor})"

    return LINK.sub(replaced, text)
