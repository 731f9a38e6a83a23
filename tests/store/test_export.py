"""A log as a file is the log, to the bit."""

import sys

import pytest
from events import EVENTS, plain

import semibandit as sb
from semibandit.errors import FileError, InputError, MissingExtra, MissingFile
from semibandit.store.export import open_log, write_log
from semibandit.store.store import Store


@pytest.mark.parametrize("name", ["log.jsonl", "log.parquet"])
def test_out_and_in_again(where, tmp_path, name, monkeypatch):
    monkeypatch.setattr("semibandit.store.export.GROUP", 2)
    learner = sb.SlateUCB(4, ["a", "b"], seed=7)
    with Store.create(where, learner, {"labels": ["a", "b"]}) as store:
        store.append(EVENTS)
        assert write_log(store, tmp_path / name) == len(EVENTS)
        with open_log(tmp_path / name) as log:
            found = list(log.events)
            assert log.about == {"labels": ["a", "b"]}
            assert repr(log.learner) == repr(learner)
            assert log.learner.seed == 7
    assert [seq for seq, _ in found] == list(range(1, len(EVENTS) + 1))
    assert [plain(event) for _, event in found] == [plain(event) for event in EVENTS]


def test_what_is_no_log_says_so(tmp_path):
    with Store.create(tmp_path / "s", sb.SlateUCB(4, 2)) as store:
        with pytest.raises(InputError, match=r"\.jsonl or \.parquet"):
            write_log(store, tmp_path / "log.txt")
        write_log(store, tmp_path / "log.jsonl")
    for text in (b"", b"diary\n", b"\xff\n", b"{}\n", b'{"format": 99}\n', b'{"format": 1}\n'):
        (tmp_path / "log.jsonl").write_bytes(text)
        with (
            pytest.raises(FileError, match=r"log format 99|not a log"),
            open_log(tmp_path / "log.jsonl"),
        ):
            pass
    for name in ("nothing", "nothing.jsonl", "nothing.parquet"):
        with pytest.raises(MissingFile, match=name), open_log(tmp_path / name):
            pass
    (tmp_path / "log.parquet").write_text("diary")
    with pytest.raises(FileError, match="not a Parquet file"), open_log(tmp_path / "log.parquet"):
        pass


@pytest.mark.parametrize("line", ["{", "7", "{}", '{"body": 1}'])
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "log.jsonl"
    with Store.create(tmp_path / "s", sb.SlateUCB(4, 2)) as store:
        store.append(EVENTS[:1])
        write_log(store, path)
    path.write_text(path.read_text() + line + "\n")
    with open_log(path) as log, pytest.raises(FileError, match="line 3 is damaged"):
        list(log.events)


def test_without_pyarrow_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    store = Store.create(tmp_path / "s", sb.SlateUCB(4, 2))
    with store, pytest.raises(MissingExtra, match=r"semibandit\[data\]"):
        write_log(store, tmp_path / "log.parquet")
