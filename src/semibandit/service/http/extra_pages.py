"""Pages that a program serves beside the service's own, such as the demo's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response

from semibandit.service.http.pages import add_files
from semibandit.service.http.responses import JsonResponse
from semibandit.service.http.routes import Route

__all__ = ["ExtraPages"]


@dataclass(frozen=True)
class ExtraPages:
    """More paths of a service, under the same rules as its own; its description has none of them.

    Parameters
    ----------
    files : mapping
        The file at each path: HTML, CSS or JavaScript. They are served without a key.
    data : mapping
        The function at each path whose result is answered as JSON. It is called in the event loop,
        so it must return at once.
    """

    files: Mapping[str, Path] = field(default_factory=dict)
    data: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @property
    def routes(self) -> dict[str, Route]:
        """What the middleware knows of these paths."""
        files = {path: Route(path, "page", open=True) for path in self.files}
        return files | {path: Route(path, "page") for path in self.data}

    def add_to(self, app: FastAPI) -> None:
        """Serve them."""
        add_files(app, self.files)
        for path, function in self.data.items():
            app.get(path, include_in_schema=False)(_answer(function))


def _answer(function: Callable[[], Any]) -> Callable[[], Any]:
    async def answer() -> Response:
        return JsonResponse(function())

    return answer
