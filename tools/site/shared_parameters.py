"""Parameters as our docstrings mean them, where Griffe reads them otherwise.

Parameters that share one description ("n_features, labels: as for SlateUCB") would be one each, all
with the annotation of the first. Here they stay one entry, with the type that the docstring gives,
if it gives one. Of choices ({"cuda", "cpu"}) the first would be the default, whatever the signature
says.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import griffe


class SharedParameters(griffe.Extension):
    """Has every docstring of a package parsed in this way, when it is asked for."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called once the whole package has been read."""
        for docstring in _docstrings(pkg):
            docstring.__class__ = JoinedDocstring


class JoinedDocstring(griffe.Docstring):
    """A docstring whose parameters with one description are one entry."""

    def parse(self, *args: Any, **options: Any) -> list[griffe.DocstringSection]:
        """The sections of the docstring."""
        sections = super().parse(*args, **options)
        for section in sections:
            if section.kind is griffe.DocstringSectionKind.parameters:
                section.value = _joined(section.value, self.parent)
        return sections


def _docstrings(found: griffe.Object) -> Iterator[griffe.Docstring]:
    """Those of an object and of what it has in it."""
    if found.docstring is not None:
        yield found.docstring
    for member in found.members.values():
        if not member.is_alias:
            yield from _docstrings(member)


def _joined(
    parameters: list[griffe.DocstringParameter], owner: Any
) -> list[griffe.DocstringParameter]:
    joined: list[griffe.DocstringParameter] = []
    group: list[griffe.DocstringParameter] = []
    for parameter, after in itertools.pairwise([*parameters, None]):
        group.append(parameter)
        # names that fill more than one line: those of the first lines have no description
        if parameter.description and (after is None or after.description != parameter.description):
            joined.append(_one(group, owner))
            group = []
    return joined + group


def _one(group: list[griffe.DocstringParameter], owner: Any) -> griffe.DocstringParameter:
    first, last = group[0], group[-1]
    declared = {parameter.name: parameter for parameter in owner.parameters}
    if len(group) == 1:
        if first.name in declared:
            first.value = declared[first.name].default
        return first
    known = declared.get(first.name)
    stated = known is None or first.annotation is not known.annotation
    return griffe.DocstringParameter(
        ", ".join(parameter.name for parameter in group),
        annotation=first.annotation if stated else None,
        description=last.description,
    )
