"""Rows of a log, from wherever it is, are those of its events."""

import base64
import json
import sqlite3
import tracemalloc
from contextlib import closing, suppress

import numpy as np
import pytest
from events import EVENTS, plain
from hostile_files import HOSTILE
from shop import Shop, write_shop_log

import semibandit as sb
from semibandit.errors import FileError, InputError
from semibandit.policies.persistence import snapshot_of
from semibandit.store.event import pack, unpack
from semibandit.store.export import open_log, write_log
from semibandit.store.log_rows import open_rows
from semibandit.store.rebuild import rebuild
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


DEEP = b"[" * 200_000 + b"\n"
CHANGES = {  # of a decision and of feedback, and what is said; None if the log can be read
    "times beyond all floats": ({"at": 10**400}, {}, "line 2 is damaged"),
    "places beyond 64 bits": ({"seq": 2**70}, {}, "line 2 is damaged"),
    "a time that is none": ({"at": float("nan")}, {}, "damaged event: decision"),
    "an id that is a list": ({"id": ["x"]}, {}, r"damaged event: decision \['x'\]"),
    "an id that is missing": ({"id": None}, {}, "damaged event: decision None"),
    "an id twice": ({"id": "same"}, {"id": "same"}, "another decision with the id 'same'"),
    "other fields": ({"body": {"x": 1}}, {}, "damaged event: decision"),
    "labels that are none": ({"labels": [["x"], {"y": 1}]}, {}, "damaged event: decision"),
    "labels that nobody has": ({"labels": ["x", "y"]}, {"clicked": ["x"]}, None),
    "clicks on what nobody has": ({}, {"clicked": ["nobody"]}, None),
    "clicks in a mapping": ({}, {"clicked": {"a": 1}}, "damaged event: feedback"),
    "what was not shown, examined": ({}, {"clicked": [], "examined": ["nobody", "a"]}, None),
    "numbers for lists": ({}, {"retired": 3}, "damaged event: feedback"),
    "numbers beyond all floats": ({"draw": 10**400, "slots": 10**400}, {}, None),
    "labels twice": ({"labels": ["a", "a"]}, {}, None),
}


def rewritten(path, decision, feedback):
    """The events of a log, in which those of a kind have other values."""
    lines = path.read_bytes().splitlines(keepends=True)
    for i, line in enumerate(lines[1:], 1):
        row = json.loads(line)
        for key, value in {"decision": decision, "feedback": feedback}[row["kind"]].items():
            (row if key in row else row["body"])[key] = value
        lines[i] = json.dumps(row).encode() + b"\n"
    return lines


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path, shop = tmp_path_factory.mktemp("good") / "good.jsonl", Shop()
    write_shop_log(path, shop, 30, group=8)
    return path


READERS = (
    sb.replay_log,
    lambda path: sb.replay_log(path, sb.Thompson(Shop().d, Shop().items)),
    lambda path: sb.evaluate(path, "uniform"),
    sb.position_bias,
)


@pytest.mark.parametrize("what", CHANGES)
def test_a_log_with_anything_else_in_its_places_is_read_or_refused(good, tmp_path, what):
    decision, feedback, message = CHANGES[what]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"".join(rewritten(good, decision, feedback)))
    for read in READERS:
        with suppress(InputError):  # whatever else is raised is a bug
            read(path)
    with open_log(path) as log:
        if message is None:
            assert len(list(log.learnable_events())) == 30
        else:
            with pytest.raises(FileError, match=message):
                list(log.learnable_events())


@pytest.mark.parametrize("read", READERS, ids=["own", "other", "evaluate", "position_bias"])
def test_a_log_that_is_nested_deeply_is_refused_with_its_line(good, tmp_path, read):
    lines, path = good.read_bytes().splitlines(keepends=True), tmp_path / "bad.jsonl"
    for place, inside, message in (
        (2, DEEP, "line 3 is damaged"),
        (2, b'{"seq": 2, "kind": "labels", "body": ' + DEEP, "line 3 is damaged"),
        (0, DEEP, "not a log that semibandit exported"),
    ):
        path.write_bytes(b"".join([*lines[:place], inside, *lines[place + 1 :]]))
        with pytest.raises(FileError, match=message):
            read(path)


@pytest.mark.parametrize("what", ["labels that are numbered", "features that are not there"])
def test_a_log_with_a_hostile_learner_is_refused_within_bounds(tmp_path, what):
    make, message = HOSTILE[what]
    bandit = sb.SlateUCB(4, list("abc"), a=1.0)
    for x in np.eye(4):
        bandit.learn(bandit.rank(x), [])
    content = base64.b64encode(make(snapshot_of(bandit).to_bytes())).decode()
    head = {"format": 1, "about": {}, "learner": content}
    (tmp_path / "bad.jsonl").write_text(json.dumps(head) + "\n")
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=message):
            sb.replay_log(tmp_path / "bad.jsonl")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("context = X'73ffffffffffffff00'", "damaged context"),  # its length, and no entry
        ("context = X'730000000000000070'", "damaged context"),
        ("context = NULL", "damaged (context|event)"),
        ("context = 'text'", "damaged context"),
        ("body = '" + "[" * 200_000 + "'", "damaged event"),
        ("body = '[1]'", "damaged event"),
        ("body = X'ff'", "damaged event"),
        ("at = 9e999", "damaged event"),
        ("at = 'soon'", "damaged event"),
    ],
)
def test_rows_of_a_store_that_are_damaged_are_refused(tmp_path, change, message):
    learner = sb.SlateUCB(3, ["a", "b"])
    with Store.create(tmp_path / "s", learner) as store:
        store.append(EVENTS)
    with closing(sqlite3.connect(tmp_path / "s" / "semibandit.db")) as db, db:
        db.execute(f"UPDATE semibandit_events SET {change} WHERE kind = 'decision'")
    with pytest.raises(FileError, match=message):
        sb.replay_log(tmp_path / "s")
    with Store(tmp_path / "s") as store, pytest.raises(FileError, match=message):
        rebuild(store)


def test_a_packed_context_says_no_more_than_it_holds():
    x = np.zeros(40)
    x[[3, 39]] = 1.0, -0.0
    packed = pack(x)
    assert unpack(packed).tobytes() == x.tobytes()
    for place in (3, 39):  # of an index, where the length was
        with pytest.raises(FileError, match="damaged context, of"):
            unpack(packed[:1] + place.to_bytes(8, "little") + packed[9:])
