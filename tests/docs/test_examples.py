"""Every example of the gallery prints and draws what is kept of it in examples/output.

`make examples` makes these files anew.
"""

import ast
import contextlib
import io
import re
import runpy

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from pages import ROOT, agree, words
from svg import check_same_picture, texts

import semibandit as sb

FOLDER = ROOT / "examples"
OUTPUT = FOLDER / "output"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
DOWNLOADS = ["images"]  # a data set that tests do not download
LARGEST = 80_000  # bytes of a picture


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run an example in an empty folder; returns what it prints and the picture."""
    monkeypatch.chdir(tmp_path)
    backend = mpl.get_backend()
    mpl.use("Agg")

    def runner(name):
        with mpl.rc_context(), contextlib.redirect_stdout(io.StringIO()) as out:
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        return out.getvalue(), (tmp_path / f"{name}.svg").read_text()

    yield runner
    plt.close("all")
    mpl.use(backend)


def kept(name):
    return (OUTPUT / f"{name}.txt").read_text(), (OUTPUT / f"{name}.svg").read_text()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DOWNLOADS])
def test_an_example_prints_and_draws_what_is_kept(name, run):
    (text, picture), (kept_text, kept_picture) = run(name), kept(name)
    assert agree(text, kept_text), f"{name}.py prints\n{text}"
    check_same_picture(picture, kept_picture, "make examples")


def test_images_are_tagged_in_a_small_set_of_the_same_form(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIBANDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    small_mediamill().save(tmp_path / "cache" / "mediamill.npz")
    (text, picture), (kept_text, kept_picture) = run("images"), kept("images")
    assert words(text) == words(kept_text)
    assert letters(texts(picture)) == letters(texts(kept_picture))
    random, learned, _told_everything = (float(line.split()[-4]) for line in text.splitlines()[2:])
    assert learned < 0.8 * random


def small_mediamill():
    """Frames of which the first numbers say which tags are right."""
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 10)).astype(np.float32)
    Y = (X @ random.standard_normal((10, 12)) > 2.0).astype(np.uint8)
    return sb.Dataset("mediamill", X_train=X, Y_train=Y)


def letters(found):
    """The texts but for the numbers at the axes."""
    return [text for text in found if re.search("[a-z]", text)]


def test_every_example_has_its_output_and_a_line_in_the_list():
    assert len(NAMES) >= 8
    files = {path.name for path in OUTPUT.iterdir()}
    assert files == {f"{name}.{kind}" for name in NAMES for kind in ("svg", "txt")}
    listed = re.findall(r"^\| \[(\w+)\.py\]\(\1\.py\) \|", (FOLDER / "README.md").read_text(), re.M)
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_example_can_be_read_in_five_minutes(name):
    text = (FOLDER / f"{name}.py").read_text()
    tree = ast.parse(text)
    title, blank, *introduction = ast.get_docstring(tree).splitlines()
    assert title
    assert not blank
    assert {"**In the picture**", "**To change**"} <= set(
        re.findall(r"^\*\*[\w ]+\*\*", "\n".join(introduction), re.M)
    )
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [module for module in imported if module.startswith("semibandit")]
    assert "import semibandit as sb" in text
    assert len(text.splitlines()) <= 130


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_its_text_is_text(name):
    text, picture = kept(name)
    assert text.strip()
    assert len(picture) < LARGEST
    assert "<text" in picture
    assert "<dc:date>" not in picture
