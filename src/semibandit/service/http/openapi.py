"""The API's description: what FastAPI knows of its routes, and the two paths that it does not see.

/rank and /feedback are answered on the fast path; their bodies and answers are models of
`schema.py`, which the routes for batches use, too.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from fastapi import FastAPI

from semibandit.service.engine.engine import Engine
from semibandit.service.http import schema

__all__ = ["TEXTS", "describe_fast_path", "problems"]

TEXTS = {
    400: "The body is no JSON.",
    401: "A key is needed.",
    403: "This key is for reading only.",
    404: "There is no such decision, or no such label.",
    409: "The id was used for something else, or the label is there already.",
    413: "The body is too large.",
    415: "The body must be application/json.",
    422: "Something in the request is wrong; the answer says what.",
    503: "Too much is waiting, or the store is away: try again after Retry-After seconds.",
}
ALWAYS = (400, 401, 403, 413, 415, 422, 503)  # what any request that writes may get


def problems(*more: int, always: bool = True) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, as FastAPI wants them."""
    codes = (*ALWAYS, *more) if always else more
    return {code: {"model": schema.Problem, "description": TEXTS[code]} for code in codes}


def describe_fast_path(app: FastAPI, engine: Engine) -> None:
    """Let the app's OpenAPI document describe /rank and /feedback, and this service's contexts."""
    routes = app.openapi

    def document() -> dict[str, Any]:
        whole = deepcopy(routes())
        whole["paths"] = {"/rank": _rank(), "/feedback": _feedback(), **whole["paths"]}
        _describe_contexts(whole["components"]["schemas"], engine.learner.n_features)
        if engine.settings.api_key is not None:
            whole["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            whole["security"] = [{"key": []}]
        return whole

    app.openapi = document  # type: ignore[method-assign]


def _rank() -> dict[str, Any]:
    about = "Which labels to show for this context, in which order and how many."
    return _post("rank", "decide", about, schema.RankRequest, schema.Decided, 409)


def _feedback() -> dict[str, Any]:
    about = "What was clicked. It may come late, in any order, and again."
    return _post("feedback", "learn", about, schema.FeedbackRequest, schema.Accepted, 404, 409)


def _post(name: str, tag: str, about: str, body: type, answer: type, *more: int) -> dict[str, Any]:
    """A path that takes a body by POST, in OpenAPI's words."""
    responses = {"200": {"description": "Successful Response", "content": _json(answer)}}
    for code in (*ALWAYS, *more):
        responses[str(code)] = {"description": TEXTS[code], "content": _json(schema.Problem)}
    return {
        "post": {
            "tags": [tag],
            "summary": name.title(),
            "description": about,
            "operationId": f"{name}_{name}_post",
            "requestBody": {"required": True, "content": _json(body)},
            "responses": responses,
        }
    }


def _json(model: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}


def _describe_contexts(models: dict[str, Any], n_features: int) -> None:
    """Say how long a context is, except in a batch: there it is answered for each."""
    models["RankInBatch"] = deepcopy(models["RankRequest"])
    batch = models["RankBatch"]["properties"]["requests"]
    batch["items"]["$ref"] = "#/components/schemas/RankInBatch"
    context = models["RankRequest"]["properties"]["context"]
    context["oneOf"][0] |= {"minItems": n_features, "maxItems": n_features}
