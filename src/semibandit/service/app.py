"""The HTTP side: FastAPI in front of the engine."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from importlib import metadata, resources
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from semibandit.policies.labels import Label
from semibandit.service import schema
from semibandit.service.door import Door
from semibandit.service.engine import Engine, settle
from semibandit.service.job import Change, Give, Job, Rank, Refused, Reply
from semibandit.service.lane import BROKEN, Lane
from semibandit.service.metrics import Metrics
from semibandit.store.event import Decision, Feedback, LabelChange
from semibandit.store.store import StoreError

__all__ = ["create_app"]

log = logging.getLogger("semibandit")
Body = TypeVar("Body", bound=BaseModel)
PAGE = Path(__file__).parent / "page"
WRONG = {
    400: "The body is no JSON.",
    401: "A key is needed.",
    403: "This key is for reading only.",
    413: "The body is too large.",
    415: "The body must be application/json.",
    422: "Something in the request is wrong; the answer says what.",
    503: "Too much is waiting, or the store is away: try again after Retry-After seconds.",
}


def create_app(engine: Engine) -> ASGIApp:
    """The service around an engine, which starts and stops with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def deliver(replies: list[Reply]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, replies)

        engine.deliver = deliver
        engine.start()
        yield
        await asyncio.to_thread(engine.stop)

    app = FastAPI(
        title="semibandit",
        version=metadata.version("semibandit"),
        description="Which items to show, in which order and how many, learned from feedback on "
        "what was shown.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    metrics = Metrics(engine)
    desk = _Desk(engine, metrics)
    _add_errors(app)
    _add_decisions(app, desk)
    _add_labels(app, desk)
    _add_watching(app, desk, metrics)
    _add_page(app)
    _add_docs(app, engine)
    lane = Lane(app, {"/rank": desk.rank, "/feedback": desk.feedback})
    return Door(lane, engine.settings)


class _Desk:
    """Hands jobs to the engine, and turns what comes back into HTTP."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self.engine, self.metrics = engine, metrics
        self.changing = asyncio.Lock()  # one change of labels at a time

    def rank_job(self, asked: schema.RankRequest, answer: asyncio.Future[Any]) -> Rank:
        limits = self.engine.settings.limits
        if asked.slots is not None and asked.slots > limits.slots:
            raise Refused(422, f"slots = {asked.slots}, but at most {limits.slots} can be had")
        for what in ("candidates", "exclude"):
            if len(getattr(asked, what) or ()) > limits.labels:
                raise Refused(422, f"{what} has more than {limits.labels} labels")
        try:
            return self.engine.rank_job(
                asked.context, asked.slots, asked.candidates, asked.exclude, asked.id, answer
            )
        except ValueError as why:
            raise Refused(422, str(why)) from None

    def give_job(self, told: schema.FeedbackRequest, answer: asyncio.Future[Any]) -> Give:
        return Give(Feedback(told.id, 0.0, told.clicked, told.examined), answer)

    async def rank(self, body: bytes) -> dict[str, Any]:
        """The answer to POST /rank."""
        asked = _read(body, schema.RankRequest)
        return _decided(await self.one("rank", asked, self.rank_job))

    async def feedback(self, body: bytes) -> dict[str, Any]:
        """The answer to POST /feedback."""
        told = _read(body, schema.FeedbackRequest)
        found = await self.one("feedback", told, self.give_job)
        return {"id": found.id, "status": "accepted"}

    async def one(self, what: str, asked: Any, make: Callable[..., Job]) -> Any:
        """The answer to one job; Refused comes out as an HTTP error."""
        start, status = time.perf_counter(), 500
        try:
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self.engine.put([make(asked, answer)])
            result = await answer
            status = 200
            return result
        except Refused as why:
            status = why.status
            raise
        finally:
            self.metrics.answered(what, status, time.perf_counter() - start)

    async def many(self, what: str, asked: Sequence[Any], make: Callable[..., Job]) -> list[Any]:
        """The answers to many jobs, or for each why not."""
        start = time.perf_counter()
        most = self.engine.settings.limits.batch
        if len(asked) > most:
            raise Refused(422, f"{len(asked)} in one batch, but at most {most} can be had")
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[Any]] = [loop.create_future() for _ in asked]
        jobs = []
        for one, answer in zip(asked, answers, strict=True):
            try:
                jobs.append(make(one, answer))
            except Refused as why:
                answer.set_exception(why)
        try:
            if jobs:
                self.engine.put(jobs)
        except Refused:
            for answer in answers:
                answer.cancel() if not answer.done() else answer.exception()
            raise
        results = await asyncio.gather(*answers, return_exceptions=True)
        seconds = time.perf_counter() - start
        for one in results:
            if isinstance(one, BaseException) and not isinstance(one, Refused):
                raise one
            self.metrics.answered(what, one.status if isinstance(one, Refused) else 200, seconds)
        return results


def _read(body: bytes, model: type[Body]) -> Body:
    """The body, read by pydantic at once: by way of json and dicts it takes four times as long."""
    try:
        return model.model_validate_json(body)
    except ValidationError as why:
        raise Refused(422, _all_said(why.errors(include_url=False))) from None


def _takes(model: str) -> dict[str, Any]:
    """What OpenAPI says of a body that `_read` reads."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}
    return {"requestBody": {"required": True, "content": content}}


def _responses(*more: int) -> dict[int | str, dict[str, Any]]:
    texts = WRONG | {
        404: "There is no such decision, or no such label.",
        409: "It was said otherwise before.",
    }
    return {code: {"model": schema.Problem, "description": texts[code]} for code in (*WRONG, *more)}


def _add_decisions(app: FastAPI, desk: _Desk) -> None:
    rank_again, both = _responses(409), _responses(404, 409)

    @app.post(
        "/rank",
        response_model=schema.Decided,
        responses=rank_again,
        tags=["decide"],
        openapi_extra=_takes("RankRequest"),
    )
    async def rank(request: Request) -> Response:
        """Which labels to show for this context, in which order and how many."""
        return _json(await desk.rank(await request.body()))

    @app.post(
        "/feedback",
        response_model=schema.Accepted,
        responses=both,
        tags=["learn"],
        openapi_extra=_takes("FeedbackRequest"),
    )
    async def feedback(request: Request) -> Response:
        """What was clicked. It may come late, in any order, and again."""
        return _json(await desk.feedback(await request.body()))

    @app.post(
        "/rank/batch", response_model=schema.RankResults, responses=_responses(), tags=["decide"]
    )
    async def rank_batch(asked: schema.RankBatch) -> Response:
        """Many decisions in one request; a problem with one is no problem of the others."""
        results = await desk.many("rank", asked.requests, desk.rank_job)
        return _json({"results": [_problem(r) or _decided(r) for r in results]})

    @app.post(
        "/feedback/batch",
        response_model=schema.FeedbackResults,
        responses=_responses(),
        tags=["learn"],
    )
    async def feedback_batch(told: schema.FeedbackBatch) -> Response:
        """Feedback to many decisions in one request, learned in this order."""
        results = await desk.many("feedback", told.feedback, desk.give_job)
        return _json(
            {"results": [_problem(r) or {"id": r.id, "status": "accepted"} for r in results]}
        )


def _add_labels(app: FastAPI, desk: _Desk) -> None:
    engine = desk.engine

    async def change(add: list[Label] | int | None, retire: list[Label] | None) -> Response:
        async with desk.changing:
            await desk.one(
                "labels", LabelChange(0.0, add, retire), lambda what, answer: Change(what, answer)
            )
        return _json({"labels": engine.learner.labels})

    @app.get("/labels", response_model=schema.LabelList, responses=_only(401), tags=["labels"])
    async def labels() -> Response:
        """The labels that can be shown."""
        return _json({"labels": engine.learner.labels})

    @app.post(
        "/labels", response_model=schema.LabelList, responses=_responses(409), tags=["labels"]
    )
    async def add_labels(given: schema.Added) -> Response:
        """Add labels; answered once they can be shown. What was learned of the others stays."""
        return await change(given.labels, None)

    @app.delete(
        "/labels", response_model=schema.LabelList, responses=_responses(404), tags=["labels"]
    )
    async def retire_labels(given: schema.Retired) -> Response:
        """Never show these labels again; answered once that is so."""
        return await change(None, given.labels)


def _add_watching(app: FastAPI, desk: _Desk, metrics: Metrics) -> None:
    engine = desk.engine

    @app.get("/state", responses=_only(401), tags=["watch"])
    async def state() -> dict[str, Any]:
        """What the learner is, what it has learned, and what happened in the last hour."""
        return _state(engine)

    @app.get("/metrics", responses=_only(401), tags=["watch"], response_class=Response)
    async def prometheus() -> Response:
        """The same for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/healthz", responses=_only(503), tags=["watch"])
    async def healthz() -> Response:
        """200 if it can decide and learn, 503 if not."""
        if engine.healthy:
            return _json({"status": "ok"})
        what = "the store is away" if engine.down else "it does not learn any more"
        return _json({"detail": what}, 503)

    @app.post("/snapshot", response_model=schema.Snapshot, responses=_responses(), tags=["watch"])
    async def snapshot() -> Response:
        """Write a snapshot of the learner now: the next start is quicker."""
        if not engine.learning.alive:
            raise Refused(503, "learning has stopped")
        future: Future[int] = engine.learning.snapshot()
        try:
            return _json({"position": await asyncio.wrap_future(future)})
        except StoreError:
            raise Refused(503, "the store cannot be written at the moment") from None


def _state(engine: Engine) -> dict[str, Any]:
    learner = engine.learner
    header, limits = learner._config(), engine.settings.limits
    return {
        "learner": header["learner"],
        "settings": header["settings"] | header["common"],
        "n_features": learner.n_features,
        "feature_names": engine.feature_names,
        "n_labels": learner.n_labels,
        "version": learner.t,
        "position": engine.store.last,
        "learned": engine.learning.position,
        "snapshot": engine.learning.snapshot_at,
        "backlog": engine.learning.backlog,
        "waiting": engine.waiting,
        "healthy": engine.healthy,
        "wait": engine.settings.wait,
        "limits": {"slots": limits.slots, "batch": limits.batch, "body": limits.body},
        **engine.tally.summary(),
    }


def _add_page(app: FastAPI) -> None:
    kinds = {"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
    policy = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"

    def serve(name: str) -> Callable[[], Awaitable[Response]]:
        content = (PAGE / name).read_bytes()

        async def page() -> Response:
            headers = {
                "Content-Security-Policy": policy,
                "Cache-Control": "no-cache",
                "X-Content-Type-Options": "nosniff",
            }
            return Response(content, headers=headers, media_type=f"{kinds[name]}; charset=utf-8")

        return page

    for name in kinds:
        path = "/" if name == "index.html" else f"/{name}"
        app.get(path, include_in_schema=False)(serve(name))


def _add_docs(app: FastAPI, engine: Engine) -> None:
    """OpenAPI's page with its own script and style: it works without a network."""
    assets = resources.files("fastapi_swagger.resources")
    script = assets.joinpath("swagger-ui-bundle.js").read_bytes()
    style = assets.joinpath("swagger-ui.css").read_bytes()
    plain = app.openapi

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title="semibandit",
            swagger_js_url="/docs/swagger.js",
            swagger_css_url="/docs/swagger.css",
            swagger_favicon_url="data:,",
        )

    @app.get("/docs/swagger.js", include_in_schema=False)
    async def docs_script() -> Response:
        return Response(script, media_type="text/javascript")

    @app.get("/docs/swagger.css", include_in_schema=False)
    async def docs_style() -> Response:
        return Response(style, media_type="text/css")

    def of_this_service() -> dict[str, Any]:
        document = plain()
        context = document["components"]["schemas"]["RankRequest"]["properties"]["context"]
        n = engine.learner.n_features
        context["oneOf"][0] |= {"minItems": n, "maxItems": n}
        if engine.settings.api_key is not None:
            schemes = document.setdefault("components", {})
            schemes["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{"key": []}]
        return document

    app.openapi = of_this_service  # type: ignore[method-assign]


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refused)
    async def refused(request: Request, why: Refused) -> Response:
        return _json({"detail": why.why}, why.status)

    @app.exception_handler(HTTPException)
    async def wrong(request: Request, why: HTTPException) -> Response:
        return _json({"detail": str(why.detail)}, why.status_code, why.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, why: RequestValidationError) -> Response:
        return _json({"detail": _all_said(why.errors())}, 422)

    @app.exception_handler(Exception)
    async def broken(request: Request, why: Exception) -> Response:
        return _json({"detail": BROKEN}, 500)


