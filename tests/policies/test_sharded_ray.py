"""Shards on a real Ray: actors are killed in the middle of everything, and nothing is lost."""

import gc
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from server import Server, until

import semibandit as sb
from semibandit._util.ray_cluster import connect_ray
from semibandit.errors import ClusterError, InputError
from semibandit.models.sharded.placement import Shards
from semibandit.models.sharded.ray_workers import RayWorkers
from semibandit.policies.sharded import Sharded
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

D = 4
SHARE = {"num_cpus": 0.25}  # of a core: there is room for some learners at once


@pytest.fixture(scope="module")
def ray():
    """A Ray that is started because there is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.delenv("RAY_ADDRESS", raising=False)
        ray, connected = connect_ray(None, "this test")
        assert connected
        assert not connect_ray("auto", "this test")[1]  # the same one
        yield ray
        ray.shutdown()


def actors():
    """The processes of all shards of this Ray: children of its raylet, which is a child of ours."""
    found = {}
    for folder in Path("/proc").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            if folder.name.isdecimal():
                stat = (folder / "stat").read_text()
                parent = int(stat.rpartition(")")[2].split()[1])
                found[int(folder.name)] = (folder / "cmdline").read_text(), parent
    raylets = {pid for pid, one in found.items() if "/raylet" in one[0] and one[1] == os.getpid()}
    return [
        pid
        for pid, (name, parent) in found.items()
        if name.startswith("ray::Shard") and parent in raylets
    ]


class Killer:
    """Kills an actor as soon as a message of some kind has been sent to it."""

    def __init__(self, ray, monkeypatch):
        self.kind, self.killed, send = None, [], RayWorkers.send

        def deadly_send(workers, worker, name, *args):
            pid = self.kind and pid_of(worker)
            answer = send(workers, worker, name, *args)
            told = [change[0] for change in args[1]] if name == "tell" else []
            if self.kind and self.kind in (name, *told, *args[2:3]):
                self.killed.append(self.kind)
                self.kind = None
                os.kill(pid, signal.SIGKILL)
            return answer

        def pid_of(worker):
            return ray.get(worker.__ray_call__.remote(lambda shard: os.getpid()))

        monkeypatch.setattr(RayWorkers, "send", deadly_send)


def test_actors_die_in_the_middle_of_everything_and_slates_stay_the_same(
    ray, monkeypatch, tmp_path
):
    random, killer = np.random.default_rng(0), Killer(ray, monkeypatch)
    options = {"loss": sb.Logistic(2.0), "forget": 100.0, "seed": 3}
    single = sb.SlateUCB(D, 9, **options)
    sharded = Sharded(
        sb.SlateUCB, D, 9, shards=2, checkpoint_every=8, ray_actor_options=SHARE, **options
    )

    def play(rounds):
        for _ in range(rounds):
            x = random.standard_normal(D)
            slates = [one.rank(x, 3) for one in (single, sharded)]
            assert slates[0].labels == slates[1].labels
            clicked = [label for label in slates[0].labels if random.random() < 0.4]
            single.learn(slates[0], clicked)
            sharded.learn(slates[1], clicked)

    play(20)
    for killer.kind in ("best_many", "step_at"):  # in the middle of rank, and of learn
        play(6)
    X = random.standard_normal((5, D))
    ray.kill(sharded._state._group._live[0])
    assert [s.labels for s in sharded.rank_many(X, 4)] == [s.labels for s in single.rank_many(X, 4)]
    killer.kind = "add"
    for one in (single, sharded):
        one.add_labels(3)
        one.retire_labels([0, 5])
    play(4)
    killer.kind = "arrays"
    sharded.save(tmp_path / "sharded.npz")
    single.save(tmp_path / "single.npz")
    assert killer.killed == ["best_many", "step_at", "add", "arrays"]
    assert sharded.t == single.t
    others = [
        sb.load(tmp_path / "sharded.npz"),
        sb.load(tmp_path / "single.npz", shards=Shards(2, ray_actor_options=SHARE)),
    ]
    for x in X:
        labels = single.rank(x, 4).labels
        assert all(one.rank(x, 4).labels == labels for one in (sharded, *others))
    all_cores = {"num_cpus": int(ray.cluster_resources()["CPU"])}
    with pytest.raises(ClusterError, match=r"could not be started: .*; now \d.* CPUs and 0 GPUs"):
        Sharded(sb.SlateUCB, D, 9, shards=1, timeout=0.3, ray_actor_options=all_cores)


def test_a_cluster_that_is_too_small_is_an_error(ray):
    cores = int(ray.cluster_resources()["CPU"])
    with pytest.raises(
        ClusterError, match=f"{cores + 1} shards need {cores + 1} CPU, .* has {cores}"
    ):
        Sharded(sb.SlateUCB, D, 9, shards=cores + 1)
    with pytest.raises(ClusterError, match="2 shards need 2 GPU, and this Ray cluster has 0"):
        Sharded(sb.SlateUCB, D, 9, shards=2, ray_actor_options={"num_gpus": 1})


@pytest.mark.parametrize("options", [{"num_cpu": 1}, {"num_gpus": "one"}, {3: 1}])
def test_options_that_ray_does_not_take_are_refused(ray, options):
    with pytest.raises(InputError, match=r"ray_actor_options = \{.*\}: "):
        Sharded(sb.SlateUCB, D, 3, shards=2, ray_actor_options=options)


def test_a_service_loses_nothing_if_an_actor_is_killed_under_it(ray, tmp_path):
    gc.collect()  # the learners before, with their actors
    until(lambda: not actors())
    store, random = tmp_path / "store", np.random.default_rng(1)
    made = ("--features", D, "--labels", 9, "--shards", 2, "--ray", "auto")
    env = {"RAY_ADDRESS": ray.get_runtime_context().gcs_address}
    with Server(store, *made, env=env) as server:
        refused, pids = 0, actors()
        assert len(pids) == 2
        for visit in range(40):
            if visit == 20:
                os.kill(pids[0], signal.SIGKILL)
            x = random.standard_normal(D).tolist()
            while (answer := server.rank(x, slots=3, id=str(visit))).status_code == 503:
                assert "shard" in answer.json()["detail"]
                refused += 1
                time.sleep(0.02)
            labels = [one["label"] for one in answer.json()["slate"]]
            clicked = [label for label in labels if random.random() < 0.4]
            assert server.feedback(str(visit), clicked).status_code == 200
        assert refused
        server.until(lambda state: state["version"] == 41)
        x = random.standard_normal(D).tolist()
        labels = [one["label"] for one in server.rank(x, slots=3).json()["slate"]]
        assert server.stop() == 0, server.errors
    assert not any("Traceback" in line for line in server.errors)
    with Store(str(store), lock=False) as log:
        for after in (None, 0):
            learner, _ = rebuild(log, after)
            assert learner.t == 41
            assert learner.rank(x, 3).labels == labels
