"""HTTP connections to one server that are kept and used again, by any number of threads."""

from __future__ import annotations

import base64
import selectors
import socket
import ssl
from collections import deque
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from semibandit._util.checks import shortened
from semibandit.client.messages import Answer, NoAnswer
from semibandit.errors import InputError

__all__ = ["Connections"]

IDLE = 16  # connections that are kept while nobody uses them


class Connections:
    """Connections to the server at a URL, each used by one request at a time.

    Parameters
    ----------
    url : str
        http:// or https://, host, port, and a path that all requests begin with.
    headers : mapping
        Headers of every request.
    timeout : float
        Seconds to wait for the server at any point.

    Raises
    ------
    InputError
        If it is no such URL.

    Examples
    --------
    >>> Connections("ftp://example.org", {}, 1.0)
    Traceback (most recent call last):
        ...
    semibandit.errors.InputError: url = 'ftp://example.org', but it must be http://host:port or https://host:port
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._url = _read_url(url)
        self._timeout = timeout
        self._proxy = _proxy_for(self._url)
        self._tls = ssl.create_default_context() if self._url.scheme == "https" else None
        self._headers = {**_credentials(self._url), **headers}
        self._path = self._url.path.rstrip("/")
        if self._proxy is not None and self._tls is None:  # a proxy is told the whole URL
            self._path = f"http://{self._url.netloc.rpartition('@')[2]}{self._path}"
        self._idle: deque[HTTPConnection] = deque()  # its methods are safe in many threads

    def ask(self, method: str, path: str, body: bytes | None = None, *, repeat: bool) -> Answer:
        """Send a request and wait for the answer.

        Parameters
        ----------
        method, path : str
            GET, POST or DELETE; the path with its query.
        body : bytes, optional
            JSON.
        repeat : bool
            Whether asking twice is asking once. If so, a request is sent again if the connection
            had been kept, and turns out to have been closed by the server meanwhile.

        Raises
        ------
        NoAnswer
            If the server cannot be reached, or does not answer in time.
        """
        kept = self._kept()
        if kept is not None:
            try:
                return self._send(kept, method, path, body)
            except NoAnswer as why:
                if why.late or not repeat:
                    raise
        return self._send(self._connected(), method, path, body)

    def close(self) -> None:
        """Close the connections; the next request opens a new one."""
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> HTTPConnection | None:
        """A connection that is still open, or None."""
        while self._idle:
            connection = self._idle.pop()
            if not _is_readable(connection.sock):  # else the server has closed it
                return connection
            connection.close()
        return None

    def _connected(self) -> HTTPConnection:
        """A new connection."""
        host, port = self._url.hostname or "", self._url.port
        via = (
            (host, port) if self._proxy is None else (self._proxy.hostname or "", self._proxy.port)
        )
        connection: HTTPConnection
        if self._tls is None:
            connection = HTTPConnection(*via, timeout=self._timeout)
        else:
            connection = HTTPSConnection(*via, timeout=self._timeout, context=self._tls)
        if self._proxy is not None and self._tls is not None:
            connection.set_tunnel(host, port)
        try:
            connection.connect()
        except (OSError, HTTPException) as why:
            connection.close()
            raise NoAnswer(why, never_sent=True) from None
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return connection

    def _send(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None
    ) -> Answer:
        headers = self._headers
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
        try:
            connection.request(method, self._path + path, body, headers)
            response = connection.getresponse()
            answer = Answer(response.status, response.read())
        except (OSError, HTTPException) as why:
            connection.close()
            raise NoAnswer(why, never_sent=False) from None
        if response.will_close or len(self._idle) >= IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return answer


def _is_readable(kept: socket.socket) -> bool:
    """Whether there is something to be read, be it the end."""
    with selectors.DefaultSelector() as selector:
        selector.register(kept, selectors.EVENT_READ)
        return bool(selector.select(0))


def _read_url(url: str) -> SplitResult:
    try:
        found = urlsplit(url)
        good = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except (ValueError, AttributeError, TypeError):  # by urlsplit, or the port
        good = False
    if not good:
        raise InputError(
            f"url = {shortened(url)}, but it must be http://host:port or https://host:port"
        )
    return found


def _proxy_for(url: SplitResult) -> SplitResult | None:
    """The proxy that the environment wants for this URL."""
    proxy = getproxies().get(url.scheme)
    if not proxy or proxy_bypass(url.hostname or ""):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _credentials(url: SplitResult) -> dict[str, str]:
    if url.username is None:
        return {}
    text = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}
