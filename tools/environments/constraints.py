"""constraints.txt: a version for every package of the environment that tests run in.

One version is used on every Python if there is one; packages that only some Pythons need, or that
they need in another version, have a marker.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.environments.pythons import find_pythons

__all__ = ["format_constraints", "resolve_all"]

PythonVersion = tuple[int, int]
Pins = dict[str, str]  # the version of each package

EXTRAS = ("dev", "docs")
BUILD = ("pip", "setuptools>=77")  # what sets the environment up
OWN = "semibandit"
HEAD = """\
# Every version in the environment of `make run` and `make test`, for Python {pythons}.
# `make constraints` writes this file anew, with the newest versions that pyproject.toml allows.
"""


def resolve_all(root: Path) -> dict[PythonVersion, Pins]:
    """What pip would install on each Python of this machine.

    The oldest Python decides: its versions are asked for on the others, and only if that cannot be,
    another Python has versions of its own.
    """
    found: dict[PythonVersion, Pins] = {}
    first: Pins = {}
    for version, python in find_pythons().items():
        print(f"resolving for Python {_text(version)}", file=sys.stderr)
        pins = _resolve(root, python, first) if first else None
        found[version] = pins or _resolve(root, python, {}) or sys.exit("pip found no solution")
        first = first or found[version]
    return found


def format_constraints(found: dict[PythonVersion, Pins]) -> str:
    """The text of constraints.txt.

    Examples
    --------
    >>> print(format_constraints({(3, 11): {"a": "1", "b": "1"}, (3, 12): {"a": "1", "b": "2"}}))
    # Every version in the environment of `make run` and `make test`, for Python 3.11, 3.12.
    # `make constraints` writes this file anew, with the newest versions that pyproject.toml allows.
    a==1
    b==1; python_version == "3.11"
    b==2; python_version == "3.12"
    <BLANKLINE>
    """
    lines = []
    for name in sorted({name for pins in found.values() for name in pins}):
        versions = [pins.get(name) for pins in found.values()]
        if len(set(versions)) == 1:
            lines.append(f"{name}=={versions[0]}")
            continue
        for version, pins in found.items():
            if name in pins:
                lines.append(f'{name}=={pins[name]}; python_version == "{_text(version)}"')
    return HEAD.format(pythons=", ".join(map(_text, found))) + "".join(f"{one}\n" for one in lines)


def _resolve(root: Path, python: Path, pins: Pins) -> Pins | None:
    """What pip would install with these versions, where it needs them; None if it cannot be."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder, "venv")
        subprocess.run([python, "-m", "venv", new], check=True)
        python = new / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--upgrade", "pip"], check=True)
        asked = Path(folder, "constraints.txt")
        asked.write_text("".join(f"{a}=={b}\n" for a, b in pins.items()), encoding="utf-8")
        report = Path(folder, "report.json")
        extras = ",".join(_existing_extras(root))
        what = [f"{OWN}[{extras}] @ {root.resolve().as_uri()}", *BUILD]
        options = ["--dry-run", "--ignore-installed", "--report", report, "--constraint", asked]
        run = subprocess.run([*pip, "install", *options, *what])
        return _read_report(report) if run.returncode == 0 else None


def _existing_extras(root: Path) -> list[str]:
    project = tomllib.loads(Path(root, "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [extra for extra in EXTRAS if extra in project["optional-dependencies"]]


def _read_report(report: Path) -> Pins:
    """Names and versions alone: where they came from is this machine's."""
    content = json.loads(report.read_text(encoding="utf-8"))
    packages = [one["metadata"] for one in content["install"]]
    pins = {_canonical(one["name"]): one["version"] for one in packages}
    return {name: version for name, version in sorted(pins.items()) if name != OWN}


def _canonical(name: str) -> str:
    """As indexes spell it. This tool must run before anything is installed, so nothing helps it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _text(version: PythonVersion) -> str:
    return ".".join(map(str, version))
