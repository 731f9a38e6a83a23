"""A log as a file is the log, to the bit."""

import pytest
from events import EVENTS, plain

import semibandit as sb
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
        with pytest.raises(ValueError, match=r"\.jsonl or \.parquet"):
            write_log(store, tmp_path / "log.txt")
        write_log(store, tmp_path / "log.jsonl")
    for text in ("", "diary\n", "{}\n", '{"format": 99}\n'):
        (tmp_path / "log.jsonl").write_text(text)
        with (
            pytest.raises(ValueError, match=r"log format 99|not a log"),
            open_log(tmp_path / "log.jsonl"),
        ):
            pass
    with pytest.raises(FileNotFoundError), open_log(tmp_path / "nothing"):
        pass
