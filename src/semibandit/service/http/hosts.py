"""Under which names the service answers: a page of another site must not reach it by DNS.

A browser lets a page talk to the host it came from. If the name of an attacker's host resolves to
127.0.0.1 later (DNS rebinding), that is this service; but the Host header still has the attacker's
name. An address cannot be rebound, so if the service listens on every address of the machine, any
address is accepted.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from semibandit.errors import InputError

__all__ = ["AllowedHosts", "is_loopback"]

NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
MOST_KNOWN = 1000  # headers that are remembered, so that they are not read again


class AllowedHosts:
    """The names that the Host header of a request may have, with any port.

    Parameters
    ----------
    names : iterable of str
        Names or addresses besides those of loopback: `shop.example.org`, `*.example.org` for
        all names below one, or `*` for every name.
    listening : str
        What the service listens on; it is allowed unless it stands for every address.

    Raises
    ------
    InputError
        If one of the names is none.

    Examples
    --------
    >>> hosts = AllowedHosts(["*.example.org"])
    >>> [hosts.allows(one) for one in (b"localhost:8000", b"a.example.org", b"evil.com")]
    [True, True, False]
    """

    def __init__(self, names: Iterable[str] = (), listening: str = "127.0.0.1") -> None:
        exact, self._below = {"localhost"}, []
        self._all = False
        for name in names:
            text = name.lower()
            if text == "*":
                self._all = True
            elif text.startswith("*.") and NAME.fullmatch(text[2:]):
                self._below.append(text[1:])
            elif NAME.fullmatch(text) or _address(text) is not None:
                exact.add(text)
            else:
                raise InputError(
                    f"allow_host = {name!r}, expected a name without port such as "
                    "shop.example.org, *.example.org for all names below one, or *"
                )
        address = _address(listening.lower())
        self._any_address = listening == "" or (address is not None and address.is_unspecified)
        if not self._any_address:
            exact.add(listening.lower())
        self._addresses = {found for one in exact if (found := _address(one)) is not None}
        self._names = exact
        self._known: set[bytes] = set()

    def allows(self, header: bytes) -> bool:
        """Whether a Host header has one of the names."""
        if header in self._known:
            return True
        name = _name_of(header.decode("latin-1").lower())
        if name is None or not self._fits(name):
            return False
        if len(self._known) < MOST_KNOWN:
            self._known.add(header)
        return True

    def _fits(self, name: str) -> bool:
        address = _address(name)
        if address is not None:
            known = address.is_loopback or address in self._addresses
            return known or self._any_address or self._all
        return self._all or name in self._names or name.endswith(tuple(self._below))


def is_loopback(host: str) -> bool:
    """Whether what is listened on can be reached from this machine alone."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def _name_of(header: str) -> str | None:
    """The name or address of a Host header without its port; None if it is no such header."""
    found = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?", header)
    return None if found is None else found[1] or found[2]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
