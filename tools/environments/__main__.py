"""`python -m tools.environments`: see the package's docstring."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.environments.constraints import format_constraints, resolve_all
from tools.environments.pythons import find_pythons

ROOT = Path(__file__).parents[2]


def main(command: str) -> None:
    """Print what was asked for, or write constraints.txt."""
    if command == "pythons":
        print("\n".join(map(str, find_pythons().values())))
    elif command == "lowest":
        # the others need nothing installed
        from tools.environments.lowest import lowest_versions, tool_versions

        project = ROOT / "pyproject.toml"
        pins = lowest_versions(project) | tool_versions(project, ROOT / "constraints.txt")
        print("\n".join(f"{name}=={version}" for name, version in sorted(pins.items())))
    elif command == "constraints":
        text = format_constraints(resolve_all(ROOT))
        Path(ROOT, "constraints.txt").write_text(text, encoding="utf-8")
        print("wrote constraints.txt")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
