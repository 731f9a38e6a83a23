"""Rows of a log, from wherever it is, are those of its events."""

import pytest
from events import EVENTS, plain

import semibandit as sb
from semibandit.errors import FileError
from semibandit.store.export import write_log
from semibandit.store.log_rows import open_rows
from semibandit.store.store import Store


@pytest.mark.parametrize("kind", ["store", "jsonl", "parquet"])
def test_rows_make_the_events_again(tmp_path, kind):
    with Store.create(tmp_path / "s", sb.SlateUCB(4, ["a", 7]), {"for": "tests"}) as store:
        store.append(EVENTS)
        if kind != "store":
            write_log(store, tmp_path / f"log.{kind}")
    where = tmp_path / ("s" if kind == "store" else f"log.{kind}")
    with open_rows(where) as opened:
        rows = list(opened.rows)
        assert opened.about == {"for": "tests"}
        assert opened.learner.labels == ["a", 7]
    assert [row.seq for row in rows] == list(range(1, len(EVENTS) + 1))
    assert [plain(row.event()) for row in rows] == [plain(event) for event in EVENTS]


def test_a_line_that_is_cut_off_is_told_or_an_error(tmp_path):
    with Store.create(tmp_path / "s", sb.SlateUCB(4, ["a", 7])) as store:
        store.append(EVENTS)
        write_log(store, tmp_path / "log.jsonl")
    whole = (tmp_path / "log.jsonl").read_bytes()
    (tmp_path / "log.jsonl").write_bytes(whole[:-5])
    told = []
    with open_rows(tmp_path / "log.jsonl", lambda: told.append(1)) as opened:
        assert len(list(opened.rows)) == len(EVENTS) - 1
    assert told == [1]
    with (
        open_rows(tmp_path / "log.jsonl") as opened,
        pytest.raises(FileError, match=f"line {len(EVENTS) + 1} is damaged"),
    ):
        list(opened.rows)


def test_a_parquet_file_of_something_else_is_no_log(tmp_path):
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    with Store.create(tmp_path / "s", sb.SlateUCB(4, ["a", 7])) as store:
        store.append(EVENTS)
        write_log(store, tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    pq.write_table(table.drop(["body"]), tmp_path / "log.parquet")
    with (
        open_rows(tmp_path / "log.parquet") as opened,
        pytest.raises(FileError, match="no column 'body'"),
    ):
        list(opened.rows)
    wrong = pa.array([json.dumps([1])] * len(table))
    pq.write_table(table.set_column(5, "body", wrong), tmp_path / "log.parquet")
    with (
        open_rows(tmp_path / "log.parquet") as opened,
        pytest.raises(FileError, match="event 1 is damaged"),
    ):
        list(opened.rows)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_the_model_saw_may_be_left_unread(tmp_path, kind):
    path = tmp_path / f"log.{kind}"
    with Store.create(tmp_path / "s", sb.SlateUCB(3, ["a", "b"])) as store:
        store.append(EVENTS)
        write_log(store, path)
    with open_rows(path) as opened:
        whole = list(opened.rows)
    with open_rows(path, seen=False) as opened:
        rows = list(opened.rows)
    assert any(row.seen is not None for row in whole)
    assert [plain(row._replace(seen=None).event()) for row in whole] == [
        plain(row.event()) for row in rows
    ]
