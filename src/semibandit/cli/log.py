"""`semibandit export`: the log of a service as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semibandit.cli.errors import reporting_errors
from semibandit.cli.serve import DEFAULT_STORE

__all__ = ["export"]


def export(
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .parquet.")],
    store: Annotated[str, typer.Option(help="A folder, or postgresql://...")] = DEFAULT_STORE,
) -> None:
    """Write the log of a service to one file; the service may be running."""
    from semibandit.store.export import write_log
    from semibandit.store.store import Store

    with reporting_errors("export"), Store(store, write=False) as opened:
        typer.echo(f"wrote {write_log(opened, out)} events to {out}")
