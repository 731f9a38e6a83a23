"""The reference of the service's API, from its OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.site.http_schema import document
from tools.site.http_types import Types
from tools.site.markup import inline, table

__all__ = ["pages"]

INTRODUCTION = Path(__file__).with_name("http_introduction.md")
GROUPS = {  # a tag of the document: the heading of its paths
    "decide": "Decide",
    "learn": "Learn",
    "labels": "Labels",
    "watch": "Watch",
    "operate": "Operate",
}


def pages() -> dict[str, str | Path]:
    """One page: the introduction, every path, and the objects that several answers share."""
    whole = document()
    types = Types(whole["components"]["schemas"])
    lines = [INTRODUCTION.read_text(encoding="utf-8"), statuses(whole)]
    for tag, heading in GROUPS.items():
        lines.append(f"## {heading}")
        lines += [operation(*found, types) for found in operations(whole, tag)]
    lines.append("## Objects in answers")
    lines += [described(name, types) for name in types.nested()]
    return {"reference/http.md": "\n\n".join(lines) + "\n"}


def operations(whole: dict[str, Any], tag: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The method, path and description of everything with this tag."""
    return [
        (method.upper(), path, about)
        for path, methods in whole["paths"].items()
        for method, about in methods.items()
        if tag in about["tags"]
    ]


def statuses(whole: dict[str, Any]) -> str:
    """What each status of an answer means, over all paths."""
    texts = {
        code: answer["description"]
        for methods in whole["paths"].values()
        for about in methods.values()
        for code, answer in about["responses"].items()
        if code != "200"
    }
    rows = [(f"<code>{code}</code>", inline(text)) for code, text in sorted(texts.items())]
    own = ("<code>500</code>", "A bug of the service; its log has the traceback.")
    return table(("Status", "Meaning"), sorted([*rows, own]))


def operation(method: str, path: str, about: dict[str, Any], types: Types) -> str:
    """A path's section: what it does, its parameters and fields, and examples."""
    lines = [f"### {method} {path}", inline(about.get("description", about["summary"]))]
    parameters = [_parameter(one, types) for one in about.get("parameters", [])]
    if parameters:
        lines.append(table(("Parameter", "Type", "Meaning"), parameters))
    lines += _content("Request", about.get("requestBody", {}), types)
    lines += _content("Answer", about["responses"]["200"], types)
    others = [f"`{code}`" for code in sorted(about["responses"]) if code != "200"]
    lines.append(f"Other statuses: {', '.join(others)}.")
    return "\n\n".join(lines)


def described(name: str, types: Types) -> str:
    """An object's section: what it is, and its fields."""
    return f"### {name}\n\n{inline(types.text(name))}\n\n{_fields(name, types)}"


def _parameter(one: dict[str, Any], types: Types) -> tuple[str, str, str]:
    default = one["schema"].get("default")
    text = inline(one.get("description", ""))
    if one["in"] == "path":
        text = f"Part of the path. {text}"
    elif default is not None:
        text += f" Default: <code>{inline(json.dumps(default))}</code>."
    return f"<code>{one['name']}</code>", types.words(one["schema"]), text


def _content(heading: str, holder: dict[str, Any], types: Types) -> list[str]:
    """The fields and the example of a body; a body that is no JSON is only named."""
    for kind, content in holder.get("content", {}).items():
        reference = content["schema"].get("$ref")
        if reference is None:
            return [f'<p class="panel">{heading}: <code>{kind}</code></p>']
        name = reference.rsplit("/", 1)[1]
        lines = [f'<p class="panel">{heading}</p>', inline(types.text(name)), _fields(name, types)]
        for example in types.examples(name):
            shown = json.dumps(example, indent=2, ensure_ascii=False)
            lines.append(f"```json\n{shown}\n```")
        return lines
    return []


def _fields(name: str, types: Types) -> str:
    return table(("Field", "Type", "Meaning"), types.rows(name))
