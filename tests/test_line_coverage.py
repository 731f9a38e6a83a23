"""The lines that probes see are those that Python's own trace function sees."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import line_coverage

SOURCE = '''
"""A module with statements of every kind."""
from __future__ import annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import decimal


class Kind:
    """Its body counts."""

    size: int = 3

    def rare(self):
        return self.size


def walk(numbers):
    """Loops, branches and what is left early."""
    found = []
    for n in numbers:
        if n < 0:
            continue
        elif n == 0:
            found.append(
                "zero"
            )
        else:
            match n:
                case 1:
                    found.append("one")
                case 99:
                    found.append("never")
    else:
        found.append("end")
    while found:
        break
    return found


def fails(key):
    try:
        value = {}[key]
        return value
    except KeyError as why:
        note = str(why)
    except ValueError:
        note = "never"
    finally:
        done = True
    with open(__file__) as file:
        file.readline()
    raise RuntimeError(note, done)


@njit(cache=True)
def compiled(x):
    return x + 1


async def unused():
    await nothing
    return (lambda: 1)()


async def used():
    def inner():
        nonlocal level
        level += 1

    level = 1
    inner()
    return level


walk([-1, 0, 1, 2])
compiled(1)
try:
    fails("key")
except RuntimeError:
    pass
try:
    used().send(None)
except StopIteration as stop:
    answer = stop.value
'''


def njit(**_):
    return lambda function: function


def traced(code, space):
    """The lines that a trace function sees."""
    lines = set()

    def trace(frame, event, _):
        if frame.f_code.co_filename == code.co_filename:
            lines.add(frame.f_lineno)
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(code, space)
    finally:
        sys.settrace(before)
    return lines


def test_probes_see_what_a_trace_function_sees(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    space = {"njit": njit, "__file__": str(path), "__name__": "module"}
    seen = {}
    probed = line_coverage.with_probes(SOURCE, "module.py")
    exec(compile(probed, str(path), "exec"), space | {"__seen__": seen})
    plain = traced(compile(SOURCE, str(path), "exec"), dict(space))
    lines = line_coverage.statements(SOURCE, "module.py")
    assert set(seen) == plain & lines
    text = SOURCE.splitlines()
    missed = [text[line - 1].strip() for line in sorted(lines - plain)]
    assert missed == [
        "return self.size",
        'found.append("never")',
        "return value",
        'note = "never"',
        "await nothing",
        "return (lambda: 1)()",
    ]


def test_compiled_functions_and_imports_for_type_checkers_are_not_counted():
    text = SOURCE.splitlines()
    lines = {text[line - 1].strip() for line in line_coverage.statements(SOURCE, "module.py")}
    assert "import decimal" not in lines
    assert "return x + 1" not in lines
    assert "def compiled(x):" in lines
    assert '"""Its body counts."""' not in lines


def test_a_library_is_measured_and_what_is_missed_is_listed(tmp_path, monkeypatch, capsys):
    """A process writes what it has run; the report adds up all processes."""
    package = tmp_path / "src" / "semibandit"
    (package / "models" / "gpu").mkdir(parents=True)
    (package / "one.py").write_text(
        textwrap.dedent("""\
        def f(x):
            if x:
                y = 1
                return y
            return 2
        """)
    )
    (package / "models" / "gpu" / "full.py").write_text("import torch\n")
    monkeypatch.setattr(line_coverage, "LIBRARY", tmp_path / "src")
    monkeypatch.setattr(line_coverage, "seen", {"semibandit/one.py": {1: True, 2: True}})
    line_coverage.write(tmp_path / "lines")
    assert line_coverage.report(tmp_path / "lines", 97.0) == 1
    printed = capsys.readouterr().out
    assert "(3 of 5)" in printed
    assert "semibandit/one.py: 3-5" in printed
    assert "40.00%" in printed
    assert "gpu" not in printed
    (tmp_path / "lines" / "other.json").write_text(json.dumps({"semibandit/one.py": [3, 4, 5]}))
    assert line_coverage.report(tmp_path / "lines", 97.0) == 0
    assert "100.00%" in capsys.readouterr().out


def test_processes_that_are_begun_elsewhere_write_to_the_same_folder(tmp_path):
    code = (
        "import os, subprocess, sys, line_coverage\n"
        "line_coverage.start()\n"
        "os.mkdir('elsewhere')\n"
        "again = 'import line_coverage; line_coverage.start()'\n"
        "subprocess.run([sys.executable, '-c', again], cwd='elsewhere', check=True)\n"
    )
    own = {"LINE_COVERAGE": "lines", "PYTHONPATH": str(Path(line_coverage.__file__).parent)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ | own, check=True)
    assert len(list((tmp_path / "lines").iterdir())) == 2


def test_a_process_measures_from_its_first_import_on(tmp_path, monkeypatch):
    monkeypatch.setenv("LINE_COVERAGE", str(tmp_path))
    finder = line_coverage.Finder()
    loader = finder.find_spec("semibandit.theory.slate", sys.modules["semibandit.theory"].__path__)
    assert isinstance(loader.loader, line_coverage.Loader)
    assert finder.find_spec("numpy") is None
    module = type(sys)("semibandit.theory.slate")
    monkeypatch.setattr(line_coverage, "seen", {})
    loader.loader.exec_module(module)
    assert "probe" not in loader.loader.get_source("semibandit.theory.slate")  # as it is
    (lines,) = line_coverage.seen.values()
    assert lines  # definitions have run
    assert set(lines) < line_coverage.statements(
        loader.loader.get_data(loader.origin), "semibandit/theory/slate.py"
    )
