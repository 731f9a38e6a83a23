"""The demo as a service: a shop, its simulated visitors, and a page to play one of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from semibandit._util.numba import without_numba
from semibandit.experiments.shop_demo.address import Address
from semibandit.experiments.shop_demo.visitors import Visitors
from semibandit.policies.features.features import Features
from semibandit.service.config import StoreConfig
from semibandit.service.http.extra_pages import ExtraPages
from semibandit.service.http.hosts import is_loopback
from semibandit.service.serve import serve
from semibandit.service.settings import LogSettings, Settings
from semibandit.worlds.shop import KINDS, REGULARS, WEATHER, Shop

__all__ = ["SLOTS", "serve_shop"]

SLOTS = 4  # items in a list
PAGE = Path(__file__).parent / "page"
QUIET = Settings(logs=LogSettings(level="warning"))


def serve_shop(
    store: str,
    on_ready: Callable[[Address], object],
    *,
    per_second: float = 40.0,
    seed: int = 0,
    host: str = "127.0.0.1",
    port: int = 8000,
    settings: Settings = QUIET,
) -> None:
    """Serve a learner with a service's defaults to a simulated shop, until SIGINT or SIGTERM.

    It does without numba, which the first time on a machine would compile for longer than anyone
    waits for a demo.

    Parameters
    ----------
    store : str
        The service's store. It is made if there is none.
    on_ready : function
        Called with the address once pages are served.
    per_second : float
        Simulated visits in a second; 0 for none.
    seed : int
        Of the shop and its visitors.
    host, port
        Where to listen. If other machines can reach it, a key is made unless there is one.
    settings : Settings
        How the service runs.

    Raises
    ------
    InputError
        If a value cannot be used, or the address is in use, or the store was made for other labels.
    StoreError
        If another process uses the store.
    """
    shop = Shop(seed)
    visitors = Visitors(shop, per_second, SLOTS, seed) if per_second else None
    config = StoreConfig(Features.parse(shop.features), [item.name for item in shop.items])
    if not is_loopback(host) and settings.api_key is None:
        settings = replace(settings, api_key=secrets.token_urlsafe(9))

    def begin(url: str) -> None:
        address = Address.of(url, host, settings.api_key)
        if visitors is not None:
            visitors.start(address.url, settings.api_key)
        on_ready(address)

    pages = _pages(shop, visitors)
    try:
        with without_numba():
            serve(store, config, settings, host, port, _ignore, on_ready=begin, extra=pages)
    finally:
        if visitors is not None:
            visitors.stop()


def _ignore(text: str) -> None:
    """What a service says as it starts is not what the demo is about."""


def _pages(shop: Shop, visitors: Visitors | None) -> ExtraPages:
    files = {f"/demo/{one.name}": one for one in sorted(PAGE.iterdir())}
    files["/demo"] = files.pop("/demo/index.html")
    about = {
        "slots": SLOTS,
        "kinds": {kind: list(names) for kind, names in KINDS.items()},
        "weather": list(WEATHER),
        "regulars": len(REGULARS),
        "random": shop.random_rate(),
        "best": shop.best_rate(SLOTS),
    }

    def crowd() -> dict[str, Any] | None:
        return None if visitors is None else visitors.progress()

    return ExtraPages(files, {"/demo/shop": lambda: about, "/demo/crowd": crowd})
