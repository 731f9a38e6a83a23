"""`semibandit demo --serve`: a running service to play with."""

from __future__ import annotations

import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from semibandit._util.extras import import_extra

if TYPE_CHECKING:
    from semibandit.experiments.shop_demo.address import Address

__all__ = ["serve_demo"]


def serve_demo(
    *, seed: int, per_second: float, store: Path | None, host: str, port: int,
    allow_hosts: Sequence[str], open_browser: bool,
) -> None:  # fmt: skip
    """Serve the shop until Ctrl-C; without a store, in a folder that is removed afterwards."""
    serving = import_extra("semibandit.experiments.shop_demo.serving", "service", "demo --serve")
    from semibandit.service.logs import configure_logs
    from semibandit.service.settings import LogSettings, Settings

    settings = Settings(allow_hosts=tuple(allow_hosts), logs=LogSettings(level="warning"))
    configure_logs(settings.logs)

    def on_ready(address: Address) -> None:
        typer.echo(_greeting(address, per_second, store))
        if open_browser:  # in a thread: some browsers are waited for
            link = address.link("demo")
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    with suppress(KeyboardInterrupt), _folder(store) as folder:  # Ctrl-C is how one stops it
        serving.serve_shop(
            folder, on_ready, per_second=per_second, seed=seed, host=host, port=port,
            settings=settings,
        )  # fmt: skip


@contextmanager
def _folder(store: Path | None) -> Iterator[str]:
    """The folder of the store; a temporary one is removed at the end."""
    if store is not None:
        yield str(store)
        return
    with tempfile.TemporaryDirectory(prefix="semibandit-demo-") as folder:
        yield str(Path(folder) / "store")


def _greeting(address: Address, per_second: float, store: Path | None) -> str:
    who = f"simulated visitors {per_second:g} times a second" if per_second else "no visitors yet"
    lines = [
        f"A shop is open: 30 items, {who}, and you.",
        "",
        f"  Play a visitor yourself    {address.link('demo')}",
        f"  Watch the service          {address.url}/",
    ]
    if address.elsewhere is not None:
        lines.append(f"  On a phone, same network   {address.link('demo', elsewhere=True)}")
    if address.key is not None:
        lines.append(f"  The key of its pages       {address.key}")
    kept = (
        "What it learns is in a temporary folder, which is removed then (--store FOLDER keeps it)."
        if store is None
        else f"What it learns is kept in {store}."
    )
    return "\n".join([*lines, "", f"Ctrl-C ends it. {kept}"])
