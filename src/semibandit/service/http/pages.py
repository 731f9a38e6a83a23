"""What a browser is served: the page at /, and the API's description at /docs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from pathlib import Path

from fastapi import FastAPI, Response

__all__ = ["PAGE_PATHS", "add_docs", "add_files", "add_page"]

PAGE = Path(__file__).parent / "page"
POLICY = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
STYLED = POLICY + "; style-src 'self' 'unsafe-inline'"  # Swagger's script writes styles
HEADERS = {  # of everything that a browser shows: nobody may frame it, or guess its type
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# Paths are relative: the service may be below a path of a proxy's.
DOCS = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>semibandit</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true});\n'
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
FILES = {f"/{one.name}": one for one in sorted(PAGE.iterdir()) if one.suffix in KINDS}
FILES["/"] = FILES.pop("/index.html")
PAGE_PATHS = tuple(FILES)  # they hold no data: a browser may have them without a key


def add_page(app: FastAPI) -> None:
    """Serve the page and its files, which ask for nothing from elsewhere."""
    add_files(app, FILES)


def add_files(app: FastAPI, files: Mapping[str, Path]) -> None:
    """Serve each file (HTML, CSS or JavaScript) at its path, with the headers of every page."""
    for path, file in files.items():
        serve = _serve(file.read_bytes(), KINDS[file.suffix])
        app.get(path, include_in_schema=False)(serve)


def add_docs(app: FastAPI) -> None:
    """Serve OpenAPI's page with its own script and style: it works without a network."""
    assets = resources.files("fastapi_swagger.resources")
    script = assets.joinpath("swagger-ui-bundle.js").read_bytes()
    style = assets.joinpath("swagger-ui.css").read_bytes()
    for path, content, kind in (
        ("/docs", DOCS.encode(), "text/html"),
        ("/docs/start.js", START.encode(), "text/javascript"),
        ("/docs/swagger.js", script, "text/javascript"),
        ("/docs/swagger.css", style, "text/css"),
    ):
        app.get(path, include_in_schema=False)(_serve(content, kind, STYLED))


def _serve(content: bytes, kind: str, policy: str = POLICY) -> Callable[[], Awaitable[Response]]:
    headers = HEADERS | {"Content-Security-Policy": policy}

    async def page() -> Response:
        return Response(content, headers=headers, media_type=f"{kind}; charset=utf-8")

    return page
