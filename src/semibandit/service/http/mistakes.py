"""What is wrong with a body, in our own words: the key, the value, and what was expected.

pydantic finds the mistakes; its texts speak of its own types, and those of a union of its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from semibandit._util.checks import nearest, shortened
from semibandit.service.http.schema import TAG

__all__ = ["describe_mistakes"]

MOST = 5  # mistakes that are told of one body
EXPECTED = {  # by pydantic's type of error; {name} is from its details
    "bool_parsing": "expected true or false",
    "bool_type": "expected true or false",
    "dict_type": "expected an object",
    "extra_forbidden": "there is no such key",
    "finite_number": "expected a finite number",
    "float_parsing": "expected a number",
    "float_type": "expected a number",
    "greater_than_equal": "expected at least {ge}",
    "int_from_float": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_parsing_size": "expected a whole number that is not so large",
    "int_type": "expected a whole number",
    "less_than_equal": "expected at most {le}",
    "list_type": "expected a list",
    "literal_error": "expected {expected}",
    "model_attributes_type": "expected an object",
    "model_type": "expected an object",
    "string_pattern_mismatch": "expected letters, digits and . _ : - alone",
    "string_too_long": "expected at most {max_length} characters",
    "string_too_short": "expected at least {min_length} characters",
    "string_type": "expected a string",
    "string_unicode": "expected a string without half characters",
    "too_long": "expected at most {max_length} of them",
}
NO_LIST = {  # what could have been in a list's place, by the tag of the list
    f"{TAG}list": "expected a list of numbers, or an object of features by name",
    f"{TAG}labels": "expected a list of labels, or 'up to the last click'",
}


def describe_mistakes(mistakes: Sequence[Any], keys: Iterable[str] = ()) -> str:
    """What pydantic found wrong with a body, in one sentence for each mistake.

    Parameters
    ----------
    mistakes : sequence
        Those of pydantic's `ValidationError.errors()`.
    keys : iterable of str
        The keys that the body may have, to name the one that was probably meant.
    """
    return "; ".join(_describe(one, keys) for one in mistakes[:MOST])


def _describe(mistake: Any, keys: Iterable[str]) -> str:
    """Where, what was given, and what was expected."""
    kind, place = mistake["type"], list(mistake["loc"])
    if place and place[0] in ("body", "query", "path"):  # as FastAPI says where it is
        del place[0]
    path = [one for one in place if not str(one).startswith(TAG)]
    where = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path).lstrip(".")
    where = shortened_text(where) or "the body"
    if kind == "missing":
        return f"{where} is missing"
    if kind == "json_invalid":
        return "the body is no JSON"
    tags = [str(one) for one in place if str(one).startswith(TAG)]
    expected = _expected(mistake, tags)
    if kind == "extra_forbidden":
        expected += nearest(str(path[-1]), keys)
    return f"{where} = {shortened(mistake.get('input'), 60)}: {expected}"


def _expected(mistake: Any, tags: list[str]) -> str:
    kind = mistake["type"]
    if kind == "value_of_no_kind":  # a text of ours
        return str(mistake["msg"])
    if kind == "list_type" and tags:
        return NO_LIST[tags[-1]]
    return EXPECTED.get(kind, "it cannot be used").format(**mistake.get("ctx", {}))


def shortened_text(text: str, most: int = 80) -> str:
    """The text, cut off after so many characters: a key may be as long as a body."""
    return text if len(text) <= most else text[: most - 3] + "..."
