"""Bodies, read by pydantic from their bytes; those of a batch one by one if something is wrong.

They are read in the event loop, so what takes long to read is refused before it is: a body of a
megabyte that is right takes some milliseconds, but one of many small objects, or with a mistake in
each of its values, took seconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.service.http.mistakes import describe_mistakes

__all__ = ["MOST_PARTS", "read_batch", "read_body"]

Body = TypeVar("Body", bound=BaseModel)
MOST_PARTS = 25_000  # objects, lists and keys of a body
MOST_MISTAKES = 1000  # that pydantic is asked about: each takes it some microseconds
SPACE = b" \t\r\n"  # what JSON may have between a key and its colon


def read_body(body: bytes, model: type[Body]) -> Body:
    """The body, read by pydantic at once: by way of json and dicts it takes four times as long.

    Raises
    ------
    InputError
        If it is no such object, has too many parts, or has a key twice.
    """
    _check_parts(body)
    found = _read(body, model)
    _check_keys(body, _keys_of(found))
    return found


def read_batch(
    body: bytes, batch: type[BaseModel], key: str, model: type[Body], most: int
) -> Iterator[Body | InputError]:
    """The items of a batch, each as its model or as the error that says what is wrong with it.

    They are read as they are asked for, if something is wrong with one of them.

    Parameters
    ----------
    body : bytes
        A JSON object with one key, which holds a list.
    batch : model
        All of it: most batches are right, and it is quickest to read one at once.
    key : str
        The key.
    model : model
        One item.
    most : int
        The items that it may have.

    Raises
    ------
    InputError
        If the body is no such object, has too many items or parts, or has a key twice. A wrong
        item is no reason to refuse the others.
    """
    _check_parts(body)
    try:
        items, right = getattr(batch.model_validate_json(body), key), True
    except ValidationError:
        items, right = getattr(_read(body, _of_anything(key)), key), False
    if len(items) > most:
        raise InputError(f"{len(items)} in one batch, but at most {most} can be had")
    _check_keys(body, 1 + sum(map(_keys_of, items)))
    return iter(items) if right else (_read_item(one, model) for one in items)


@cache
def _of_anything(key: str) -> type[BaseModel]:
    """A batch whose items are not looked at."""
    fields: dict[str, Any] = {key: (list[Any], ...)}
    return create_model("Batch", __config__=ConfigDict(extra="forbid"), **fields)


def _read(body: bytes, model: type[Body]) -> Body:
    try:
        return model.model_validate_json(body)
    except ValidationError as why:
        raise _wrong(why, model) from None


def _read_item(item: Any, model: type[Body]) -> Body | InputError:
    try:
        return model.model_validate(item)
    except ValidationError as why:
        return _wrong(why, model)


def _wrong(why: ValidationError, model: type[BaseModel]) -> InputError:
    if (n := why.error_count()) > MOST_MISTAKES:
        return InputError(f"{n} keys or values of the body cannot be used")
    mistakes = why.errors(include_url=False)
    return InputError(describe_mistakes(mistakes, model.model_fields))


# -- parts and keys --------------------------------------------------------------------------------


def _check_parts(body: bytes) -> None:
    """Raise an `InputError` if the body has too many parts."""
    if len(body) <= MOST_PARTS:
        return
    if _most_keys(body) + body.count(b"{") + body.count(b"[") > MOST_PARTS:
        raise InputError(f"the body has more than {MOST_PARTS} objects, lists and keys")


def _most_keys(body: bytes) -> int:
    """The most keys that the body can have: a colon comes after each, and in a string after no
    quote that is not escaped."""
    return body.translate(None, SPACE).count(b'":')


def _keys_of(found: Any) -> int:
    """How many keys a body or an item had, those of objects in it included; not of all, if they
    are deeper than any that is right."""
    if isinstance(found, BaseModel):
        context = vars(found).get("context")
        return len(found.model_fields_set) + (len(context) if isinstance(context, dict) else 0)
    if isinstance(found, dict):
        return len(found) + sum(len(one) for one in found.values() if isinstance(one, dict))
    return 0


def _check_keys(body: bytes, there: int) -> None:
    """Raise an `InputError` if one of its objects has a key twice: readers differ in which counts.

    The body is JSON, and has so many keys if each is counted once.
    """
    if body.count(b":") <= there or _most_keys(body) <= there:
        return
    twice: list[str] = []

    def check(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice.append(Counter(names).most_common(1)[0][0])

    json.loads(body, object_pairs_hook=check)
    if twice:
        raise InputError(f"the body has the key {shortened(twice[0], 60)} twice in one object")
