"""`python -m tools.pictures [name ...]`: make the pictures of the documentation, in docs/pictures.

A module beside this one is a page's; its functions with a name in `PICTURES` draw a figure each.
"""

import importlib
import pkgutil
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from tools import pictures

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
STYLE = {
    "svg.hashsalt": "semibandit",  # the same file every time
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.figsize": (7, 3.2),
    "figure.constrained_layout.use": True,
}


def makers() -> dict:
    """Every picture's name and the function that draws it."""
    found = {}
    for module in pkgutil.iter_modules(pictures.__path__, "tools.pictures."):
        if not module.name.endswith("__main__"):
            found |= getattr(importlib.import_module(module.name), "PICTURES", {})
    return found


def make(name: str, folder: Path = FOLDER) -> Path:
    """Draw one picture and save it as an SVG file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svg"
    with mpl.rc_context(STYLE):
        figure = makers()[name]()
        figure.savefig(path, metadata={"Date": None})
        mpl.pyplot.close(figure)
    return path


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(makers()):
        print(make(name))
