"""Check that no room of the package reaches into another room's underscore members.

A room is a folder directly below src/semibandit (or a file there). Within a room, modules may use
each other's private members; between rooms, what is needed must be a named, documented member.
`self._x`, `cls._x` and `super()._x` are always allowed: a subclass may use what it inherits.

    python tools/check_privacy.py      lists every violation and exits with 1 if there is one
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "semibandit"


def room_of(path: Path) -> str:
    """The folder below the package that the file is in, or the file itself."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


NAMED_TUPLE = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}  # public all the same


def is_private(name: str) -> bool:
    """One leading underscore; dunder names are Python's own."""
    return name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE


def defined_in(tree: ast.AST) -> set[str]:
    """The private names that a module defines: functions, classes, attributes, variables."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return {name for name in found if is_private(name)}


def is_own(value: ast.expr) -> bool:
    """Whether it is self, cls or super()."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def violations(package: Path = PACKAGE) -> list[str]:
    """Every use of another room's private member, as "file:line: text"."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(package.rglob("*.py"))}
    owners: dict[str, set[str]] = defaultdict(set)  # private name -> rooms that define it
    for path, tree in trees.items():
        for name in defined_in(tree):
            owners[name].add(room_of(path))
    found = []
    for path, tree in trees.items():
        room, where = room_of(path), path.relative_to(package)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value):
                if owners[node.attr] and room not in owners[node.attr]:
                    found.append(f"{where}:{node.lineno}: uses {node.attr} of another room")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semibandit."):
                other = node.module.split(".")[1]
                parts = [*node.module.split(".")[2:], *(alias.name for alias in node.names)]
                if other not in (room, "_util") and any(map(is_private, parts)):
                    names = ", ".join(part for part in parts if is_private(part))
                    found.append(f"{where}:{node.lineno}: imports {names} of {other}")
    return found


if __name__ == "__main__":
    wrong = violations()
    print("\n".join(wrong) or "no room reaches into another's private members")
    sys.exit(bool(wrong))
