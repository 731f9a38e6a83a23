"""A replay's rounds as a file: one row per round, CSV or Parquet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.atomic import replacing
from semibandit.errors import InputError
from semibandit.evaluation.trace import Trace
from semibandit.theory.losses import LOSS_KINDS

__all__ = ["FORMATS", "write_rounds"]

FORMATS = ("csv", "parquet")


def write_rounds(trace: Trace, path: Path) -> None:
    """round, size, hit, relevant, slots, and each loss; the format by the path's suffix."""
    columns: dict[str, Any] = {
        "round": np.arange(1, len(trace) + 1),
        "size": trace.sizes,
        "hit": trace.hit,
        "relevant": trace.relevant,
        "slots": trace.slots,
        **{kind: trace.losses(kind) for kind in LOSS_KINDS},
    }
    text = io.BytesIO()
    if path.suffix == ".parquet":
        try:
            import pyarrow as arrow
            import pyarrow.parquet as parquet
        except ImportError:
            raise InputError(
                "Parquet needs pyarrow: pip install 'semibandit[data]', or --format csv"
            ) from None
        parquet.write_table(arrow.table(columns), text)
    else:
        text.write((",".join(columns) + "\n").encode())
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            text.write((",".join(map(repr, row)) + "\n").encode())
    with replacing(path) as file:
        file.write(text.getvalue())
