"""The overview of the Python reference: every name, by the page that describes it."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["pages"]

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "python"
ORDER = (
    "learners", "models", "contexts", "data", "playing", "evaluating", "theory", "client", "errors",
)  # fmt: skip
INTRODUCTION = """# Python reference

`import semibandit as sb` has all of these. Each is described on the page that its group names,
from its docstring: `help(sb.SlateUCB)` says the same.

"""
NAME = re.compile(r"^::: semibandit\.(\S+)$", re.MULTILINE)


def pages() -> dict[str, str | Path]:
    """The overview."""
    return {"reference/python.md": INTRODUCTION + "\n".join(map(group, ORDER))}


def group(name: str) -> str:
    """A page's title with a link to it, its first paragraph, and the names on it."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    title, about = text.split("\n\n")[:2]
    about = about.replace("](../", "](")  # the overview is one folder up
    names = [f"[`{found}`][semibandit.{found}]" for found in NAME.findall(text)]
    heading = title.removeprefix("# ")
    return f"## [{heading}](python/{name}.md)\n\n{about}\n\n{', '.join(names)}\n"
