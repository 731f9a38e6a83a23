"""The benchmarks: an overview, and a page for each file of benchmarks/results."""

from __future__ import annotations

from pathlib import Path

from tools.site.links import rewrite_links

__all__ = ["navigation", "pages"]

FOLDER = Path(__file__).parents[2] / "benchmarks" / "results"
MEASURES = {  # in the order of the navigation: title, command, what it measures
    "quality": (
        "How well it learns",
        "make bench-quality",
        "losses on nine data sets and in a shop, beside other libraries at equal feedback",
    ),
    "results": (
        "How fast it is",
        "make bench",
        "the time of a round, beside plain NumPy and other libraries",
    ),
    "service": (
        "The service under load",
        "make bench-service",
        "how many requests a second the service answers, and how soon",
    ),
    "soak": (
        "The service over time",
        "make bench-soak",
        "ten minutes and a million events: memory, disk and delays",
    ),
    "gpu": (
        "Full matrices on a GPU",
        "make bench-gpu",
        "ranking and learning of up to four million labels",
    ),
    "paper": (
        "The paper's experiments",
        "make bench-paper",
        "each statement of the paper's section 5 against many orders of the data",
    ),
    "regret": (
        "Regret against the bounds",
        "make bench-regret",
        "whether a bound of the theorems is broken in 200 worlds drawn at random",
    ),
}
INTRODUCTION = """# Benchmarks

What we measured, each on a page of its own with the machine it ran on. Every page was written by
the command beside it, so you can measure the same on your machine, in a clone of the repository.

"""


def navigation() -> list[dict[str, str]]:
    """The pages with their titles, in the order of the navigation."""
    results = [{title: f"benchmarks/{name}.md"} for name, (title, *_) in MEASURES.items()]
    return [{"What is measured": "benchmarks.md"}, *results]


def pages() -> dict[str, str | Path]:
    """The overview, the results, and their pictures."""
    found: dict[str, str | Path] = {"benchmarks.md": overview()}
    for path in sorted(FOLDER.glob("*.md")):
        page = f"benchmarks/{path.name}"
        _, text = path.read_text(encoding="utf-8").split("\n", 1)  # its title is ours
        text = f"# {MEASURES[path.stem][0]}\n{text}"
        found[page] = rewrite_links(text, f"benchmarks/results/{path.name}", page)
    for path in (*FOLDER.glob("*.svg"), *FOLDER.glob("*.png")):
        found[f"benchmarks/{path.name}"] = path
    return found


def overview() -> str:
    """What is measured, by which command, and where it is."""
    rows = [
        f"| [{title}](benchmarks/{name}.md) | {what} | `{command}` |\n"
        for name, (title, command, what) in MEASURES.items()
    ]
    return INTRODUCTION + "| page | what is measured | command |\n|---|---|---|\n" + "".join(rows)
