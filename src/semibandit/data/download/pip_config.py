"""pip's configuration: which package indexes to use, and how to reach them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PipConfig", "parse_pip_config", "read_pip_config"]

TIMEOUT = 30.0  # seconds without a byte, before a connection counts as broken


@dataclass(frozen=True)
class PipConfig:
    """pip's settings, as far as finding and downloading a file needs them.

    Parameters
    ----------
    index_url : str, optional
        The package index. None means the default one.
    extra_index_urls, find_links : tuple of str
        Further indexes, and pages or folders with files.
    no_index : bool
        Whether to use `find_links` alone.
    trusted_hosts : tuple of str
        Hosts whose certificates are not checked.
    cert, proxy : str, optional
        A file of certificates, and the address of a proxy.
    timeout : float
        Seconds without a byte, before a connection counts as broken.
    """

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    proxy: str | None = None
    timeout: float = TIMEOUT


def read_pip_config() -> PipConfig:
    """Ask pip for its configuration; if there is no pip, the environment variables alone count."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        listing = run.stdout if run.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        listing = ""
    return parse_pip_config(listing, os.environ)


def parse_pip_config(listing: str, environ: Mapping[str, str]) -> PipConfig:
    """The settings in the output of `pip config list`, and in environment variables PIP_*.

    Parameters
    ----------
    listing : str
        Lines such as `global.index-url='...'`.
    environ : mapping of str to str
        The environment; it overrides the listing, as it does for pip.

    Returns
    -------
    PipConfig
        The settings; what is not set has its default.

    Examples
    --------
    >>> config = parse_pip_config("global.index-url='http://a/simple'", {"PIP_TIMEOUT": "7"})
    >>> config.index_url, config.timeout
    ('http://a/simple', 7.0)
    """
    found: dict[str, str] = {}
    lines = [line.partition("=") for line in listing.splitlines() if "=" in line]
    for section in ("global", "install", "download"):  # the later one is the more specific
        for key, _, value in lines:
            if key.startswith(f"{section}."):
                found[key.removeprefix(f"{section}.")] = _unquote(value)
    for key, value in environ.items():
        if key.upper().startswith("PIP_") and value:
            found[key[4:].lower().replace("_", "-")] = value
    return PipConfig(
        index_url=found.get("index-url"),
        extra_index_urls=tuple(found.get("extra-index-url", "").split()),
        find_links=tuple(found.get("find-links", "").split()),
        no_index=found.get("no-index", "").lower() in ("1", "true", "yes", "on"),
        trusted_hosts=tuple(found.get("trusted-host", "").split()),
        cert=found.get("cert"),
        proxy=found.get("proxy"),
        timeout=_seconds(found.get("timeout", found.get("default-timeout", ""))),
    )


def _unquote(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _seconds(text: str) -> float:
    try:
        return max(float(text), 1.0)
    except ValueError:
        return TIMEOUT
