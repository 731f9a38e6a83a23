"""The certificate of a service that speaks HTTPS: checked at the start, read again on SIGHUP."""

from __future__ import annotations

import logging
import ssl

from semibandit.errors import InputError
from semibandit.service.settings import Settings

__all__ = ["check_certificate", "reload_certificate"]

log = logging.getLogger("semibandit")


def check_certificate(settings: Settings) -> None:
    """Raise an `InputError` if HTTPS cannot be served with the files of the settings."""
    if settings.certfile is None:
        return
    files = f"certfile = {settings.certfile!r}"
    if settings.keyfile is not None:
        files += f", keyfile = {settings.keyfile!r}"
    try:
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), settings)
    except ssl.SSLError:
        raise InputError(f"{files}: not a certificate and its key in PEM") from None
    except OSError as why:
        raise InputError(f"{files} cannot be read: {why.strerror}") from None


def reload_certificate(context: ssl.SSLContext | None, settings: Settings) -> None:
    """Read the files again, for connections that come from now on.

    If they cannot be used, the certificate stays and the log says why.
    """
    if context is None or settings.certfile is None:
        return
    try:
        check_certificate(settings)  # first: half of a wrong pair would take effect
    except InputError as why:
        log.error("the certificate stays as it is: %s", why)
        return
    _load(context, settings)
    log.info("the certificate was read again")


def _load(context: ssl.SSLContext, settings: Settings) -> None:
    assert settings.certfile is not None
    context.load_cert_chain(settings.certfile, settings.keyfile, password="")  # never asks
