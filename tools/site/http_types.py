"""Types of a JSON schema, in words."""

from __future__ import annotations

import json
from typing import Any

from tools.site.markup import inline

__all__ = ["Types"]

WORDS = {
    "string": "string",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}
LABEL = {"integer", "string"}  # what a label may be
VALUE = {"boolean", "integer", "number", "string", "array", "null"}  # and a feature's value
LARGEST = 2**53 - 1  # bounds beyond it are those of JSON itself


class Types:
    """The models of a document. Those that `words` refers to are collected in `nested`."""

    def __init__(self, models: dict[str, Any]) -> None:
        self._models = models
        self._named: list[str] = []

    def text(self, name: str) -> str:
        """What a model is."""
        return str(self._models[name].get("description", ""))

    def examples(self, name: str) -> list[Any]:
        """The examples of a model."""
        return list(self._models[name].get("examples", []))

    def rows(self, name: str) -> list[tuple[str, str, str]]:
        """A row for each field: its name, its type, and what it means."""
        model = self._models[name]
        required = model.get("required", [])
        return [
            self._row(field, about, field in required)
            for field, about in model.get("properties", {}).items()
        ]

    def _row(self, field: str, about: dict[str, Any], required: bool) -> tuple[str, str, str]:
        text = inline(about.get("description", ""))
        if not required and about.get("default") is not None:
            text += f" Default: <code>{inline(json.dumps(about['default']))}</code>."
        mark = "" if required else " <small>optional</small>"
        return f"<code>{field}</code>{mark}", self.words(about), text

    def words(self, schema: dict[str, Any]) -> str:
        """A schema's type, with links to the models that it refers to."""
        if "$ref" in schema:
            return self._link(schema["$ref"].rsplit("/", 1)[1])
        choices = schema.get("anyOf", schema.get("oneOf"))
        if choices is not None:
            return self._union([one for one in choices if one])
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return " or ".join(f"<code>{inline(json.dumps(value))}</code>" for value in values)
        if schema.get("type") == "array":
            return self._array(schema)
        if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {_plural(self.words(schema['additionalProperties']))}"
        return WORDS[schema["type"]] + _bounds(schema)

    def _union(self, choices: list[dict[str, Any]]) -> str:
        kinds = {one.get("type") for one in choices}
        if kinds == LABEL:
            return "label"
        if kinds == VALUE:
            return "value"
        return " or ".join(dict.fromkeys(self.words(one) for one in choices))

    def _array(self, schema: dict[str, Any]) -> str:
        if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])}: {self.words(schema['prefixItems'][0])}"
        most = schema.get("maxItems")
        # as many as it has features is true of one service alone
        limit = f" (up to {most})" if most and most != schema.get("minItems") else ""
        return f"list of {_plural(self.words(schema['items']))}{limit}"

    def _link(self, name: str) -> str:
        if name not in self._named:
            self._named.append(name)
        return f'<a href="#{name.lower()}">{name}</a>'

    def nested(self) -> list[str]:
        """The models that were referred to, and those that they refer to."""
        for name in self._named:  # grows while it is read
            self.rows(name)
        return self._named


def _plural(words: str) -> str:
    """The plural of one of our words; a link or a union stays as it is."""
    return f"{words}s" if words in ("label", "value", "string", "number", "whole number") else words


def _bounds(schema: dict[str, Any]) -> str:
    """What a number must be between."""
    low, high = schema.get("minimum"), schema.get("maximum")
    low = None if low is not None and low <= -LARGEST else low
    high = None if high is not None and high >= LARGEST else high
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    return "" if low is None else f", at least {low:g}"
