"""The lowest version of each dependency that pyproject.toml allows, as constraints."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

__all__ = ["lowest_versions", "tool_versions"]

TOOLS = ("test",)  # they need not be old
NOT_USED = (*TOOLS, "dev", "docs", "peers", "gpu")  # torch is tested by `make test-gpu`


def lowest_versions(pyproject: Path) -> dict[str, Version]:
    """The lowest version of each package that the library or an extra needs, by name.

    A package that several extras need has the highest of their lower bounds, as an environment with
    all of them would.

    Raises
    ------
    SystemExit
        If a requirement has no lower bound: nobody could say what it was tested with.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"]]
    lists += [v for extra, v in project["optional-dependencies"].items() if extra not in NOT_USED]
    found: dict[str, Version] = {}
    for requirement in _requirements(lists, canonicalize_name(project["name"])):
        name, least = canonicalize_name(requirement.name), _lower_bound(requirement)
        found[name] = max(least, found.get(name, least))
    return dict(sorted(found.items()))


def tool_versions(pyproject: Path, constraints: Path) -> dict[str, Version]:
    """The versions in constraints.txt of the packages that the tests need besides, by name."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lists = [project["optional-dependencies"][extra] for extra in TOOLS]
    needed = _requirements(lists, canonicalize_name(project["name"]))
    tools = {canonicalize_name(one.name) for one in needed} - lowest_versions(pyproject).keys()
    lines = constraints.read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    return {pin.name: _lower_bound(pin) for pin in pins if pin.name in tools}


def _requirements(lists: Iterable[list[str]], own: str) -> Iterable[Requirement]:
    for texts in lists:
        for requirement in map(Requirement, texts):
            if canonicalize_name(requirement.name) != own:  # semibandit[fast] is in another list
                yield requirement


def _lower_bound(requirement: Requirement) -> Version:
    for part in requirement.specifier:
        if part.operator in (">=", "==", "~="):
            return Version(part.version)
    raise SystemExit(
        f"{requirement} in pyproject.toml has no lower bound: write {requirement}>=..."
    )
