"""The process of a service: it runs until it is told to stop."""

from __future__ import annotations

import errno
import gc
import logging
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from semibandit._util.blas import one_thread
from semibandit.errors import InputError
from semibandit.models.gpu.device import find_device
from semibandit.service.certificate import check_certificate, reload_certificate
from semibandit.service.config import StoreConfig, open_store
from semibandit.service.engine.engine import Engine
from semibandit.service.grace import end_within
from semibandit.service.http.app import create_app
from semibandit.service.http.extra_pages import ExtraPages
from semibandit.service.http.hosts import AllowedHosts, is_loopback
from semibandit.service.http.protocol import HttpServer, TimedProtocol
from semibandit.service.http.starting import StartingApp
from semibandit.service.keys import Keys
from semibandit.service.settings import Settings
from semibandit.store.store import Store

__all__ = ["serve"]

log = logging.getLogger("semibandit")
COLLECT_EVERY = 20_000  # new objects between two collections: requests leave no garbage in cycles


def serve(
    where: str,
    config: StoreConfig,
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 8000,
    say: Callable[[str], object] = print,
    *,
    on_ready: Callable[[str], object] | None = None,
    extra: ExtraPages | None = None,
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
        Called with texts for the user: where it listens, and what is served.
    on_ready : function, optional
        Called with the URL once requests are answered, in the event loop; by default `say` is.
    extra : ExtraPages, optional
        Pages that are served beside the service's own.

    Raises
    ------
    InputError
        If the address cannot be used, or is open to other machines without a key, or if the store
        was made for something else.
    StoreError
        If the store cannot be reached, or another process uses it and this is not to follow.
    ClusterError
        If its shards are to be on a Ray cluster that cannot be reached, or is too small.
    DeviceError
        If the device of the settings is not there.
    """
    keys = Keys(settings)
    if not is_loopback(host) and not keys.needed:
        raise InputError(
            f"host = {host!r} can be reached from other machines: set an API key, "
            "--api-key-file, --api-key or $SEMIBANDIT_API_KEY"
        )
    hosts = AllowedHosts(settings.allow_hosts, host)
    if settings.load_device is not None:
        find_device(settings.load_device)
    check_certificate(settings)
    one_thread()
    sys.setswitchinterval(0.0002)  # a thread that learns lets the others speak
    listening = _listen(host, port)
    try:
        if settings.shards is not None:  # here, since Ray takes over SIGTERM as it is connected
            settings.shards.connect()
        follow, timeouts = settings.follow, settings.timeouts
        check = settings.check_placement
        store = open_store(where, config, timeout=timeouts.store, follow=follow, check=check)
        url = _url(settings, host, listening)

        def build(progress: Callable[[int, int], None]) -> ASGIApp:
            engine = _engine(store, settings, say, progress)
            does = "follows" if engine.following else "serves"
            say(f"semibandit {does} {engine.learner!r} from {store.name}{settings.placement}")
            say(str(engine.deciders))
            if engine.deciders.others:
                log.info("%s", engine.deciders)
            if engine.left_out is not None:
                log.warning("%s", engine.left_out)
            built = create_app(engine, keys, hosts, extra)
            gc.collect()
            gc.freeze()  # what is there now stays: looking through it again would hold up requests
            gc.set_threshold(COLLECT_EVERY, 10, 10)
            return built

        def on_end() -> None:
            if app.failure is None:
                (on_ready or say)(url)
            else:
                server.should_exit = True

        app = StartingApp(build, on_end)
        listens = f"starting at {url} (GET /readyz says how far)"
        server = _Server(_uvicorn_config(app, settings), settings, lambda: say(listens))
        signal.signal(signal.SIGTERM, server.handle_exit)  # also before and after it runs
        _reload_on_hangup(keys, server)
        server.run(sockets=[listening])
        if app.failure is not None:
            raise app.failure
    finally:
        listening.close()


def _uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    tls: dict[str, Any] = {}
    if settings.certfile is not None:
        tls = {"ssl_certfile": settings.certfile, "ssl_keyfile": settings.keyfile}
    grace: Any = settings.timeouts.grace / 2  # it goes to asyncio, which takes fractions
    return uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        log_config=None,  # its loggers write as ours do
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.timeouts.keep_alive,  # type: ignore[arg-type]
        timeout_graceful_shutdown=grace,
        **tls,
    )


def _url(settings: Settings, host: str, listening: socket.socket) -> str:
    scheme = "http" if settings.certfile is None else "https"
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listening.getsockname()[1]}"


def _reload_on_hangup(keys: Keys, server: HttpServer) -> None:
    """Read files of keys and the certificate again on SIGHUP; without any, a closed terminal still
    ends the process."""
    certificate = server.settings.certfile is not None

    def reload(sig: int, frame: FrameType | None) -> None:
        if keys.from_files or not certificate:
            keys.reload()
        reload_certificate(server.config.ssl, server.settings)

    if hasattr(signal, "SIGHUP") and (keys.from_files or certificate or not sys.stderr.isatty()):
        signal.signal(signal.SIGHUP, reload)


def _engine(
    store: Store,
    settings: Settings,
    say: Callable[[str], object],
    progress: Callable[[int, int], None],
) -> Engine:
    try:
        return Engine(store, settings, say, progress)
    except BaseException:
        store.close()
        raise


class _Server(HttpServer):
    """Ends in time, whatever hangs."""

    _told_to_end = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self._told_to_end:
            self._told_to_end = True
            end_within(self.settings.timeouts.grace)
        super().handle_exit(sig, frame)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with ExitStack() as closing:
            listening = closing.enter_context(socket.socket(family, kind, number))
            # on Windows SO_REUSEADDR would let another program take the port while we listen
            alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
            listening.setsockopt(socket.SOL_SOCKET, alone, 1)
            listening.bind(address)
            closing.pop_all()
    except OSError as why:
        taken = why.errno == errno.EADDRINUSE
        hint = "; take another with --port, or a free one with --port 0" if taken else ""
        raise InputError(f"cannot listen on {host}, port {port}: {why.strerror}{hint}") from None
    return listening
