"""`Full(device=...)` without torch, and files from a device on a CPU. The rest: make test-gpu."""

import subprocess
import sys

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import DeviceError, FileError, InputError, MissingExtra
from semibandit.models.gpu.device import bytes_per_row
from semibandit.policies.persistence import to_device


def without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_a_missing_torch_says_how_to_install_it(monkeypatch):
    without_torch(monkeypatch)
    with pytest.raises(MissingExtra, match=r"device='cuda' needs torch: .*'semibandit\[gpu\]'"):
        sb.SlateUCB(3, 4, model=sb.Full(device="cuda"))
    bandit = sb.SlateUCB(3, 4)
    with pytest.raises(MissingExtra, match=r"semibandit\[gpu\]"):
        to_device(bandit, "cpu")


def test_what_full_takes():
    assert sb.Full() == sb.Full("float64")
    assert sb.Full(device="cuda") == sb.Full("float32", "cuda")
    with pytest.raises(InputError, match="dtype = 'float64', but numbers on the device 'cuda'"):
        sb.Full("float64", device="cuda")
    with pytest.raises(InputError, match="device = 'gpu', but it must be 'cpu', 'cuda'"):
        sb.Full(device="gpu")


def test_models_without_a_device():
    for learner in (sb.SlateUCB(3, 4, model=sb.Dual(sb.rbf(1.0))), sb.Random(3, 4)):
        with pytest.raises(DeviceError, match=r"only full matrices, Full\(\), can"):
            to_device(learner, "cuda")


def test_memory_of_a_label():
    assert bytes_per_row(64) == 12_756


def packed_file(d, n, labels):
    """What a device writes: some symmetric matrices as packed triangles."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3 * d, d))
    A = np.linalg.inv(np.eye(d) + np.swapaxes(X, 1, 2) @ X).astype(np.float32)
    A = np.tril(A) + np.swapaxes(np.tril(A, -1), 1, 2)
    r, c = np.tril_indices(d)
    arrays = {
        "owner": rng.permutation(labels)[:n],
        "w": rng.standard_normal((n, d)).astype(np.float32),
        "count": np.full(n, 3 * d),
        "A_packed": A[:, r, c],
    }
    return arrays, A


def test_packed_matrices_are_read_on_a_cpu():
    arrays, A = packed_file(d=5, n=6, labels=9)
    state = sb.Full("float32").start(9, 5)
    state.restore(arrays)
    for label, matrix in zip(arrays["owner"], A, strict=True):
        assert np.array_equal(state.inverse(label), matrix)
    x = np.full(5, 0.4)
    look, labels = state.look(x), arrays["owner"]
    np.testing.assert_allclose(look.margin[labels], arrays["w"] @ x, rtol=1e-6)
    np.testing.assert_allclose(look.norm2[labels], np.einsum("r,nrc,c->n", x, A, x), rtol=1e-5)
    untouched = np.setdiff1d(np.arange(9), labels)
    assert (look.margin[untouched] == 0).all()
    shown = np.array([labels[0], untouched[0]])
    state.step(state.margins(x), shown[:0], np.empty(0), shown, np.ones(2))  # it goes on
    assert state.look(x).margin[untouched[0]] > 0
    again = sb.Full("float32").start(9, 5)
    again.restore(state.arrays())
    assert again.look(x).norm2.tolist() == state.look(x).norm2.tolist()


@pytest.mark.parametrize("wrong", ["shape", "type"])
def test_a_damaged_file_of_a_device(wrong):
    arrays, _ = packed_file(d=4, n=3, labels=5)
    packed = arrays["A_packed"]
    arrays["A_packed"] = packed[:, :-1] if wrong == "shape" else packed.astype(np.float64)
    with pytest.raises(FileError, match="A_packed"):
        sb.Full("float32").start(5, 4).restore(arrays)


def test_torch_is_not_imported_without_a_device():
    script = (
        "import sys, semibandit as sb; sb.SlateUCB(3, 4).rank([1, 2, 3]);"
        "assert not {'torch', 'triton'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
