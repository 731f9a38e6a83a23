"""A trace's file holds every round, and reads back to the bit."""

import csv
import sys

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import MissingExtra
from semibandit.evaluation.trace_file import write_trace
from semibandit.theory.losses import LOSS_KINDS


@pytest.fixture
def trace():
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((40, 3)), (random.random((40, 5)) < 0.3).astype(np.uint8)
    return sb.replay(sb.SlateUCB(3, 5), X, Y, 2)


def columns_of(path):
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        return parquet.read_table(path).to_pydict()
    rows = list(csv.DictReader(path.read_text().splitlines()))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_every_round_reads_back(trace, tmp_path, suffix):
    path = tmp_path / f"trace{suffix}"
    write_trace(trace, path)
    columns = columns_of(path)
    assert list(columns) == ["round", "size", "hit", "relevant", "slots", *LOSS_KINDS]
    assert columns["round"] == list(range(1, 41))
    assert columns["size"] == trace.sizes.tolist()
    for kind in LOSS_KINDS:
        assert columns[kind] == trace.losses(kind).tolist()


def test_parquet_without_pyarrow_is_refused_and_nothing_is_written(trace, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"needs pyarrow: pip install 'semibandit\[data\]'"):
        write_trace(trace, tmp_path / "trace.parquet")
    assert not list(tmp_path.iterdir())
