"""Bodies, read by pydantic from their bytes; those of a batch one by one if something is wrong."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from semibandit.errors import InputError
from semibandit.service.http.mistakes import describe_mistakes

__all__ = ["read_batch", "read_body"]

Body = TypeVar("Body", bound=BaseModel)


def read_body(body: bytes, model: type[Body]) -> Body:
    """The body, read by pydantic at once: by way of json and dicts it takes four times as long."""
    try:
        return model.model_validate_json(body)
    except ValidationError as why:
        raise _wrong(why, model) from None


def read_batch(
    body: bytes, batch: type[BaseModel], key: str, model: type[Body]
) -> list[Body | InputError]:
    """The items of a batch, each as its model or as the error that says what is wrong with it.

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

    Raises
    ------
    InputError
        If the body is no such object. A wrong item is no reason to refuse the others.
    """
    try:
        return list(getattr(batch.model_validate_json(body), key))
    except ValidationError as why:
        whole = why
    outside = [one for one in whole.errors(include_url=False) if len(one["loc"]) < 2]
    if outside:
        raise InputError(describe_mistakes(outside, batch.model_fields))
    return [_read_item(one, model) for one in from_json(body)[key]]


def _read_item(item: Any, model: type[Body]) -> Body | InputError:
    try:
        return model.model_validate(item)
    except ValidationError as why:
        return _wrong(why, model)


def _wrong(why: ValidationError, model: type[BaseModel]) -> InputError:
    mistakes = why.errors(include_url=False)
    return InputError(describe_mistakes(mistakes, model.model_fields))
