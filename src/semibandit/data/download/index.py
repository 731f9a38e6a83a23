"""Where packages come from here: what pip is configured to use, asked with `unearth`."""

from __future__ import annotations

import ast
import logging
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from semibandit.errors import DownloadError

if TYPE_CHECKING:
    from unearth import PackageFinder
    from unearth.fetchers import PyPIClient

__all__ = ["Places", "client", "configured", "find"]

SECONDS = 30.0  # without a byte, before a connection counts as broken


@dataclass(frozen=True)
class Places:
    """pip's settings, as far as finding and fetching a file needs them."""

    index_url: str | None = None  # None: the default
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    proxy: str | None = None
    timeout: float = SECONDS


def configured() -> Places:
    """What `pip config list` says, environment included; without pip the environment alone."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        listed = run.stdout if run.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        listed = ""
    return places(listed, os.environ)


def places(listed: str, environ: Mapping[str, str]) -> Places:
    """The settings in pip's listing (lines such as `global.index-url='...'`) and in PIP_*.

    >>> places("global.index-url='http://a/simple'", {"PIP_FIND_LINKS": "one two"})
    Places(index_url='http://a/simple', extra_index_urls=(), find_links=('one', 'two'), \
no_index=False, trusted_hosts=(), cert=None, proxy=None, timeout=30.0)
    """
    found: dict[str, str] = {}
    lines = [line.partition("=") for line in listed.splitlines() if "=" in line]
    for section in ("global", "install", "download"):  # the later one is the more particular
        for key, _, value in lines:
            if key.startswith(f"{section}."):
                found[key.removeprefix(f"{section}.")] = _unquoted(value)
    for key, value in environ.items():
        if key.upper().startswith("PIP_") and value:
            found[key[4:].lower().replace("_", "-")] = value
    return Places(
        index_url=found.get("index-url"),
        extra_index_urls=tuple(found.get("extra-index-url", "").split()),
        find_links=tuple(found.get("find-links", "").split()),
        no_index=found.get("no-index", "").lower() in ("1", "true", "yes", "on"),
        trusted_hosts=tuple(found.get("trusted-host", "").split()),
        cert=found.get("cert"),
        proxy=found.get("proxy"),
        timeout=_seconds(found.get("timeout", found.get("default-timeout", ""))),
    )


def find(package: str, version: str, filename: str, client: PyPIClient, places: Places) -> str:
    """The address of a source package's file, from the first place that has it."""
    import httpx2

    wanted, trouble = f"{package}=={version}", []
    for finder in _finders(client, places):
        where = finder.sources[0]["url"]
        try:
            for match in finder.find_matches(wanted):
                if match.link.filename == filename:
                    return match.link.normalized
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as why:
            trouble.append(f"{_redacted(where)}: {why}")
    asked = ": " + "; ".join(trouble) if trouble else ""
    raise DownloadError(f"no package index here has {filename}{asked}")


def client(places: Places) -> PyPIClient:
    """A client with pip's certificate, proxy, trusted hosts and patience; it never prompts."""
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers import PyPIClient

    logging.getLogger("unearth").addHandler(logging.NullHandler())  # we say it, once
    try:
        verify = ssl.create_default_context(cafile=places.cert) if places.cert else True
    except (OSError, ssl.SSLError) as why:
        raise DownloadError(f"pip's setting cert = {places.cert!r} cannot be used: {why}") from None
    session = PyPIClient(
        trusted_hosts=places.trusted_hosts,
        verify=verify,
        timeout=places.timeout,
        proxy=places.proxy,
        follow_redirects=True,
    )
    urls = [url for url in (places.index_url, *places.extra_index_urls) if url]
    session.auth = MultiDomainBasicAuth(prompting=False, index_urls=urls)
    return session


def _finders(client: PyPIClient, places: Places) -> Iterator[PackageFinder]:
    """One finder a place, so that one that is out of reach does not hide the others."""
    from unearth import PackageFinder

    fetcher = cast(Any, client)  # its types and unearth's own protocol do not agree
    for link in places.find_links:
        if "://" in link or os.path.exists(link):
            yield PackageFinder(fetcher, find_links=[link])
    if places.no_index:
        return
    yield PackageFinder(fetcher, index_urls=[places.index_url] if places.index_url else [])
    for url in places.extra_index_urls:
        yield PackageFinder(fetcher, index_urls=[url])


def _redacted(url: str) -> str:
    """Without a password."""
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _seconds(text: str) -> float:
    try:
        return max(float(text), 1.0)
    except ValueError:
        return SECONDS
