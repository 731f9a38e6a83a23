"""Each lemma, theorem, remark and figure of the paper is in the code, and shown by a test."""

import shutil
from collections import Counter

import pytest
from pages import ROOT
from tools.site import statements


def test_every_statement_of_the_paper_has_its_line():
    kinds = Counter(name.split()[0] for name in statements.STATEMENTS)
    assert kinds == {"Lemma": 7, "Theorem": 3, "Remark": 3, "Figure": 3}
    assert statements.missing() == []
    page = statements.pages()["reference/paper.md"]
    for name, says in statements.STATEMENTS.items():
        assert f"| {name} | {says} | `" in page
    assert "`theory/slate.py: best_slate`" in page
    assert "test_lemma_1_is_the_best_of_all_ordered_subsets`" in page


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src/semibandit/theory", tmp_path / "src")
    shutil.copytree(ROOT / "tests/theory", tmp_path / "tests")
    return tmp_path


def test_a_statement_without_its_place_or_its_test_is_found(copy):
    slate = copy / "src" / "slate.py"
    slate.write_text(slate.read_text().replace("Paper: Lemma 1.", ""))
    tests = copy / "tests" / "test_slate.py"
    tests.write_text(tests.read_text().replace("def test_lemma_2", "def test_something"))
    tests.write_text(tests.read_text().replace("ranking_of_lemma_2", "ranking"))
    found = statements.missing(copy / "src", copy / "tests")
    assert "Lemma 1: no docstring has it after 'Paper:'" in found
    assert "Lemma 2: no test has it in its name" in found
    assert not [line for line in found if "Lemma 5" in line or "Theorem 1" in line]


def test_a_mark_of_what_the_paper_does_not_state_is_refused(copy):
    (copy / "src" / "more.py").write_text('"""More.\n\nPaper: Lemma 8.\n"""\n')
    with pytest.raises(ValueError, match=r"more.py: the paper has no 'Lemma 8' \(module\)"):
        statements.places(copy / "src")


@pytest.mark.parametrize(
    ("name", "shows"),
    [
        ("test_theorems_1_2_and_3_by_hand", {"Theorem 1", "Theorem 2", "Theorem 3"}),
        ("test_lemma_6_is_tight_with_2S_minus_1", {"Lemma 6"}),
        ("test_the_widths_of_figure_2_and_remark_1", {"Figure 2", "Remark 1"}),
        ("test_figure_25", set()),
        ("test_another_theorem", set()),
    ],
)
def test_a_tests_name_says_what_it_shows(name, shows, tmp_path):
    (tmp_path / "test_one.py").write_text(f"def {name}():\n    pass\n")
    found = statements.shown_by(tmp_path)
    assert {statement for statement, tests in found.items() if tests} == shows
