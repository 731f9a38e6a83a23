"""The interpreters of this machine that the package can be used with."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

__all__ = ["find_pythons"]

LOWEST = (3, 11)
NAME = re.compile(r"python3\.(\d+)")


def find_pythons() -> dict[tuple[int, int], Path]:
    """One interpreter for each version from 3.11 on, the oldest version first.

    `python3.N` in a folder of $PATH comes before one of pyenv's. Those that do not start, and
    those that have no `venv`, are left out.
    """
    found: dict[tuple[int, int], Path] = {}
    for path in _candidates():
        match = NAME.fullmatch(path.name)
        version = (3, int(match[1])) if match else (0, 0)
        if version >= LOWEST and version not in found and _starts(path, version):
            found[version] = path
    return dict(sorted(found.items()))


def _candidates() -> Iterable[Path]:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and "shims" not in Path(folder).parts:  # pyenv's are not what they are called
            yield from sorted(Path(folder).glob("python3.*"))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin/python3.*"), key=_patch, reverse=True)


def _patch(path: Path) -> list[int]:
    """The numbers of the version in a path of pyenv: the newest is tried first."""
    return [int(number) for number in re.findall(r"\d+", path.parts[-3])]


def _starts(path: Path, version: tuple[int, int]) -> bool:
    code = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    try:
        run = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=60)
    except OSError:
        return False
    return run.returncode == 0 and run.stdout.split() == [str(number) for number in version]
