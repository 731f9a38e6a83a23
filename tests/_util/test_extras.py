"""An optional package that is missing is named, with how to install it."""

import sys

import pytest

import semibandit as sb
from semibandit._util.extras import import_extra
from semibandit.errors import MissingExtra


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"a plot needs matplotlib: .*'semibandit\[plot\]'") as e:
        import_extra("matplotlib", "plot", "a plot")
    assert isinstance(e.value, ImportError)
    assert e.value.name == "matplotlib"
    assert isinstance(e.value, sb.SemibanditError)
