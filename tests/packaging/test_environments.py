"""The environments that tests run in: constraints.txt, the lowest versions, the Pythons."""

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.environments.constraints import format_constraints
from tools.environments.lowest import lowest_versions, tool_versions
from tools.environments.pythons import find_pythons

ROOT = Path(__file__).parents[2]
PIN = re.compile(r'[a-z0-9-]+==[a-z0-9.+]+(; python_version == "3\.\d+")?')


def pinned():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_constraints_are_names_and_versions_in_order_and_nothing_else():
    lines = pinned()
    assert all(PIN.fullmatch(line) for line in lines)
    assert lines == sorted(lines, key=lambda line: (line.partition("=")[0], line))
    assert not any(line.startswith("semibandit") for line in lines)


def test_every_requirement_has_a_version_that_fits():
    pins = {}
    for pin in map(Requirement, pinned()):
        if pin.marker is None or pin.marker.evaluate():
            pins[pin.name] = next(iter(pin.specifier)).version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lists = [project["dependencies"], *(extras[name] for name in extras if name != "gpu")]
    for requirement in map(Requirement, chain(*lists)):
        name = canonicalize_name(requirement.name)
        if name == "semibandit" or (requirement.marker and not requirement.marker.evaluate()):
            continue
        assert name in pins, f"{requirement} is not in constraints.txt: make constraints"
        assert requirement.specifier.contains(pins[name]), f"{requirement}: make constraints"
    assert {"pip", "setuptools"} <= set(pins)


def test_pythons_that_need_something_else_have_a_marker():
    found = {(3, 11): {"a": "1", "b": "1", "c": "2"}, (3, 12): {"a": "1", "b": "2"}}
    assert format_constraints(found).splitlines()[2:] == [
        "a==1",
        'b==1; python_version == "3.11"',
        'b==2; python_version == "3.12"',
        'c==2; python_version == "3.11"',
    ]


def test_the_lowest_version_is_the_highest_lower_bound(tmp_path):
    pyproject = tmp_path / "pyproject.toml"
    text = '[project]\nname = "semibandit"\ndependencies = ["a>=1.2", "B_c>=2,<3"]\n'
    text += "[project.optional-dependencies]\nx = ['semibandit[y]', 'a>=1.10; os_name == \"z\"']\n"
    pyproject.write_text(text + "dev = ['d']\n", encoding="utf-8")
    lowest = {name: str(version) for name, version in lowest_versions(pyproject).items()}
    assert lowest == {"a": "1.10", "b-c": "2"}
    pyproject.write_text(text + "y = ['d<2']\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"d<2 in pyproject.toml has no lower bound"):
        lowest_versions(pyproject)
    assert "numpy" in lowest_versions(ROOT / "pyproject.toml")


def test_each_version_of_python_is_found_once(tmp_path, monkeypatch):
    place(tmp_path / "bin" / "python3.12", "3 12")
    place(tmp_path / "bin" / "python3.10", "3 10")  # too old
    place(tmp_path / "bin" / "python3.13", "3 12")  # it is not what it is called
    place(tmp_path / "bin" / "python3.12-config", "3 12")
    place(tmp_path / "pyenv" / "shims" / "python3.11", "3 11")  # pyenv's choice may be another
    for version in ("3.11.9", "3.11.10", "3.12.1"):
        minor = version.rpartition(".")[0]
        python = tmp_path / "pyenv" / "versions" / version / "bin" / f"python{minor}"
        place(python, minor.replace(".", " "))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{tmp_path}/pyenv/shims")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert find_pythons() == {
        (3, 11): tmp_path / "pyenv" / "versions" / "3.11.10" / "bin" / "python3.11",
        (3, 12): tmp_path / "bin" / "python3.12",
    }


def place(path, prints):
    """A program that prints this."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nprint({prints!r})\n", encoding="utf-8")
    path.chmod(0o755)


def test_what_tests_need_besides_is_as_new_as_constraints_have_it():
    found = tool_versions(ROOT / "pyproject.toml", ROOT / "constraints.txt")
    pins = dict(line.partition(";")[0].split("==") for line in pinned())
    assert {"pytest", "hypothesis", "schemathesis"} <= found.keys()
    assert {name: str(version) for name, version in found.items()} == {
        name: pins[name] for name in found
    }
    assert not found.keys() & lowest_versions(ROOT / "pyproject.toml").keys()
