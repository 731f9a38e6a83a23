"""What machines ask about the process: whether it runs, whether it can work, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Response

from semibandit.service.engine.engine import Engine
from semibandit.service.engine.problems import Observed, Problem, find_problems
from semibandit.service.http import schema
from semibandit.service.http.metrics import Metrics
from semibandit.service.http.openapi import problems
from semibandit.service.http.responses import NOT_KEPT, JsonResponse

__all__ = ["add_health"]


def add_health(app: FastAPI, engine: Engine, metrics: Metrics) -> None:
    """Add /livez, /readyz (and /healthz, which is the same) and /metrics."""
    health: dict[str, Any] = {
        "response_model": schema.Health,
        "responses": problems(503, always=False),
        "tags": ["watch"],
    }

    @app.get("/livez", operation_id="livez", **health)
    async def livez() -> Response:
        """200 if the process works, whatever its store does; 503 if only a restart helps."""
        return _health(engine.live_problem)

    @app.get("/readyz", operation_id="readyz", **health)
    @app.get("/healthz", operation_id="healthz", **health)
    async def readyz() -> Response:
        """200 if it can decide and learn, 503 with the reason if not."""
        return _health(engine.problem, find_problems(Observed(ahead=engine.clock.ahead)))

    @app.get(
        "/metrics",
        operation_id="metrics",
        responses=problems(401, always=False),
        tags=["watch"],
        response_class=Response,
    )
    async def prometheus() -> Response:
        """Numbers for Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(metrics.text(), headers=NOT_KEPT, media_type=kind)


def _health(problem: str | None, others: Sequence[Problem] = ()) -> Response:
    if problem is None:
        more = {"problems": [f"{one.what} {one.do}" for one in others]} if others else {}
        return JsonResponse({"status": "ok", **more})
    return JsonResponse({"detail": problem}, 503)
