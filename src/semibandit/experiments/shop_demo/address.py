"""Where a demo can be reached: from this machine, and from others of its network."""

from __future__ import annotations

import socket
from contextlib import closing
from dataclasses import dataclass

from semibandit.service.http.hosts import is_loopback

__all__ = ["Address"]

EVERY_ADDRESS = ("0.0.0.0", "::")


@dataclass(frozen=True)
class Address:
    """Where a demo can be reached.

    Parameters
    ----------
    url : str
        The URL of the service, for this machine.
    elsewhere : str, optional
        The URL for other machines; None if they cannot reach it.
    key : str, optional
        The key that the service needs.
    """

    url: str
    elsewhere: str | None = None
    key: str | None = None

    @classmethod
    def of(cls, url: str, host: str, key: str | None = None) -> Address:
        """The address of a service that listens on `host`, and says that it is at this URL.

        >>> Address.of("http://127.0.0.1:8000", "127.0.0.1")
        Address(url='http://127.0.0.1:8000', elsewhere=None, key=None)
        """
        if is_loopback(host):
            return cls(url, None, key)
        if host not in EVERY_ADDRESS:
            return cls(url, url, key)
        in_url = f"[{host}]" if ":" in host else host
        here, there = ((url.replace(in_url, name, 1)) for name in ("127.0.0.1", _own_address()))
        return cls(here, there, key)

    def link(self, path: str = "", *, elsewhere: bool = False) -> str:
        """The link to a page; the key comes behind a #, so that it is not sent with the request.

        >>> Address("http://127.0.0.1:8000", key="k").link("demo")
        'http://127.0.0.1:8000/demo#key=k'
        """
        start = self.elsewhere if elsewhere else self.url
        return f"{start}/{path}" + (f"#key={self.key}" if self.key else "")


def _own_address() -> str:
    """The address of this machine in its network, as far as the system knows."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as one:
        try:
            one.connect(("192.0.2.1", 9))  # nothing is sent: it is only asked which way it would go
        except OSError:
            return "127.0.0.1"
        return str(one.getsockname()[0])
