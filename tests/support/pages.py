"""Pages of the documentation, run as a reader would run them.

Blocks marked `python` run from the top of a page to its end in one namespace. A block marked `text`
right after one is what it prints. In a block marked `console`, lines with `$ ` are commands and the
lines below them their output, and every command succeeds. Words must be equal; numbers may differ
in the last digit or by 2%, because sums of floats do on other machines.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
NEAR = 0.02  # relative


@dataclass
class Block:
    """A fenced block: what kind it is, its text, and the line of the page it begins in."""

    kind: str
    text: str
    line: int
    follows: bool  # nothing but blank lines between the block before and this one


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    found, end = [], 0
    for match in FENCE.finditer(text):
        indent, kind, body = match.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        between = text[end : match.start()]
        found.append(Block(kind, body, text.count("\n", 0, match.start()) + 1, not between.strip()))
        end = match.end()
    return found


def pages() -> list[Path]:
    """Every page that has something to run."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if {"python", "console"} & kinds(page)]


def kinds(page: Path) -> set[str]:
    """The kinds of blocks in a page."""
    return {block.kind for block in blocks(page.read_text())}


def run_page(page: Path, folder: Path) -> None:
    """Run all of a page in this folder, and compare what it prints with what it shows."""
    space: dict = {"__name__": "__main__"}
    printed = ""
    found = blocks(page.read_text())
    for number, block in enumerate(found):
        place = f"{page.relative_to(ROOT)}, line {block.line}"
        if block.kind == "python":
            # as many lines above it as in the page: a traceback then shows the page's own line
            code = compile("\n" * block.line + block.text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, space)
            printed = out.getvalue()
        elif block.kind == "console":
            run_console(block, folder, place)
        elif (
            block.kind == "text" and block.follows and number and found[number - 1].kind == "python"
        ):
            check(printed, block.text, place)


def run_console(block: Block, folder: Path, place: str) -> None:
    """Run each command of a block and compare its output."""
    for command, shown in commands(block.text):
        words = shlex.split(command)
        if words[0] == "semibandit":
            words = [sys.executable, "-m", *words]
        elif words[0] == "python":
            words[0] = sys.executable
        env = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
        done = subprocess.run(
            words,
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        check(done.stdout, shown, f"{place}: {command}")
        assert done.returncode == 0, f"{place}: {command}\nexits with {done.returncode}"


def commands(text: str) -> list[tuple[str, str]]:
    """Pairs of a command and its output."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"a console block begins with '$ ', not with {parts[0]!r}")
    found = []
    for part in parts[1:]:
        while "\\\n" in part.split("\n", 1)[0] + "\n":
            part = part.replace("\\\n", " ", 1)
        command, _, shown = part.partition("\n")
        found.append((command, shown))
    return found


def check(printed: str, shown: str, place: str) -> None:
    """Raise if what was printed is not what the page shows; `...` alone in a line skips some."""
    got, want = tidy(printed), tidy(shown)
    if not agree(got, want):
        raise AssertionError(f"{place}\n--- the page shows\n{want}\n--- it prints\n{got}")


def tidy(text: str) -> str:
    """Without spaces at the ends of lines, and without blank lines around."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def agree(got: str, want: str) -> bool:
    """Whether two outputs have the same words, and numbers that are near each other."""
    if "\n...\n" in f"\n{want}\n":
        pieces = [piece.strip("\n") for piece in re.split(r"^\.\.\.$", want, flags=re.MULTILINE)]
        return agree_with_gaps(got.splitlines(), [piece.splitlines() for piece in pieces])
    if words(got) != words(want):
        return False
    return all(near(a, b) for a, b in zip(numbers(got), numbers(want), strict=True))


def agree_with_gaps(got: list[str], pieces: list[list[str]]) -> bool:
    """Whether the pieces stand in the lines in order, from the first line to the last."""
    first, *middle, last = pieces
    end = len(got) - len(last)
    if not agree("\n".join(got[: len(first)]), "\n".join(first)) or end < len(first):
        return False
    if not agree("\n".join(got[end:]), "\n".join(last)):
        return False
    at = len(first)
    for piece in middle:
        while not agree("\n".join(got[at : at + len(piece)]), "\n".join(piece)):
            at += 1
            if at + len(piece) > end:
                return False
        at += len(piece)
    return True


def words(text: str) -> str:
    """The text with a mark in place of every number, and single spaces."""
    return re.sub(r"[ \t]+", " ", NUMBER.sub("#", text))


def numbers(text: str) -> list[str]:
    """The numbers of a text, as they are written."""
    return NUMBER.findall(text)


def near(a: str, b: str) -> bool:
    """Whether two written numbers are equal but for their last digits."""
    x, y = float(a.replace(",", "")), float(b.replace(",", ""))
    decimals = len(b.partition(".")[2]) if "e" not in b else 12
    step = 10.0**-decimals if "." in b else 0.0  # whole numbers have no last digit to lose
    return abs(x - y) <= max(1.01 * step, NEAR * abs(y))
