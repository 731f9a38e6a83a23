"""Where functions that numba compiles are: `make` has them compiled anew if such a file changes."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_make_knows_every_file_of_compiled_functions():
    makefile = (ROOT / "Makefile").read_text()
    patterns = re.search(r"^COMPILED := \$\(wildcard ([^)]*)\)", makefile, re.MULTILINE)[1]
    known = {path for one in patterns.replace("\\\n", " ").split() for path in ROOT.glob(one)}
    using = {
        path
        for path in (ROOT / "src").rglob("*.py")
        if re.search(r"^(from|import) numba", path.read_text(), re.MULTILINE)
    }
    assert len(using) > 9
    assert using <= known
