"""What MkDocs calls: adds the pages that are made, and their entries in the navigation.

Every module beside this one makes pages from one kind of source. `pages()` returns what they are:
for each path in the site its Markdown, or the file that is copied there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # `mkdocs` as a command does not have the working directory on it

from tools.site import (  # noqa: E402
    benchmark_pages,
    command_line,
    gallery,
    http_reference,
    python_reference,
    root_pages,
    statements,
)

MAKERS = (
    gallery, command_line, http_reference, python_reference, benchmark_pages, root_pages,
    statements,
)  # fmt: skip
FILLED = {"gallery/": gallery.navigation, "benchmarks/": benchmark_pages.navigation}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill in the entries of the navigation that stand for a folder of pages."""
    config.nav = _filled(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and their pictures."""
    for maker in MAKERS:
        for path, content in maker.pages().items():
            if isinstance(content, Path):
                files.append(File.generated(config, path, abs_src_path=str(content)))
            else:
                files.append(File.generated(config, path, content=content))
    return files


def _filled(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_filled(one) for one in entry]
    if isinstance(entry, dict):
        return {title: _filled(below) for title, below in entry.items()}
    return FILLED[entry]() if entry in FILLED else entry
