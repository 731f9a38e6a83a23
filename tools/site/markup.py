"""Text of programs as HTML: their help texts and descriptions hold no Markdown on purpose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["inline", "table"]


CODE = re.compile(r"`([^`]+)`|(?<![\w-])(--[a-z][\w-]*)")


def inline(text: str) -> str:
    """One line of HTML, with what stands in backticks, and options, as code.

    >>> inline("a <b> of `data list`, by --from")
    'a &lt;b&gt; of <code>data list</code>, by <code>--from</code>'
    """
    line = escape(" ".join(text.split()), quote=False)
    return CODE.sub(lambda match: f"<code>{match[1] or match[2]}</code>", line)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already.

    HTML and not Markdown, because cells contain `|`, which Markdown takes for the end of a cell.
    """
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
