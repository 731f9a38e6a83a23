"""The API's description: what FastAPI knows of its routes, and the paths that it does not see.

/v1/rank, /v1/feedback and their batches are answered on the fast path; their bodies and answers are
models of `schema.py`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic.json_schema import models_json_schema

from semibandit.service.engine.engine import Engine
from semibandit.service.http import schema
from semibandit.service.http.auth import key_of
from semibandit.service.http.responses import JsonResponse
from semibandit.service.http.routes import V1
from semibandit.service.keys import Keys

__all__ = ["TEXTS", "add_description", "problems", "takes_body"]

TEXTS = {
    400: "The request is no HTTP, has no Host header, or has two of a header that decides.",
    401: "A key is needed.",
    403: "This key is for reading only, or a page of another site sent the request.",
    404: "There is no such decision, or no such label.",
    408: "The request did not arrive in time.",
    409: "The id was used for something else, or the label is there already.",
    413: "The body is too large.",
    415: "The body is of another content type.",
    421: "The service does not answer under this name (--allow-host).",
    422: "Something in the request is wrong; the answer says what.",
    431: "The request has too many headers, or too long ones.",
    503: "Too much is waiting, or the store is away: try again after Retry-After seconds.",
}
ALWAYS = (400, 401, 403, 408, 413, 415, 421, 422, 431, 503)  # what any request that writes may get
REF = "#/components/schemas/{model}"
DRY_RUN = {
    "name": "dry_run",
    "in": "query",
    "required": False,
    "description": "Decide without a trace: nothing is logged, and the answer has no id.",
    "schema": {"type": "boolean", "default": False},
}
MODELS = (
    schema.RankRequest, schema.Decided, schema.FeedbackRequest, schema.Accepted, schema.RankBatch,
    schema.RankResults, schema.FeedbackBatch, schema.FeedbackResults, schema.Problem, schema.Added,
    schema.Retired,
)  # fmt: skip


def problems(*more: int, always: bool = True) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, as FastAPI wants them."""
    codes = (*ALWAYS, *more) if always else more
    return {code: {"model": schema.Problem, "description": TEXTS[code]} for code in codes}


def add_description(app: FastAPI, engine: Engine, keys: Keys) -> None:
    """Serve the OpenAPI document: FastAPI's, with the fast path and this service's contexts.

    Anybody can read it; what contexts are like is only said to those who have a key, if keys are
    needed.
    """

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        key = key_of(request.scope["semibandit.headers"])
        knows = not keys.needed or keys.may_read(key) or keys.may_write(key)
        return JsonResponse(document(engine if knows else None))

    def document(described: Engine | None) -> dict[str, Any]:
        whole = deepcopy(app.openapi())
        _, models = models_json_schema(
            [(model, "validation") for model in MODELS], ref_template=REF
        )
        known = whole["components"]["schemas"]
        whole["components"]["schemas"] = models["$defs"] | known
        whole["paths"] = _paths() | whole["paths"]
        _describe_contexts(whole["components"]["schemas"], described)
        _describe_batches(whole["components"]["schemas"], engine.settings.limits.batch)
        if engine.settings.root_path:
            whole["servers"] = [{"url": engine.settings.root_path}]
        if keys.needed:
            whole["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            whole["security"] = [{"key": []}]
        return whole


def _paths() -> dict[str, Any]:
    """The paths of the fast path, in OpenAPI's words."""
    rank = _post(
        "rank",
        "Which labels to show for this context, in which order and how many.",
        (schema.RankRequest, schema.Decided, 409),
    )
    rank["post"]["parameters"] = [DRY_RUN]
    return {
        f"{V1}/rank": rank,
        f"{V1}/feedback": _post(
            "feedback",
            "What was clicked. It may come late, in any order, and again.",
            (schema.FeedbackRequest, schema.Accepted, 404, 409),
        ),
        f"{V1}/rank/batch": _post(
            "rank_batch",
            "Many decisions in one request, each answered by itself.",
            (schema.RankBatch, schema.RankResults),
        ),
        f"{V1}/feedback/batch": _post(
            "feedback_batch",
            "Feedback to many decisions in one request, learned in this order.",
            (schema.FeedbackBatch, schema.FeedbackResults),
        ),
    }


def _post(name: str, about: str, content: tuple[Any, ...]) -> dict[str, Any]:
    """A path that takes a body by POST: its model, that of the answer, and more statuses."""
    body, answer, *more = content
    responses = {"200": {"description": "Successful Response", "content": _json(answer)}}
    for code in (*ALWAYS, *more):
        responses[str(code)] = {"description": TEXTS[code], "content": _json(schema.Problem)}
    return {
        "post": {
            "tags": ["decide" if "rank" in name else "learn"],
            "summary": name.replace("_", " ").capitalize(),
            "description": about,
            "operationId": name,
            "requestBody": takes_body(body),
            "responses": responses,
        }
    }


def takes_body(model: type) -> dict[str, Any]:
    """That a path takes a body of this model, which it reads by itself."""
    return {"required": True, "content": _json(model)}


def _json(model: type) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REF.format(model=model.__name__)}}}


def _describe_contexts(models: dict[str, Any], engine: Engine | None) -> None:
    """Say how long a context is, and show one; a batch answers for each of its own."""
    models["RankInBatch"] = deepcopy(models["RankRequest"])
    if engine is None:
        models["RankRequest"]["examples"] = [{"context": [0.5, 0.5], "slots": 2, "id": "visit-1"}]
        return
    n_features = engine.learner.n_features
    context = models["RankRequest"]["properties"]["context"]
    context["oneOf"][0] |= {"minItems": n_features, "maxItems": n_features}
    models["RankRequest"]["examples"] = [
        {"context": _example_context(engine), "slots": 2, "id": "visit-1"}
    ]


def _example_context(engine: Engine) -> Any:
    """A context that this service takes."""
    features = engine.features
    if features is None:
        return [0.5] * min(engine.learner.n_features, 50)
    named = [one for one in features if one["name"] is not None][:10]
    return {one["name"]: _example_value(one) for one in named}


def _example_value(feature: dict[str, Any]) -> Any:
    if feature["kind"] == "number":
        return 9
    value = (feature["values"] or ["new"])[0]
    return [value] if feature["kind"] == "set" else value


def _describe_batches(models: dict[str, Any], most: int) -> None:
    """A wrong item is answered for itself, so that the batch as such takes anything as one."""
    for batch, key, item in (
        ("RankBatch", "requests", "RankInBatch"),
        ("FeedbackBatch", "feedback", "FeedbackRequest"),
    ):
        items = {"anyOf": [{"$ref": REF.format(model=item)}, {}]}
        models[batch]["properties"][key] |= {"items": items, "maxItems": most}
