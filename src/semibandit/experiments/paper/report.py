"""The report: one HTML file that needs nothing else; screen, phone, paper, light and dark."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Report", "Table"]

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --paper: #ffffff;
  --line: #d5dae0; --good: #0b6b3a; --bad: #a33a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --soft: #9aa5b1;
  --paper: #14181d; --line: #333b45; --good: #5fd39a; --bad: #ff9d66; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { margin-top: 2.2rem; font-size: 1.25rem; }
p, li { max-width: 46rem; } .soft, figcaption, caption { color: var(--soft); }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { width: 100%; min-width: 34rem;
  height: auto; color: var(--ink); } figcaption { font-size: 0.9rem; max-width: 46rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 0.8rem 0;
  font-size: 0.92rem; } caption { caption-side: bottom; text-align: left; font-size: 0.9rem;
  padding-top: 0.3rem; } th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line);
  text-align: right; vertical-align: top; } th:first-child, td:first-child, td.text, th.text {
  text-align: left; } td.text { min-width: 6rem; }
  .yes { color: var(--good); } .no { color: var(--bad); }
code, pre { font: 0.88rem/1.4 ui-monospace, monospace; } pre { overflow-x: auto; padding: 0.6rem;
  border: 1px solid var(--line); } nav a { margin-right: 1rem; }
a { color: inherit; } details { margin: 0.6rem 0; }
@media print { body { max-width: none; font-size: 10pt; } nav { display: none; }
  figure, table, tr { break-inside: avoid; } figure, .wide { overflow: visible; }
  figure svg { min-width: 0; } details > * { display: block; } }
"""


@dataclass(frozen=True)
class Table:
    """Rows under a head; the columns named in `text` are words, the others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    text: Sequence[int] = (0,)
    marks: Sequence[bool | None] = ()  # of a row: True is good, False is not, None is neither

    def html(self) -> str:
        """The table as HTML."""

        def cells(tag: str, row: Sequence[str]) -> str:
            return "".join(
                f"<{tag}{' class=text' if i in self.text else ''}>{html.escape(cell)}</{tag}>"
                for i, cell in enumerate(row)
            )

        body = []
        for number, row in enumerate(self.rows):
            mark = self.marks[number] if self.marks else None
            kind = "" if mark is None else f" class={'yes' if mark else 'no'}"
            body.append(f"<tr{kind}>{cells('td', row)}</tr>")
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return (
            f"<div class=wide tabindex=0><table>{caption}<thead><tr>{cells('th', self.head)}</tr>"
            f"</thead><tbody>{''.join(body)}</tbody></table></div>"
        )


@dataclass
class Report:
    """Sections in the order in which they are written."""

    title: str
    parts: list[str] = field(default_factory=list)
    sections: list[tuple[str, str]] = field(default_factory=list)

    def section(self, title: str) -> None:
        """A new section."""
        name = f"s{len(self.sections) + 1}"
        self.sections.append((name, title))
        self.parts.append(f'<h2 id="{name}">{html.escape(title)}</h2>')

    def text(self, words: str) -> None:
        """A paragraph."""
        self.parts.append(f"<p>{html.escape(words)}</p>")

    def code(self, words: str) -> None:
        """Text as it is."""
        self.parts.append(f"<pre tabindex=0>{html.escape(words)}</pre>")

    def table(self, table: Table) -> None:
        """A table."""
        self.parts.append(table.html())

    def figure(self, svg: str, caption: str) -> None:
        """A figure, and what is to be seen in it."""
        label = html.escape(caption, quote=True)
        drawn = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
        self.parts.append(
            f"<figure>{drawn}<figcaption>{html.escape(caption)}</figcaption></figure>"
        )

    def html(self) -> str:
        """The whole page."""
        links = "".join(
            f'<a href="#{name}">{html.escape(title)}</a>' for name, title in self.sections
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<title>{html.escape(self.title)}</title><style>{CSS}</style></head><body>"
            f"<h1>{html.escape(self.title)}</h1><nav>{links}</nav>\n"
            + "\n".join(self.parts)
            + "\n</body></html>\n"
        )
