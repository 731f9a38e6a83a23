"""The process of a service: it runs until it is told to stop."""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn

from semibandit._util.blas import one_thread
from semibandit.errors import InputError
from semibandit.service.config import StoreConfig, open_store
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.store import Store

__all__ = ["serve"]


def serve(
    where: str,
    config: StoreConfig,
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 8000,
    say: Callable[[str], object] = print,
) -> None:
    """Serve a store's learner over HTTP until SIGINT or SIGTERM.

    Parameters
    ----------
    where : str
        The store: a folder or a postgresql:// URL. It is made if there is none.
    config : StoreConfig
        What the store is made for, or must have been made for.
    settings : Settings
        How the service runs.
    host, port
        Where to listen; port 0 takes a free one.
    say : function
        Called with texts for the user: what is served, and its URL once it answers.

    Raises
    ------
    InputError
        If the address cannot be used, or is open to other machines without a key, or if the store
        was made for something else.
    StoreError
        If the store cannot be reached, or another process uses it.
    """
    if not _loopback(host) and settings.api_key is None:
        raise InputError(
            f"host = {host!r} can be reached from other machines: set an API key, "
            "--api-key or $SEMIBANDIT_API_KEY"
        )
    one_thread()
    sys.setswitchinterval(0.0002)  # a thread that learns lets the others speak
    listening = _listen(host, port)
    try:
        engine = _engine(open_store(where, config), settings, say)
        at = f"[{host}]" if ":" in host else host
        say(f"semibandit serves {engine.learner!r} from {engine.store.name}")
        options = uvicorn.Config(
            create_app(engine),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=10,
        )
        server = _Server(options, lambda: say(f"http://{at}:{listening.getsockname()[1]}"))
        signal.signal(signal.SIGTERM, lambda *_: None)  # the server's own is put back to this one
        server.run(sockets=[listening])
    finally:
        listening.close()


def _engine(store: Store, settings: Settings, say: Callable[[str], object]) -> Engine:
    try:
        return Engine(store, settings, say)
    except BaseException:
        store.close()
        raise


class _Server(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, number)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as why:
        raise InputError(f"cannot listen on {host}, port {port}: {why.strerror}") from None
    return listening


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
