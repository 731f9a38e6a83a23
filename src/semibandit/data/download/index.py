"""Finding a file on the package indexes that pip is configured for, with the library `unearth`."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from semibandit.data.download.pip_config import PipConfig
from semibandit.errors import DownloadError

if TYPE_CHECKING:
    from unearth import PackageFinder
    from unearth.fetchers import PyPIClient

__all__ = ["find_url", "http_client"]


def find_url(
    package: str, version: str, filename: str, client: PyPIClient, config: PipConfig
) -> str:
    """Find the address of a package's file, on the first index that has it.

    Parameters
    ----------
    package, version, filename : str
        The requirement, and which of its files.
    client : PyPIClient
        What `http_client` gives.
    config : PipConfig
        Which indexes to ask.

    Returns
    -------
    str
        The address.

    Raises
    ------
    DownloadError
        If no index has the file; the text names the indexes that could not be asked.
    """
    import httpx2

    failures = []
    for finder in _finders(client, config):
        try:
            for match in finder.find_matches(f"{package}=={version}"):
                if match.link.filename == filename:
                    return match.link.normalized
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            failures.append(f"{_without_password(finder.sources[0]['url'])}: {error}")
    reasons = ": " + "; ".join(failures) if failures else ""
    raise DownloadError(f"no package index here has {filename}{reasons}")


def http_client(config: PipConfig) -> PyPIClient:
    """A client with pip's certificate, proxy, trusted hosts and timeout; it never prompts.

    Raises
    ------
    DownloadError
        If the configured certificate cannot be used.
    """
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers import PyPIClient

    logging.getLogger("unearth").addHandler(logging.NullHandler())  # errors are raised, not logged
    try:
        verify = ssl.create_default_context(cafile=config.cert) if config.cert else True
    except (OSError, ssl.SSLError) as error:
        raise DownloadError(
            f"pip's setting cert = {config.cert!r} cannot be used: {error}"
        ) from None
    client = PyPIClient(
        trusted_hosts=config.trusted_hosts,
        verify=verify,
        timeout=config.timeout,
        proxy=config.proxy,
        follow_redirects=True,
    )
    urls = [url for url in (config.index_url, *config.extra_index_urls) if url]
    client.auth = MultiDomainBasicAuth(prompting=False, index_urls=urls)
    return client


def _finders(client: PyPIClient, config: PipConfig) -> Iterator[PackageFinder]:
    """One finder per index, so that one that cannot be reached does not hide the others."""
    from unearth import PackageFinder

    # a file is wanted for its content, whatever Python the package is made for
    finder = partial(PackageFinder, cast(Any, client), ignore_compatibility=True)
    for link in config.find_links:
        if "://" in link or os.path.exists(link):
            yield finder(find_links=[link])
    if config.no_index:
        return
    yield finder(index_urls=[config.index_url] if config.index_url else [])
    for url in config.extra_index_urls:
        yield finder(index_urls=[url])


def _without_password(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"
