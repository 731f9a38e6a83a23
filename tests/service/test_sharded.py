"""A service whose learner is sharded: the store is the same, and a lost shard loses nothing."""

import pytest
from engines import LABELS, D, as_if_killed, change, give, rank, running, visits
from mortal_workers import MortalWorkers, use_workers
from server import until
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app
from semibandit.errors import ClusterError, DeviceError, ShardLost
from semibandit.models.sharded.placement import Shards
from semibandit.policies.persistence import snapshot_of
from semibandit.service.config import StoreConfig, open_store
from semibandit.service.engine import learning
from semibandit.service.http.errors import status_of
from semibandit.service.serve import serve
from semibandit.service.settings import Settings
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

HERE = Shards(3, on="here")
X = (0.5, -1.0, 2.0, 0.1)


def test_a_store_does_not_know_whether_its_learner_is_sharded(tmp_path):
    shown = []
    for shards in (HERE, None, Shards(2, on="here")):
        with running(tmp_path, snapshot_every=7, shards=shards) as engine:
            visits(engine, 20 * len(shown), 20)
            change(engine, add=[f"new {len(shown)}"])
            shown.append(rank(engine, X).labels)
            if shards is None:
                as_if_killed(engine)
    with Store(str(tmp_path), lock=False) as store:
        for after in (None, 0):
            learner, _ = rebuild(store, after)
            assert learner.t == 61
            assert learner.rank(X, 2).labels == shown[-1]


def test_another_learner_takes_over_with_shards_of_its_own(tmp_path):
    new = snapshot_of(sb.SlateUCB(D, LABELS, a=0.9)).to_bytes()
    with running(tmp_path, shards=HERE) as engine:
        visits(engine, 0, 10)
        engine.replace_learner(new, 0).result()
        visits(engine, 10, 10)
        labels = rank(engine, X).labels
        assert (engine.learner.a, engine.learner.t) == (0.9, 21)
    with running(tmp_path, shards=HERE) as engine:
        assert rank(engine, X).labels == labels


def test_a_lost_shard_is_503_and_feedback_is_learned_when_it_is_back(tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "TRY_AGAIN", 0.01)
    workers = use_workers(monkeypatch, MortalWorkers())
    shards = Shards(2, missing="raise")
    with running(tmp_path, shards=shards, snapshot_every=1_000_000) as engine:
        visits(engine, 0, 10)
        labels = rank(engine, id="before", slots=4).labels
        workers.restoring = True
        workers.kill(workers.started[0])
        with pytest.raises(ShardLost, match="shard 0 of 2 has died and is being restored") as lost:
            rank(engine)
        assert status_of(lost.value) == 503
        assert engine.problem == "shard 0 of 2 has died and is being restored"  # of /readyz
        give(engine, "before", labels[:1])  # the log has it
        assert engine.learning.alive
        assert engine.learner.t == 11
        workers.restoring = False
        until(lambda: engine.learner.t == 12)
        assert rank(engine).labels
        assert engine.healthy
        assert engine.learning.passed_over == 0


def test_without_a_shard_there_is_no_snapshot_and_learning_goes_on(tmp_path, monkeypatch):
    workers = use_workers(monkeypatch, MortalWorkers())
    with running(tmp_path, shards=Shards(2, timeout=0.1), snapshot_every=1_000_000) as engine:
        visits(engine, 0, 5)
        workers.restoring = True
        workers.kill(workers.started[1])
        with pytest.raises(ClusterError, match="shard 1 of 2"):
            engine.learning.snapshot().result()
        workers.restoring = False
        visits(engine, 5, 5)
        assert engine.learning.snapshot().result() == engine.store.last


def test_no_store_is_made_for_a_learner_that_cannot_have_shards(tmp_path):
    where, settings = str(tmp_path / "store"), Settings(shards=HERE)
    config = StoreConfig(features=4, labels=3, learner={"learner": "Random"})
    with pytest.raises(sb.InputError, match="Random takes no model, so its labels cannot be"):
        serve(where, config, settings, port=0)
    assert not Store.exists(where)


def test_what_the_command_line_cannot_mean_is_refused(tmp_path):
    made = ("--store", str(tmp_path / "store"), "--features", "4", "--labels", "3", "--port", "0")
    for more, message in (
        (["--ray", "auto"], "--ray = 'auto' without --shards"),
        (["--shards", "0"], "Invalid value for '--shards'"),
    ):
        result = CliRunner().invoke(app, ["serve", *made, *more])
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.output.replace("│", " ").split())


def test_a_model_that_cannot_be_on_a_device_is_refused_before_a_store_is_made(tmp_path):
    config = StoreConfig(features=4, labels=3, learner={"model": "diagonal"})
    with pytest.raises(DeviceError, match=r"device = 'cpu', but Diagonal\(\) cannot be there"):
        open_store(str(tmp_path / "s"), config, check=Settings(device="cpu").check_placement)
    assert not (tmp_path / "s").exists()


def test_the_terminal_says_where_the_model_is():
    assert Settings().placement == ""
    assert Settings(device="cpu").placement == ", on the device 'cpu'"
    sharded = Settings(shards=HERE, device="cuda")
    assert sharded.placement == ", its labels divided among 3 shards, on the device 'cuda'"
