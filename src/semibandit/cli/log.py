"""`semibandit export` and `semibandit migrate`: the log of a service as a file, and its format."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from semibandit.cli.errors import reporting_errors
from semibandit.cli.serve import DEFAULT_STORE

__all__ = ["export", "migrate"]

StoreOption = Annotated[str, typer.Option(help="A folder, or postgresql://...")]


def export(
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .parquet.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write the log of a service to one file; the service may be running.

    It says from when to when the log is: older events may have been removed (serve --keep).
    """
    from semibandit.store.export import write_log
    from semibandit.store.store import Store

    with reporting_errors("export"), Store(store, write=False) as opened:
        first, last = opened.first_decision(), opened.last_decision()
        n = write_log(opened, out)
        times = ""
        if first is not None and last is not None:
            times = f", with decisions from {_time(first[1])} to {_time(last[1])}"
        typer.echo(f"wrote {n} events to {out}{times}")
        if opened.removed:
            typer.echo(
                "other events have left the log (serve --keep, DELETE /v1/events); "
                f"it is whole after event {opened.removed}"
            )


def migrate(store: StoreOption = DEFAULT_STORE) -> None:
    """Bring a store of an older version to the present format, all at once or not at all.

    Nobody may use the store meanwhile. A folder is copied first, and `serve` does the same by
    itself; of a PostgreSQL database, make a backup before.
    """
    from semibandit.store.connect import connect
    from semibandit.store.migrate import migrate
    from semibandit.store.tables import FORMAT, read_format

    with reporting_errors("migrate"):
        db = connect(store, write=True)
        try:
            before = read_format(db)
            if before == FORMAT:
                typer.echo(f"{db.name} has format {FORMAT} already")
                return
            kept = db.back_up(f"format-{before}")
            migrate(db)
        finally:
            db.close()
        text = "" if kept is None else f"; as it was, it is in {kept}"
        typer.echo(f"{db.name} was migrated from format {before} to {FORMAT}{text}")


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(" ", "seconds")
