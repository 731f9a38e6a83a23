"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import typer
from tools.site.markup import inline, table

from semibandit.cli import app

__all__ = ["commands", "pages"]

INTRODUCTION = """# The command line

Every command of `semibandit`, with all of its options, as `--help` shows them. A word in angle
brackets says which kind of value an option takes; `<list[str]>` means that the option may be given
more than once.

A mistake, a full disk or a missing network is one line on stderr and exit status 2; the line says
what was wrong and what was expected. Anything else that goes wrong is a bug, with a traceback.

"""
# "[default: 1; x>=0]" at the end of a help text; a default may itself have brackets
EXTRA = re.compile(r"\s{2}\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]$")


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Every command that does something: its name in full, itself, and its context."""
    yield from _below(typer.main.get_command(app), "semibandit", None)


def _below(command: Any, name: str, parent: Any) -> Iterator[tuple[str, Any, Any]]:
    context = command.context_class(
        command, info_name=name, parent=parent, **command.context_settings
    )
    within = getattr(command, "commands", None)
    if within is None:
        yield context.command_path, command, context
    else:
        for below_name, below in within.items():
            yield from _below(below, below_name, context)


def pages() -> dict[str, str | Path]:
    """One page with a section for each command."""
    sections = [section(*found) for found in commands()]
    return {"reference/command-line.md": INTRODUCTION + "\n".join(sections)}


def section(name: str, command: Any, context: Any) -> str:
    """The name of a command, what it does, how it is called, and its options."""
    lines = [f"## {name}", _paragraphs(command.help or ""), _code(_usage(command, context))]
    for heading, rows in panels(command, context).items():
        lines.append(f'<p class="panel">{heading}</p>\n')
        lines.append(table(("Name", "Meaning", "Default"), rows))
    prefix = command.context_settings.get("auto_envvar_prefix")
    if prefix:
        lines.append(
            f"Each option can also be set by an environment variable, `--port` by `{prefix}_PORT`."
        )
    return "\n\n".join(lines) + "\n"


def panels(command: Any, context: Any) -> dict[str, list[tuple[str, str, str]]]:
    """The rows of each panel of a command's help, in order."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for param in command.params:
        record = param.get_help_record(context)
        if record is not None and not param.hidden:
            usual = "Arguments" if param.param_type_name == "argument" else "Options"
            heading = getattr(param, "rich_help_panel", None) or usual
            found.setdefault(heading, []).append(_row(*record))
    return found


def _row(name: str, text: str) -> tuple[str, str, str]:
    """The cells of an option; what Typer appends to its help in brackets is taken apart."""
    extra = EXTRA.search(text)
    default = ""
    if extra:
        text = text[: extra.start()]
        for part in extra[1].split("; "):
            if part.startswith("default: "):
                default = part.removeprefix("default: ").removeprefix("(").removesuffix(")")
            elif part == "required":
                default = "required"
            elif not part.startswith("env var: "):
                text += f" ({part.replace('x', 'value', 1)})"
    shown = f"<code>{escape(default)}</code>" if default not in ("", "required") else default
    return f"<code>{escape(name)}</code>", inline(text), shown


def _usage(command: Any, context: Any) -> str:
    return " ".join(command.get_usage(context).removeprefix("Usage: ").split())


def _paragraphs(text: str) -> str:
    """The help text; a paragraph that is a command becomes a block of code."""
    found = []
    for paragraph in text.split("\n\n"):
        line = " ".join(paragraph.split())
        found.append(_code(line) if line.startswith("semibandit ") else f"<p>{inline(line)}</p>")
    return "\n\n".join(found)


def _code(text: str) -> str:
    return f"```text\n{text}\n```"
