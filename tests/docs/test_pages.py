"""Every page of the documentation does what it says, and prints what it shows."""

import pytest
from pages import ROOT, agree, blocks, commands, pages, run_console, run_page


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


def test_words_must_be_equal_and_numbers_near():
    assert agree("loss 0.1234 of 1,000", "loss 0.1235 of 1,001")
    assert agree("| a   | 1 |", "| a | 1 |")
    assert not agree("loss 0.12", "loss 0.15")
    assert not agree("loss 0.12", "cost 0.12")
    assert not agree("['sea']", "['snow']")
    assert not agree("label7", "label8")
    assert not agree("3", "4")


def test_three_dots_stand_for_lines_left_out():
    assert agree("a\nb\nc\nd", "a\n...\nd")
    assert agree("a\nb\nc\nd", "a\n...\nc\n...")
    assert not agree("a\nb\nc\nd", "a\n...\ne")
    assert not agree("a\nb", "a\n...\nx\n...\nb")


def test_a_command_that_fails_is_not_what_a_page_shows(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ python -c 'print(1); exit(3)'\n1\n```\n")
    (block,) = blocks(page.read_text())
    with pytest.raises(AssertionError, match="exits with 3"):
        run_console(block, tmp_path, "page.md")


def test_a_command_may_go_on_in_the_next_line():
    assert commands("$ one \\\n  two\nout\n$ three\n") == [("one    two", "out\n"), ("three", "")]
