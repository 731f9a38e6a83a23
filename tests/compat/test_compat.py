"""Files written by version 0.1.0, before the rooms were moved, still load, to the bit.

`files/` was written by commit 6f34a10: learners of every kind as .npz, three stores with their
logs, and in `expected.json` what each learner said of four contexts. Their stores have format 1;
`store_format_2` was written by commit fab2af0.
"""

import json
import shutil
from pathlib import Path

import pytest

import semibandit as sb
from semibandit.service.config import StoreConfig, open_store
from semibandit.store.export import open_log
from semibandit.store.rebuild import learn_event, rebuild
from semibandit.store.store import Store

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())
STORES = ("store", "store_thompson", "store_started", "store_format_2")
FORMAT = {"store_format_2": 2}  # of the others it is 1


def check(learner, expected):
    assert type(learner).__name__ == expected["learner"]
    assert learner.t == expected["t"]
    for context in expected["contexts"]:
        scores = learner.scores(context["x"])
        assert scores.labels == context["labels"]
        assert scores.prob.tolist() == pytest.approx(context["prob"], rel=1e-12)
        assert scores.width.tolist() == pytest.approx(context["width"], rel=1e-12)
        slate = learner.rank(context["x"], 1 if learner.one_slot else None)
        assert slate.labels == context["slate"]


@pytest.mark.filterwarnings("ignore::semibandit.errors.UnprovenWidth")  # one has Diagonal
@pytest.mark.parametrize("name", sorted(path.stem for path in FILES.glob("*.npz")))
def test_a_model_file_from_before_loads_and_goes_on(name, tmp_path):
    learner = sb.load(FILES / f"{name}.npz")
    check(learner, EXPECTED[name])
    learner.save(tmp_path / "again.npz")
    check(sb.load(tmp_path / "again.npz"), EXPECTED[name])


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("after", [None, 0])
def test_a_store_from_before_is_rebuilt(name, after, tmp_path):
    shutil.copytree(FILES / name, tmp_path / "s")
    with Store(tmp_path / "s") as store:
        assert store.last == EXPECTED[name]["last"]
        assert store.about == EXPECTED[name]["about"]
        check(rebuild(store, after)[0], EXPECTED[name])


@pytest.mark.parametrize("file", sorted(path.name for path in FILES.glob("store*.*")))
def test_a_log_from_before_is_learned_again(file):
    with open_log(FILES / file) as log:
        for _, event, decision in log.learnable_events():
            assert learn_event(log.learner, event, decision)
        check(log.learner, EXPECTED[Path(file).stem])


def test_a_store_from_before_is_opened_by_the_options_of_before(tmp_path):
    shutil.copytree(FILES / "store_thompson", tmp_path / "s")
    config = StoreConfig(features=4, learner={"learner": "Thompson", "model": "diagonal"})
    open_store(str(tmp_path / "s"), config).close()
    with pytest.raises(sb.InputError, match=r"made with learner = 'Thompson:0\.25'"):
        open_store(str(tmp_path / "s"), StoreConfig(learner={"learner": "Thompson:0.5"}))


@pytest.mark.parametrize("name", STORES)
def test_a_store_from_before_is_migrated_after_a_backup(name, tmp_path):
    shutil.copytree(FILES / name, tmp_path / "s")
    before, form = (FILES / name / "semibandit.db").read_bytes(), FORMAT.get(name, 1)
    with Store(tmp_path / "s", write=False) as store:  # to read it, nothing changes
        events = [event.at for _, event in store.events()]
    assert (tmp_path / "s" / "semibandit.db").read_bytes() == before
    Store(tmp_path / "s").close()
    kept = tmp_path / "s" / f"semibandit.db.format-{form}.backup"
    (tmp_path / "kept").mkdir()
    shutil.copy(kept, tmp_path / "kept" / "semibandit.db")
    for folder in ("s", "kept"):  # the backup is a store of the old format, and as good
        with Store(tmp_path / folder) as store:
            assert [event.at for _, event in store.events()] == events
            check(rebuild(store)[0], EXPECTED[name])
