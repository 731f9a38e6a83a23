"""The picture of the tutorial: the page's own code draws it."""

import contextlib
import io
import re
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


def learning() -> Figure:
    """Run the page's blocks up to the one that makes a figure, and return that figure."""
    space: dict = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),  # the page writes files
        contextlib.redirect_stdout(io.StringIO()),
    ):
        for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.S | re.M):
            exec(block, space)
            if "figure" in space:
                return space["figure"]
    raise LookupError(f"no block of {PAGE.name} makes a figure")


PICTURES = {"tutorial-learning": learning}
