"""Errors as HTTP answers: which type has which status, and which text.

The engine knows no HTTP; it raises the types of `semibandit.errors`. Any other exception is a bug:
it is logged with its traceback, and answered with 500.
"""

from __future__ import annotations

import logging

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from semibandit.errors import (
    ClusterError,
    Conflict,
    InputError,
    LabelExists,
    ServiceUnavailable,
    StoreError,
    UnknownDecision,
    UnknownLabel,
)
from semibandit.service.engine.requests import InternalError
from semibandit.service.http.mistakes import describe_mistakes
from semibandit.service.http.responses import JsonResponse

__all__ = ["ErrorMiddleware", "error_response", "status_and_detail", "status_of"]

log = logging.getLogger("semibandit")

STATUS: tuple[tuple[type[Exception], int], ...] = (  # the first that fits
    (UnknownLabel, 404),
    (UnknownDecision, 404),
    (LabelExists, 409),
    (Conflict, 409),
    (InputError, 422),
    (RequestValidationError, 422),
    (StoreError, 503),
    (ServiceUnavailable, 503),
    (ClusterError, 503),
)
BUG = "something went wrong in the service; its log says what"


class ErrorMiddleware:
    """Answers a request whose handling raised an exception, inside of FastAPI."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        except ClientDisconnect:  # nobody is there to be answered
            pass
        except Exception as error:
            await error_response(error)(scope, receive, send)


def error_response(error: Exception) -> JsonResponse:
    """The answer to a request that failed with this error."""
    status, detail = status_and_detail(error)
    if isinstance(error, InternalError):  # here, where the request's id is known
        log.error("a request failed; the traceback was logged where it happened")
    headers = error.headers if isinstance(error, HTTPException) else None
    return JsonResponse({"detail": detail}, status, headers)


def status_and_detail(error: BaseException) -> tuple[int, str]:
    """The HTTP status and the text for an error; a bug that nobody has logged is logged."""
    status = status_of(error)
    if isinstance(error, HTTPException):
        return status, str(error.detail)
    if isinstance(error, RequestValidationError):
        return status, describe_mistakes(error.errors())
    if status != 500:
        return status, str(error)
    if not isinstance(error, InternalError):
        log.error("a request failed", exc_info=error)
    return status, BUG


def status_of(error: BaseException) -> int:
    """The HTTP status for an error; 500 for a bug."""
    if isinstance(error, HTTPException):
        return error.status_code
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)
