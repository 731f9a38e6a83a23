"""The programs of other libraries in the pages about moving from them, and how they are run."""

import subprocess
from pathlib import Path

from pages import ROOT, blocks, check

FOLDER = ROOT / "docs" / "compared"


def program(page: Path) -> tuple[str, str]:
    """The page's task with its `py` blocks, as one program, and all that the page says it prints.

    The first `python` block is the task, which the programs before and after share.
    """
    found = blocks(page.read_text())
    task = next(block for block in found if block.kind == "python")
    before = [number for number, block in enumerate(found) if block.kind == "py"]
    code = "\n".join([task.text, *(found[number].text for number in before)])
    return code, "".join(printed.text for printed in (found[number + 1] for number in before))


def run_before(page: Path, python: str | Path, folder: Path) -> None:
    """Run the program before with this Python, and compare what it prints with the page."""
    code, shown = program(page)
    done = subprocess.run(
        [str(python), "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    check(done.stdout, shown, f"{page.relative_to(ROOT)}: the program before")
