"""Pages of the site that are made say what their sources say."""

import doctest

import pytest
from pages import ROOT
from tools.site import benchmark_pages, gallery, links, markup, python_reference, root_pages

EXAMPLE = '''"""Four places and a learner.

A learner meets 500 visitors, and learns. It shows two. More of it.

A second paragraph.
"""

import numpy as np

print(np.arange(3), "```")
'''


@pytest.mark.parametrize("module", [links, markup], ids=lambda module: module.__name__)
def test_the_examples_in_its_docstrings_hold(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def test_an_example_is_a_card_and_a_page(tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "places.py").write_text(EXAMPLE)
    (tmp_path / "output" / "places.txt").write_text("[0 1 2] ```\n")
    made = gallery.pages(tmp_path)
    assert made["gallery/places.svg"] == tmp_path / "output" / "places.svg"
    assert "A learner meets 500 visitors, and learns. It shows two.\n" in made["gallery/index.md"]
    page = made["gallery/places.md"]
    assert page.startswith("# Four places and a learner\n\nA learner meets")
    assert "````text\n[0 1 2] ```\n````" in page
    assert '````python\nimport numpy as np\n\nprint(np.arange(3), "```")\n````' in page
    assert "A second paragraph." in page.split("````")[0]


def test_every_example_has_a_page_and_an_entry():
    names = [path.stem for path in (ROOT / "examples").glob("[!_]*.py")]
    assert {f"gallery/{name}.md" for name in names} < set(gallery.pages())
    assert {f"gallery/{name}.md" for name in names} == set(gallery.navigation()[1:])


def test_every_result_of_a_benchmark_has_a_page_and_a_command_that_exists():
    results = {path.stem for path in benchmark_pages.FOLDER.glob("*.md")}
    assert results == set(benchmark_pages.MEASURES)
    makefile = (ROOT / "Makefile").read_text()
    for title, command, _ in benchmark_pages.MEASURES.values():
        assert f"\n{command.removeprefix('make ')}:" in makefile
        assert f"[{title}]" in benchmark_pages.overview()


def test_links_of_files_in_the_root_lead_to_pages():
    made = root_pages.pages()
    assert set(made) == {"changelog.md", "contributing.md", "security.md"}
    assert "](design.md)" in made["contributing.md"]
    assert "](docs/" not in "".join(made.values())


def test_the_overview_has_every_page_of_the_python_reference():
    assert {path.stem for path in python_reference.FOLDER.glob("*.md")} == set(
        python_reference.ORDER
    )
