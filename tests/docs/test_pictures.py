"""The pictures in the documentation are what their code draws."""

import re

import pytest
from pages import ROOT
from svg import check_same_picture, coordinates
from tools.pictures.__main__ import FOLDER, make, makers


@pytest.mark.parametrize("name", sorted(makers()))
def test_the_picture_is_what_its_code_draws(name, tmp_path):
    drawn, kept = make(name, tmp_path).read_text(), (FOLDER / f"{name}.svg").read_text()
    check_same_picture(drawn, kept, f"python -m tools.pictures {name}")


def test_another_version_of_matplotlib_may_draw_it_but_no_other_picture():
    kept = (FOLDER / "readme-learning.svg").read_text()
    assert len(coordinates(kept)) > 100
    moved = re.sub(r"(?<=[ML] )\d+\.\d+", lambda found: f"{float(found[0]) + 3:f}", kept)
    check_same_picture(moved, kept, "")
    for other in (kept.replace(">visits<", ">rounds<"), re.sub(r"(?<=M )\d+", "400", kept)):
        assert other != kept
        with pytest.raises(AssertionError):
            check_same_picture(other, kept, "")


def test_every_picture_is_made_by_code_and_shown_in_a_page():
    kept = {path.stem for path in FOLDER.glob("*.svg")}
    assert kept == set(makers())
    text = "".join(page.read_text() for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
    assert not [name for name in kept if f"pictures/{name}.svg" not in text]
