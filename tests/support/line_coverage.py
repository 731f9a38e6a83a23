"""Which lines of the library the tests run, measured at almost no cost.

Python 3.11 has no `sys.monitoring`, and a trace function makes the suite half as slow again. Here
an import hook puts `__seen__[line] = True` before every statement of a module, which costs some
25 nanoseconds per statement, and nothing outside the library. Statements are counted as coverage.py
counts them, by their first line. `[tool.line_coverage]` in pyproject.toml says what is left out.

A process that imports this module and calls `start` measures if LINE_COVERAGE names a folder, and
writes there what it has seen when it ends. As a program it adds up a folder's files:

    LINE_COVERAGE=/tmp/lines pytest && python tests/support/line_coverage.py /tmp/lines
"""

import ast
import atexit
import json
import os
import sys
import time
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src"
BLOCKS = ("body", "orelse", "finalbody")

seen: dict[str, dict[int, bool]] = {}  # by file, as seen from LIBRARY


def start() -> None:
    """Measure this process and its forks, if LINE_COVERAGE names a folder."""
    folder = os.environ.get("LINE_COVERAGE")
    if folder:
        if "semibandit" in sys.modules:
            raise RuntimeError("semibandit was imported before its lines could be measured")
        os.environ["LINE_COVERAGE"] = str(Path(folder).absolute())  # others may begin elsewhere
        sys.meta_path.insert(0, Finder())
        atexit.register(write, Path(folder).absolute())


def write(folder: Path) -> None:
    """Write which lines this process has run to a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = {name: sorted(found) for name, found in seen.items()}
    (folder / f"{os.getpid()}-{time.time_ns()}.json").write_text(json.dumps(lines))


class Finder(MetaPathFinder):
    """Finds the library's modules, and has them loaded with probes."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != "semibandit":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            name = os.path.relpath(spec.origin, LIBRARY)
            if not left_out(name):
                spec.loader = Loader(fullname, spec.origin, name)
        return spec


class Loader(SourceFileLoader):
    """Loads a module whose statements record that they were run."""

    def __init__(self, fullname, path, name):
        super().__init__(fullname, path)
        self.file = name

    def get_code(self, fullname):
        source = self.get_data(self.path)
        return compile(with_probes(source, self.file), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__seen__ = seen.setdefault(self.file, {})
        super().exec_module(module)


def with_probes(source: str | bytes, name: str) -> ast.Module:
    """The module with a probe before every statement."""
    tree = ast.parse(source)
    for block in list(blocks(tree, name)):
        with_them = []
        for statement in block:
            if counts(statement):
                with_them.append(probe(statement))
            with_them.append(statement)
        block[:] = with_them
    return tree


def probe(statement: ast.stmt) -> ast.stmt:
    """The statement `__seen__[line] = True`, in the place of this one."""
    target = ast.Subscript(
        ast.Name("__seen__", ast.Load()), ast.Constant(statement.lineno), ast.Store()
    )
    node = ast.copy_location(ast.Assign([target], ast.Constant(True)), statement)
    return ast.fix_missing_locations(node)


def statements(source: str | bytes, name: str) -> set[int]:
    """The lines in which a statement begins."""
    found = blocks(ast.parse(source), name)
    return {statement.lineno for block in found for statement in block if counts(statement)}


def blocks(node: ast.AST, name: str) -> Iterator[list[ast.stmt]]:
    """All lists of statements in a module, except those that are left out."""
    for field in BLOCKS:
        block = getattr(node, field, None)
        if not isinstance(block, list):  # the body of a lambda is an expression
            continue
        yield block
        for statement in block:
            if not is_compiled(statement, name) and not is_for_type_checkers(statement):
                yield from blocks(statement, name)
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from blocks(part, name)


def counts(statement: ast.stmt) -> bool:
    """Whether a statement does something; declarations, docstrings and `...` do not."""
    if isinstance(statement, ast.Global | ast.Nonlocal):
        return False
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return False
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def is_compiled(statement: ast.stmt, name: str) -> bool:
    """Whether it is a function that numba compiles: it runs outside of Python."""
    if not isinstance(statement, ast.FunctionDef):
        return False
    decorators = {ast.unparse(one).partition("(")[0] for one in statement.decorator_list}
    compiled = f"{name}:{statement.name}" in settings()["compiled_functions"]
    return compiled or bool(decorators & set(settings()["compiled_by"]))


def is_for_type_checkers(statement: ast.stmt) -> bool:
    """Whether it is `if TYPE_CHECKING:`, which no program runs."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"


def left_out(name: str) -> bool:
    """Whether the file is one that is not measured."""
    return any(fnmatch(name, pattern) for pattern in settings()["files_left_out"])


@cache
def settings() -> dict:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["line_coverage"]


def missed(folder: Path) -> tuple[dict[str, list[int]], int]:
    """The lines of each file that no process has run, and how many lines there are in all."""
    run: dict[str, set[int]] = {}
    for file in folder.glob("*.json"):
        for name, lines in json.loads(file.read_text()).items():
            run.setdefault(name, set()).update(lines)
    found, total = {}, 0
    for path in sorted((LIBRARY / "semibandit").rglob("*.py")):
        name = os.path.relpath(path, LIBRARY)
        if not left_out(name):
            lines = statements(path.read_bytes(), name)
            total += len(lines)
            if left := lines - run.get(name, set()):
                found[name] = sorted(left)
    return found, total


def ranges(lines: list[int]) -> str:
    """The lines in short: neighbours among `lines` as 3-5."""
    groups: list[list[int]] = []
    for line in lines:
        if groups and line == groups[-1][-1] + 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    return ", ".join(f"{g[0]}-{g[-1]}" if len(g) > 1 else str(g[0]) for g in groups)


def report(folder: Path, least: float) -> int:
    """Print what no test has run; 1 if too little was run, otherwise 0."""
    found, total = missed(folder)
    not_run = sum(map(len, found.values()))
    percent = 100.0 * (1.0 - not_run / total)
    print(f"Lines of the library that no test has run ({not_run} of {total}):")
    for name, lines in found.items():
        print(f"  {name}: {ranges(lines)}")
    verdict = "at least" if percent >= least else "TOO FEW, must be at least"
    print(f"Tests run {percent:.2f}% of the library's lines ({verdict} {least:g}%).")
    return int(percent < least)


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1]), settings()["least"]))
