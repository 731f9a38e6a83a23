"""Files in the root of the repository that are pages of the site as well."""

from __future__ import annotations

from pathlib import Path

from tools.site.links import PAGES, rewrite_links

__all__ = ["pages"]

ROOT = Path(__file__).parents[2]


def pages() -> dict[str, str | Path]:
    """Each of them, with its links leading to pages. The home page is not the README."""
    return {
        page: rewrite_links((ROOT / source).read_text(encoding="utf-8"), source, page)
        for source, page in PAGES.items()
        if page != "index.md"
    }
