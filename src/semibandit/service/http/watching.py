"""Routes for those who watch: the state, counts by time, and the items."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request, Response

from semibandit.policies.persistence import config_of
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.items import ItemQuery, Sort, list_items
from semibandit.service.engine.problems import Observed, find_problems
from semibandit.service.engine.time_series import DAY, HOUR, MINUTE
from semibandit.service.http import watching_schema as schema
from semibandit.service.http.metrics import Metrics
from semibandit.service.http.openapi import problems
from semibandit.service.http.responses import JsonResponse
from semibandit.service.http.routes import V1

__all__ = ["add_watching"]

POINT = ("start", "decisions", "empty", "feedback", "waited", "shown", "clicks")


def add_watching(app: FastAPI, engine: Engine, metrics: Metrics) -> None:
    """Add /v1/state, /v1/series and /v1/items.

    Their functions run in threads, so that sorting 100,000 items holds up no request.
    """
    only_key = problems(401, always=False)
    mistaken = problems(401, 422, always=False)

    @app.get(
        f"{V1}/state",
        operation_id="state",
        response_model=schema.State,
        responses=only_key,
        tags=["watch"],
    )
    def state(request: Request) -> Response:
        """What the learner is, what it has learned, and what happened."""
        may_write = bool(request.scope.get("may_write", True))
        return JsonResponse(_state(engine, metrics) | {"may_write": may_write})

    @app.get(
        f"{V1}/series",
        operation_id="series",
        response_model=schema.SeriesAnswer,
        responses=mistaken,
        tags=["watch"],
    )
    def series(
        range: Annotated[
            Literal["hour", "day", "all"], Query(description="How far back to go.")
        ] = "hour",
    ) -> Response:
        """Counts by time: the last hour by minutes, the last day by hours, or all time."""
        step, points = engine.statistics.points(range, engine.clock.time)
        told = [{name: point[name] for name in POINT} for point in points]
        return JsonResponse({"range": range, "step": step, "points": told})

    @app.get(
        f"{V1}/items",
        operation_id="items",
        response_model=schema.ItemList,
        responses=mistaken,
        tags=["watch"],
    )
    def items(
        search: Annotated[
            str, Query(max_length=200, description="A part of the label, in any case.")
        ] = "",
        sort: Annotated[Sort, Query(description="Those without this number come last.")] = "shown",
        order: Annotated[
            Literal["asc", "desc"], Query(description="The smallest or the largest first.")
        ] = "desc",
        never_shown: Annotated[bool, Query(description="Only those never shown.")] = False,
        offset: Annotated[int, Query(ge=0, le=2**53, description="How many to leave out.")] = 0,
        limit: Annotated[int, Query(ge=1, le=1000, description="The most to list.")] = 50,
    ) -> Response:
        """The labels that can be shown, with what became of them."""
        query = ItemQuery(search, sort, order == "desc", never_shown, offset, limit)
        total, found = list_items(engine.learner.labels, engine.statistics.labels(), query)
        return JsonResponse({"total": total, "items": found})


def _state(engine: Engine, metrics: Metrics) -> dict[str, Any]:
    learner, learning = engine.learner, engine.learning
    header, limits, now = config_of(learner), engine.settings.limits, engine.clock.time
    features = engine.features
    names = [one["name"] for one in features or [] if one["name"] is not None]
    settings, requests = header["settings"] | header["common"], metrics.recent.summary()
    uplift = None if engine.holdout is None else engine.holdout.uplift(now)
    seen = _observe(engine, settings.get("a"), names, requests, uplift)
    return {
        "learner": header["learner"],
        "settings": settings,
        "policy": engine.deciders.policy,
        "n_features": learner.n_features,
        "features": features,
        "feature_names": names or None,
        "n_labels": learner.n_labels,
        "looked_share": learner.looked_share,
        "version": learner.t,
        "position": engine.store.last,
        "learned": learning.position,
        "snapshot": learning.snapshot_position,
        "backlog": learning.backlog,
        "waiting": engine.waiting,
        "healthy": engine.healthy,
        "following": engine.following,
        "erasure": _erasure(engine),
        "wait": engine.settings.wait,
        "limits": {"slots": limits.slots, "batch": limits.batch, "body": limits.body},
        "problems": [vars(one) for one in find_problems(seen)],
        "requests": requests,
        "uplift": uplift,
        "minutes": engine.statistics.minutes(now),
        **engine.statistics.summary(),
    }


def _erasure(engine: Engine) -> dict[str, Any] | None:
    """What was erased and is not yet gone from files, as JSON can hold it."""
    pending = engine.eraser.pending
    if pending is None:
        return None
    return {"events": pending.events, "since": pending.since, "waits_for": pending.waits}


def _observe(
    engine: Engine, a: float | None, names: list[str], requests: dict[str, Any],
    uplift: dict[str, Any] | None,
) -> Observed:  # fmt: skip
    """The numbers that problems are found in."""
    statistics, now = engine.statistics, engine.clock.time
    recent = statistics.recent(MINUTE, 10, now)
    hour, day = statistics.recent(MINUTE, 60, now), statistics.recent(HOUR, 24, now)
    totals, labels = statistics.totals(), engine.learner.labels
    constant, drifting = (
        [_feature_name(one, names) for one in some] for some in statistics.unusual_features()
    )
    return Observed(
        not_ready=engine.problem,
        a=a,
        recent_decisions=recent["decisions"],
        recent_empty=recent["empty"],
        hour_decisions=hour["decisions"],
        hour_feedback=hour["feedback"] - hour["waited"],
        day_decisions=day["decisions"],
        day_feedback=day["feedback"] - day["waited"],
        feedback=totals["feedback"] - totals["waited"],
        backlog=engine.learning.backlog,
        backlog_limit=engine.settings.limits.backlog,
        requests=requests["count"],
        errors=requests["errors"],
        refused=requests["refused"],
        labels=len(labels),
        never_shown=statistics.count_never_shown(labels),
        decisions_since_labels_changed=statistics.decisions_since_labels_changed,
        constant=constant,
        drifting=drifting,
        most_gained=_most_gained(uplift),
        ahead=engine.clock.ahead,
        left_out=engine.left_out if now - engine.started < DAY else None,
    )


def _most_gained(uplift: dict[str, Any] | None) -> float | None:
    """The upper end of the relative uplift in visits with a click, if it is known."""
    if uplift is None or not uplift["visits_with_a_click"]["can_tell"]:
        return None
    most: float | None = uplift["visits_with_a_click"]["relative_interval"][1]
    return most


def _feature_name(feature: int | str, names: list[str]) -> str:
    """Its name, if its number has one; people count from 1."""
    if isinstance(feature, str):
        return feature
    return names[feature] if feature < len(names) else f"number {feature + 1}"
