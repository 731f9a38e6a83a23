"""The package as a stranger gets it: built from a copy of the sources, installed from the wheel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = (  # among them all that other tests may write or remove meanwhile
    ".git", ".venv*", "build", "dist", "site", "*.egg-info", "semibandit-*", "__pycache__",
    ".hypothesis", ".line_coverage", ".*_cache",
)  # fmt: skip


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it, by the tools of this environment."""
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*LEFT_OUT))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", source]
    run(command, folder)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def install(wheel: Path, folder: Path) -> Path:
    """The interpreter of a new environment with this wheel and what it needs, and nothing else.

    There is no compiler on the path, and nothing may be built.
    """
    run([sys.executable, "-m", "venv", "--without-pip", folder], folder.parent)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    options = ["--quiet", "--only-binary=:all:", "--no-compile", "--constraint"]
    no_compiler = {"PATH": str(python.parent)}
    run([*pip, "install", *options, ROOT / "constraints.txt", wheel], folder, no_compiler)
    return python


def run(command: list, folder: Path, variables: dict[str, str] | None = None) -> str:
    """What a command prints in this folder; if it fails, the error has its output.

    It sees neither this source tree nor data sets in the user's cache.
    """
    own = {"PYTHONPATH": "", "SEMIBANDIT_CACHE": str(folder / "no-cache")}
    own |= {"PYTHONDONTWRITEBYTECODE": ""}  # nothing is compiled twice
    env = os.environ | own | (variables or {})
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, timeout=300, encoding="utf-8"
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
