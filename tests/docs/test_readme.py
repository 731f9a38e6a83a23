"""The README is short, and its links lead somewhere, on a code host as well as in a clone."""

import re

from pages import ROOT

TEXT = (ROOT / "README.md").read_text()
LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]+))?\)")


def slug(heading):
    """The anchor that code hosts and the site make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def test_links_lead_to_files_and_headings_of_the_repository():
    found = LINK.findall(TEXT)
    assert len(found) > 15
    for path, anchor in found:
        assert (ROOT / path).is_file(), path
        if anchor:
            headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(), flags=re.MULTILINE)
            assert anchor in map(slug, headings), f"{path}#{anchor}"


def test_it_fits_on_a_screen_and_a_half():
    assert len(TEXT.splitlines()) <= 90
