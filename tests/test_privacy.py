"""The check that no room reaches into another's private members finds those that do."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "check_privacy.py"


@pytest.fixture
def check():
    """The tool, as a module."""
    spec = importlib.util.spec_from_file_location("check_privacy", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def package(tmp_path, check, monkeypatch):
    """A package with a room `models`, and a function that writes a file of the room `service`."""
    (tmp_path / "models").mkdir()
    (tmp_path / "service").mkdir()
    (tmp_path / "models" / "full.py").write_text(
        "class Full:\n    def __init__(self):\n        self._inside = 1\n    def _help(self): ...\n"
    )
    monkeypatch.setattr(check, "PACKAGE", tmp_path)

    def found(code):
        (tmp_path / "service" / "engine.py").write_text(code)
        return check.violations(tmp_path)

    return found


@pytest.mark.parametrize(
    "code",
    [
        "def f(model):\n    return model._inside\n",
        "def f(model):\n    model.inner._help()\n",
        "from semibandit.models.full import _private\n",
        "from semibandit.models._hidden import Full\n",
        "from semibandit.models import _hidden\n",
    ],
)
def test_reaching_into_another_room_is_found(package, code):
    (wrong,) = package(code)
    assert wrong.startswith("service/engine.py:")


@pytest.mark.parametrize(
    "code",
    [
        "class Mine:\n    def f(self):\n        return self._inside\n",
        "class Mine:\n    def f(self):\n        return super()._help()\n",
        "class Mine:\n    _inside = 2\ndef f(mine):\n    return mine._inside\n",
        "from semibandit._util.arrays import Floats\n",
        "import os\nos._exit(0)\n",
    ],
)
def test_what_is_ones_own_may_be_used(package, code):
    assert package(code) == []


def test_this_package_keeps_to_it(check):
    assert check.violations() == []
