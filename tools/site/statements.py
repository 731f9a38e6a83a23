"""What the paper states, where that is in the code, and which tests show it.

A docstring that has a line `Paper: Lemma 1; Figure 2.` says that its code is these statements. A
test shows the statements in its name, such as `test_theorems_1_and_2_...`; a test of the paper's
experiments shows the figures whose data it names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FIGURES", "STATEMENTS", "missing", "pages", "places", "shown_by"]

ROOT = Path(__file__).parents[2]
STATEMENTS = {
    "Lemma 1": "The slate with the least expected ℓ_{a,c} is a prefix of the labels sorted by p",
    "Lemma 2": "If labels are independent, the S most probable ones have the least ℓ_{p-rank}",
    "Lemma 3": "The true margins minimise the expected surrogate loss",
    "Lemma 4": "The variance of a difference of losses is at most 2 c'_L/c''_L times its mean",
    "Lemma 5": "The regret of a round in ℓ_{a,c} is at most 2 c_L Σ ε over the labels shown",
    "Lemma 6": "In ℓ_{p-rank} it is at most 2(2S-1) c_L Σ ε",
    "Lemma 7": "All margins are within their widths in all rounds, with probability 1 - δ",
    "Theorem 1": "The regret in ℓ_{a,c} is of order √T log T, if U is known",
    "Theorem 2": "It is so if U is not known, but for the first rounds",
    "Theorem 3": "It is so in ℓ_{p-rank}, for independent labels",
    "Remark 1": "A width without U",
    "Remark 2": "Diagonal matrices",
    "Remark 3": "√(SK) in the place of K with S slots; dual variables; Theorem 3 with Remark 1",
    "Figure 2": "The algorithm",
    "Figure of Sony CSL Paris": "The experiments of section 5 on the data of Sony",
    "Figure of Mediamill": "The experiments of section 5 on Mediamill",
}
# words of the tests that show them; the data of Sony were never published
FIGURES = {"Figure of Sony CSL Paris": "tags-world", "Figure of Mediamill": "mediamill"}
MARK = re.compile(r"^ *Paper: (.+)\.$", re.MULTILINE)
NAMED = re.compile(r"(lemma|theorem|remark|figure)s?((?:_(?:\d(?!\d)|and))+)")
TESTED = re.compile(rf"def test_\w*{NAMED.pattern}|{'|'.join(FIGURES.values())}")
INTRODUCTION = """# The paper, statement by statement

Each lemma, theorem, remark and figure of Gentile and Orabona's paper, where it is in the code,
and the tests that show it. This page is made from marks in docstrings and from the tests' names.
Kinds are numbered one by one, as in [symbols](../symbols.md); "Figure 2" is the algorithm, by its
label in the paper's source. Lemmas 5 and 6 and the three theorems are [not as
printed](../concepts/differences.md#misprints-and-what-we-read-instead).

| the paper | states | in the code | shown by |
|---|---|---|---|
"""


def pages() -> dict[str, str | Path]:
    """The page with the table."""
    code, tests = places(), shown_by()
    lines = [
        f"| {name} | {says} | {_cell(code[name])} | {_cell(tests[name])} |"
        for name, says in STATEMENTS.items()
    ]
    return {"reference/paper.md": INTRODUCTION + "\n".join(lines) + "\n"}


def missing(source: Path | None = None, tests: Path | None = None) -> list[str]:
    """The statements that no docstring marks, and those that no test shows, in words."""
    code = places(*([source] if source else []))
    shown = shown_by(*([tests] if tests else []))
    unmarked = [f"{name}: no docstring has it after 'Paper:'" for name in code if not code[name]]
    return unmarked + [f"{name}: no test has it in its name" for name in shown if not shown[name]]


def places(source: Path = ROOT / "src" / "semibandit") -> dict[str, list[str]]:
    """Where each statement is in the code: the docstrings that mark it, as file and name."""
    found: dict[str, list[str]] = {name: [] for name in STATEMENTS}
    for path, name, node in _definitions(source, MARK):
        for mark in MARK.findall(ast.get_docstring(node) or ""):
            for statement in mark.split("; "):
                if statement not in found:
                    raise ValueError(f"{path}: the paper has no {statement!r} ({name or 'module'})")
                found[statement].append(f"{path.relative_to(source)}{f': {name}' if name else ''}")
    return found


def shown_by(tests: Path = ROOT / "tests") -> dict[str, list[str]]:
    """Which tests show each statement, as file and name."""
    found: dict[str, list[str]] = {name: [] for name in STATEMENTS}
    for path, name, node in _definitions(tests, TESTED):
        if not name.startswith("test_"):
            continue
        named = {
            f"{kind.capitalize()} {number}"
            for kind, numbers in NAMED.findall(name)
            for number in re.findall(r"\d", numbers)
        }
        if "paper" in path.relative_to(tests).parts:
            text = ast.unparse(node).lower()
            named |= {figure for figure, word in FIGURES.items() if word in text}
        for statement in named & found.keys():
            found[statement].append(f"{path.relative_to(tests)}: {name}")
    return found


Definition = ast.Module | ast.ClassDef | ast.FunctionDef


def _definitions(folder: Path, needed: re.Pattern[str]) -> Iterator[tuple[Path, str, Definition]]:
    """Every module, class, function and method of the files that match, with file and name."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not needed.search(text):
            continue
        module = ast.parse(text)
        yield path, "", module
        for node in module.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield path, node.name, node
                for inner in node.body if isinstance(node, ast.ClassDef) else []:
                    if isinstance(inner, ast.FunctionDef):
                        yield path, f"{node.name}.{inner.name}", inner


def _cell(entries: list[str]) -> str:
    return "<br>".join(f"`{entry}`" for entry in entries)
