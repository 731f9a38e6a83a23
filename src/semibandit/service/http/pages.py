"""What a browser is served: the page at /, and the API's description at /docs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import Path

from fastapi import FastAPI, Response
from fastapi.openapi.docs import get_swagger_ui_html

__all__ = ["add_docs", "add_page"]

PAGE = Path(__file__).parent / "page"


def add_page(app: FastAPI) -> None:
    """Serve the page and its two files, which ask for nothing from elsewhere."""
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


def add_docs(app: FastAPI) -> None:
    """Serve OpenAPI's page with its own script and style: it works without a network."""
    assets = resources.files("fastapi_swagger.resources")
    script = assets.joinpath("swagger-ui-bundle.js").read_bytes()
    style = assets.joinpath("swagger-ui.css").read_bytes()

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
