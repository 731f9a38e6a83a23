"""A trace as a file: one row per round, CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semibandit._util.arrays import Array
from semibandit._util.atomic import replacing
from semibandit._util.csv_file import write_csv
from semibandit._util.extras import import_extra
from semibandit.evaluation.trace import Trace
from semibandit.theory.losses import LOSS_KINDS

__all__ = ["FORMATS", "write_trace"]

FORMATS = ("csv", "parquet")


def write_trace(trace: Trace, path: Path) -> None:
    """Write one row per round: round, size, hit, relevant, slots, and each loss.

    Parameters
    ----------
    trace : Trace
        What `replay` or `play` returned.
    path : Path
        The file to write: Parquet if it ends in ".parquet", otherwise CSV.

    Raises
    ------
    MissingExtra
        If the file is to be Parquet and pyarrow is not installed.
    """
    columns: dict[str, Array] = {
        "round": np.arange(1, len(trace) + 1),
        "size": trace.sizes,
        "hit": trace.hit,
        "relevant": trace.relevant,
        "slots": trace.slots,
        **{kind: trace.losses(kind) for kind in LOSS_KINDS},
    }
    if path.suffix == ".parquet":
        arrow = import_extra("pyarrow", "data", "a trace as Parquet")
        parquet = import_extra("pyarrow.parquet", "data", "a trace as Parquet")
        with replacing(path) as file:
            parquet.write_table(arrow.table(columns), file)
    else:
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        write_csv(path, list(columns), rows)
