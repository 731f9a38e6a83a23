"""A file from a device opens on a CPU and the other way, and learning goes on."""

import io
from dataclasses import replace

import numpy as np
import pytest
from beside import contexts, pair, play_beside
from events import decision

import semibandit as sb
from semibandit.errors import DeviceError, FileError
from semibandit.policies.persistence import snapshot_of, to_device
from semibandit.store.event import Feedback
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

ON_DEVICE = {"width": sb.Scaled(0.3), "probe": 0.0}


def reloaded(learner, device):
    return sb.load(io.BytesIO(snapshot_of(learner).to_bytes()), device=device)


@pytest.mark.parametrize("options", [{}, {"forget": 15.0}, {"loss": sb.Logistic(2.0)}])
def test_from_a_device_to_the_cpu_and_back(device, options):
    X = contexts(240, 10)
    cpu, gpu = pair(10, 80, device, **ON_DEVICE, **options)
    assert play_beside(cpu, gpu, X[:80], 5).wrong == 0
    here = reloaded(gpu, None)
    assert here.model == sb.Full("float32")
    assert play_beside(cpu, WithCount(here), X[80:160], 5).wrong == 0
    there = reloaded(here, device)
    assert there.model == sb.Full(device=device)
    assert play_beside(cpu, there, X[160:], 5).wrong == 0


class WithCount:
    """A learner on the CPU that is played beside another: it never says undecided."""

    def __init__(self, learner):
        self.rank, self.learn = learner.rank, learner.learn
        self._state = type("State", (), {"undecided": 0})


def test_float64_of_the_cpu_moves_to_a_device(device):
    cpu, _ = pair(6, 30, device, **ON_DEVICE)
    for x in contexts(90, 6):  # some labels in low-rank form, some dense
        slate = cpu.rank(x, 3)
        cpu.learn(slate, slate.labels[:1])
    gpu, x = to_device(cpu, device), contexts(1, 6, seed=5)[0]
    np.testing.assert_allclose(gpu.scores(x).margin, cpu.scores(x).margin, atol=1e-6)
    np.testing.assert_allclose(gpu.scores(x).width, cpu.scores(x).width, atol=1e-6)
    assert gpu.rank(x, 5).labels == cpu.rank(x, 5).labels


def test_packed_matrices_take_half_the_room_and_no_second_copy(device):
    _, gpu = pair(24, 50, device, **ON_DEVICE)
    for x in contexts(40, 24):
        slate = gpu.rank(x, 5)
        gpu.learn(slate, slate.labels[:2])
    arrays = snapshot_of(gpu).arrays
    packed = arrays["model.A_packed"]
    assert packed.shape == (gpu._state.n, 24 * 25 // 2)
    assert not packed.flags.writeable
    assert gpu._arrays()["model.A_packed"] is not packed


@pytest.mark.parametrize("name", ["A_packed", "owner", "w", "count"])
def test_a_damaged_file_changes_nothing(device, name):
    _, gpu = pair(5, 20, device, **ON_DEVICE)
    slate = gpu.rank(contexts(1, 5)[0], 3)
    gpu.learn(slate, slate.labels[:1])
    arrays = dict(gpu._state.arrays())
    before = gpu._state.look(slate.x).margin.tolist()
    with pytest.raises(FileError, match=name):
        gpu._state.restore({**arrays, name: arrays[name][:, None]})
    with pytest.raises(FileError):
        sb.Full("float32").start(20, 5).restore({**arrays, name: arrays[name][:, None]})
    assert gpu._state.look(slate.x).margin.tolist() == before


def test_only_full_matrices_have_a_device(device):
    for learner in (sb.SlateUCB(3, 4, model=sb.Diagonal()), sb.Banditron(3, 4)):
        with pytest.raises(DeviceError, match=r"only full matrices, Full\(\), can"):
            reloaded(learner, device)


def test_a_store_is_rebuilt_on_a_device_and_does_not_record_it(device, tmp_path):
    X = contexts(30, 4)
    with Store.create(tmp_path / "s", sb.SlateUCB(4, ["a", "b", "c"])) as store:
        for i, x in enumerate(X):
            shown = {"labels": ["a", "b"], "slots": 2, "exclude": None}
            made = replace(decision(f"{i}", **shown), context=x)
            store.append([made, Feedback(f"{i}", 0.0, ["a"] if i % 3 else [])])
        plain = rebuild(store)[0]
        store.device = device
        there = rebuild(store)[0]
        assert there.model.device == device
        assert rebuild(store.beside())[0].model.device == device
        store.add_snapshot(store.last, snapshot_of(there).to_bytes())
    with Store(tmp_path / "s", write=False) as store:
        here = rebuild(store)[0]
    assert here.model.device is None
    for learner in (there, here):
        np.testing.assert_allclose(
            learner.scores(X[0]).estimate, plain.scores(X[0]).estimate, atol=1e-6
        )
