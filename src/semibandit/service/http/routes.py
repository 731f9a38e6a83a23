"""Every path of the service: its name in metrics, what its body must be, and whether it is open.

Paths are under /v1. Those without it are the same, for one more release. The pages, the
description and what machines ask about the process have no version.
"""

from __future__ import annotations

from dataclasses import dataclass

from semibandit.service.http.pages import PAGE_PATHS

__all__ = ["BYTES", "JSON", "ROUTES", "Route", "V1", "find_route"]

V1 = "/v1"
JSON, BYTES = b"application/json", b"application/octet-stream"


@dataclass(frozen=True, slots=True)
class Route:
    """What the middleware knows of a path.

    Parameters
    ----------
    path : str
        The path that the application has it under.
    name : str
        Its name in the metrics.
    body : bytes, optional
        The content type that a body must have; None if it takes no body.
    query : tuple of str
        What the query of a request that changes something may have.
    open : bool
        Whether it needs no key, because it holds no data.
    deprecated : bool
        Whether it was asked for by its path without a version.
    """

    path: str
    name: str
    body: bytes | None = None
    query: tuple[str, ...] = ()
    open: bool = False
    deprecated: bool = False


RENAMED = {  # paths of 0.2, which stay for one release
    "rank": JSON, "feedback": JSON, "rank/batch": JSON, "feedback/batch": JSON, "labels": JSON,
    "state": None, "snapshot": None,
}  # fmt: skip
NEW = {"series": None, "items": None, "events": None, "events/erase": JSON, "learner": BYTES}
QUERIES = {"rank": ("dry_run",), "events": ("subject",), "learner": ("after",)}
HEALTH = ("/livez", "/readyz", "/healthz")
DOCS = ("/docs", "/docs/swagger.js", "/docs/swagger.css", "/docs/start.js", "/openapi.json")

ROUTES: dict[str, Route] = {
    **{
        f"{V1}/{name}": Route(f"{V1}/{name}", name, body, QUERIES.get(name, ()))
        for name, body in (RENAMED | NEW).items()
    },
    **{
        f"/{name}": Route(f"{V1}/{name}", name, body, QUERIES.get(name, ()), deprecated=True)
        for name, body in RENAMED.items()
    },
    "/metrics": Route("/metrics", "metrics"),
    **{path: Route(path, "health", open=True) for path in HEALTH},
    **{path: Route(path, "page", open=True) for path in (*PAGE_PATHS, *DOCS)},
}


def find_route(path: str) -> Route:
    """The route of a path; one that there is not is named "other", so that names stay few.

    >>> find_route("/rank").path, find_route("/v1/events/visit-1").name
    ('/v1/rank', 'events')
    """
    found = ROUTES.get(path)
    if found is not None:
        return found
    if path.startswith(f"{V1}/events/"):
        return Route(path, "events")
    return Route(path, "other")