def _only(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": schema.Problem, "description": WRONG[code]} for code in codes}


def _all_said(errors: Sequence[Any]) -> str:
    return "; ".join(_said(one) for one in errors[:5])


def _said(error: Any) -> str:
    """Where, what was given, and what was expected."""
    place = [p for p in error["loc"] if p not in ("body", "list", "names", "int", "str")]
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    given = repr(error.get("input"))
    given = given if len(given) <= 60 else given[:57] + "..."
    if error["type"] == "missing":
        return f"{where or 'the body'} is missing"
    if error["type"] == "json_invalid":
        return "the body is no JSON"
    return f"{where or 'the body'} = {given}: {error['msg']}"


def _decided(decision: Decision) -> dict[str, Any]:
    slate = zip(decision.labels, decision.prob, decision.estimate, decision.width, strict=True)
    return {
        "id": decision.id,
        "slate": [
            {"label": label, "position": i, "prob": prob, "estimate": estimate, "width": width}
            for i, (label, prob, estimate, width) in enumerate(slate, 1)
        ],
        "version": decision.version,
    }


def _problem(result: Any) -> dict[str, Any] | None:
    if isinstance(result, Refused):
        return {"status": result.status, "detail": result.why}
    return None


def _json(content: Any, status: int = 200, headers: Any = None) -> Response:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    more = dict(headers or {})
    if status == 503:
        more["Retry-After"] = "1"
    return Response(text, status, more, "application/json")
