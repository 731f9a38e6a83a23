"""Routes that keep a service in order: snapshots, erasure, and a learner in place of another."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response

from semibandit.service.http import schema
from semibandit.service.http.handlers import Handlers
from semibandit.service.http.openapi import problems
from semibandit.service.http.responses import JsonResponse
from semibandit.service.http.routes import BYTES, V1

__all__ = ["add_maintenance"]

TAGS: list[Any] = ["operate"]
FILE = {
    "required": True,
    "content": {BYTES.decode(): {"schema": {"type": "string", "format": "binary"}}},
}


def add_maintenance(app: FastAPI, handlers: Handlers) -> None:
    """Add /v1/snapshot, /v1/events and /v1/learner."""
    snapshots: dict[str, Any] = {"response_model": schema.Snapshot, "responses": problems()}
    erased: dict[str, Any] = {"response_model": schema.Erased, "responses": problems(404)}
    replaced: dict[str, Any] = {"response_model": schema.Replaced, "responses": problems(409)}
    replaced["openapi_extra"] = {"requestBody": FILE}

    @app.post(f"{V1}/snapshot", operation_id="snapshot", tags=TAGS, **snapshots)
    async def snapshot() -> Response:
        """Write a snapshot of the learner now: the next start is quicker."""
        return JsonResponse(await handlers.snapshot())

    @app.delete(f"{V1}/events/{{id}}", operation_id="erase_event", tags=TAGS, **erased)
    async def erase_event(id: schema.Id) -> Response:
        """Take the context of one decision out of the log, and of every file that is kept."""
        return JsonResponse(await handlers.erase([id]))

    @app.delete(f"{V1}/events", operation_id="erase_subject", tags=TAGS, **erased)
    async def erase_subject(subject: Annotated[schema.Id, Query()]) -> Response:
        """Take the contexts of all decisions for one subject out of the log."""
        return JsonResponse(await handlers.erase(subjects=[subject]))

    @app.post(f"{V1}/events/erase", operation_id="erase_events", tags=TAGS, **erased)
    async def erase_events(given: schema.EraseRequest) -> Response:
        """The same for many at once, and for ids that a path cannot have, such as `..`."""
        found = await handlers.erase(given.ids, given.subjects, dry_run=given.dry_run)
        return JsonResponse(found)

    @app.post(f"{V1}/learner", operation_id="replace_learner", tags=TAGS, **replaced)
    async def replace_learner(
        request: Request,
        after: Annotated[
            schema.Position | None,
            Query(
                description="The last event of the log it learned; by default, as the file says."
            ),
        ] = None,
    ) -> Response:
        """Put a learner file (`semibandit replay --save`) in place of the running learner."""
        content = await request.body()
        return JsonResponse(await handlers.replace_learner(content, after))
