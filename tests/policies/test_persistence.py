"""Save and load: one file, bit for bit, never half-written."""

import copy
import io
import json
import os
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hostile_files import HOSTILE
from learners import ALL, D, K, drive

import semibandit as sb
from semibandit._util.npz import save_npz
from semibandit.errors import FileError, InputError, MissingFile
from semibandit.policies.persistence import snapshot_of


@pytest.mark.parametrize("make", ALL)
def test_a_loaded_learner_goes_on_as_if_never_stopped(make, tmp_path):
    never, stopped = make(list("abcdef")), make(list("abcdef"))
    for learner in (never, stopped):
        drive(learner, 25)
        learner.retire_labels(["b", "e"])
        learner.add_labels(["g"])
        drive(learner, 10, first=25)
    stopped.save(tmp_path / "model.npz")
    again = sb.load(tmp_path / "model.npz")
    assert type(again) is type(never)
    assert again.t == never.t
    assert again.labels == never.labels
    assert drive(again, 40, first=35) == drive(never, 40, first=35)
    again.add_labels(["h", "i"])
    never.add_labels(["h", "i"])
    assert drive(again, 20, first=75) == drive(never, 20, first=75)
    for name, array in never._arrays().items():
        np.testing.assert_array_equal(again._arrays()[name], array)


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": sb.Logistic(R=2.5), "width": sb.KnownNorm(1.5, 0.1), "a": 0.7},
        {"cost": sb.constant, "width": sb.UnknownNorm(0.01), "bias": True},
        {"cost": [[1.0], [0.9, 0.2], [0.8, 0.8, 0.1], [0.5, 0.1, 0.1, 0]], "seed": 9},
        {"model": sb.Dual(sb.polynomial(3, 0.5), budget=4), "scale": "none", "bias": False},
        {"model": sb.Diagonal(), "width": sb.Scaled(0.25)},
    ],
)
def test_every_setting_comes_back(settings, tmp_path):
    never = sb.SlateUCB(D, K, **settings)
    drive(never, 20)
    never.save(tmp_path / "m.npz")
    again = sb.load(tmp_path / "m.npz")
    assert drive(again, 30, first=20) == drive(never, 30, first=20)
    again.save(tmp_path / "n.npz")
    assert (tmp_path / "m.npz").read_bytes() != (tmp_path / "n.npz").read_bytes()  # it moved on


def my_cost(i, s):
    return 1 / i


def test_your_own_parts_are_asked_for_and_known_again(tmp_path):
    def kernel(X, Y):
        return X @ Y.T

    def width(norm2, *, t, d, K, loss):
        return 0.3 * np.sqrt(norm2)

    loss = sb.Surrogate(L=lambda m: np.exp(-m), R=1.0, name="exponential")
    parts = {"cost": my_cost, "loss": loss, "width": width}
    bandit = sb.SlateUCB(D, K, model=sb.Dual(kernel), **parts)
    drive(bandit, 20)
    path = tmp_path / "m.npz"
    bandit.save(path)
    with pytest.raises(
        ValueError, match=r"uses a kernel of your own, 'kernel'.*load\(path, kernel="
    ):
        sb.load(path, **parts)
    with pytest.raises(ValueError, match="the cost given is not the one"):
        sb.load(path, **parts | {"cost": lambda i, s: 1.0}, kernel=kernel)
    sb.SlateUCB(D, K).save(tmp_path / "plain.npz")
    with pytest.raises(sb.InputError, match="load was given width, but this file holds no such"):
        sb.load(tmp_path / "plain.npz", width=width)
    again = sb.load(path, **parts, kernel=kernel)
    assert drive(again, 20, first=20) == drive(bandit, 20, first=20)


@pytest.fixture
def saved(tmp_path):
    bandit = sb.SlateUCB(D, K)
    drive(bandit, 10)
    path = tmp_path / "model.npz"
    bandit.save(path)
    return path


def test_every_truncation_gets_a_clear_error(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole) - 1, 37):
        saved.write_bytes(whole[:length])
        with pytest.raises(
            ValueError, match=r"model\.npz is (not a whole semibandit file|damaged)"
        ):
            sb.load(saved)


def test_flipped_bytes_never_load_as_something_else(saved):
    whole, good = bytearray(saved.read_bytes()), sb.load(saved)
    random = np.random.default_rng(0)
    refused = 0
    for at in random.integers(0, len(whole), size=300).tolist():
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        saved.write_bytes(broken)
        try:
            learner = sb.load(saved)
        except ValueError:
            refused += 1
            continue
        for name, array in good._arrays().items():  # a byte that says nothing, as a file's date
            np.testing.assert_array_equal(learner._arrays()[name], array)
    assert refused > 200


def test_foreign_files_get_a_clear_error(tmp_path):
    path = tmp_path / "other.npz"
    np.savez(path, x=np.ones(3))
    with pytest.raises(ValueError, match="it was not written by semibandit"):
        sb.load(path)
    np.save(tmp_path / "one.npy", np.ones(3))
    with pytest.raises(
        ValueError, match=r"one\.npy is not a whole semibandit file: it is no \.npz"
    ):
        sb.load(tmp_path / "one.npy")
    path.write_text("hello")
    with pytest.raises(ValueError, match="not a whole semibandit file"):
        sb.load(path)
    np.savez(path, semibandit=np.array([{"a": 1}], dtype=object))  # a pickle inside
    with pytest.raises(ValueError, match="not a whole semibandit file"):
        sb.load(path)
    with pytest.raises(FileNotFoundError):
        sb.load(tmp_path / "none.npz")


def rewritten(path, change):
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["semibandit"].tobytes())
    change(header, arrays)
    arrays["semibandit"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(version=99), "format 99, written by a newer semibandit"),
        (lambda h, a: h.update(version="x"), "header has no version"),
        (lambda h, a: h.update(learner="Oracle"), "holds a Oracle; import that class first"),
        (lambda h, a: h.pop("t"), "damaged"),
        (
            lambda h, a: h["settings"]["width"].update({"is": "Wide"}),
            r"unknown kind, \{'is': 'Wide'",
        ),
        (lambda h, a: a.pop("model.w"), "'w' is missing"),
        (lambda h, a: a.update(tie=a["tie"][1:]), "names 6 labels, and the array 'tie' is of 5"),
        (lambda h, a: a.update({"model.A_inv": a["model.A_inv"][:, 1:]}), "'A_inv' is float64"),
    ],
)
def test_a_file_of_another_shape_is_refused(saved, change, message):
    rewritten(saved, change)
    with pytest.raises(ValueError, match=message):
        sb.load(saved)


KILLED = """
import os, signal, sys
import numpy as np
import semibandit as sb

moment, path = sys.argv[1:]
bandit = sb.load(path)
bandit.learn(bandit.rank(np.ones(4), 2), [])

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "while writing":
    real = np.lib.format.write_array
    count = [0]
    def some(*args, **kwargs):
        count[0] += 1
        if count[0] == 3:
            die()
        return real(*args, **kwargs)
    np.lib.format.write_array = some
elif moment == "before sync":
    os.fsync = die
elif moment == "before replace":
    os.replace = die
bandit.save(path)
print("saved")
"""


@pytest.mark.parametrize("moment", ["while writing", "before sync", "before replace", "never"])
def test_a_kill_in_the_middle_of_save_leaves_the_old_file(saved, moment):
    old = saved.read_bytes()
    run = subprocess.run(
        [sys.executable, "-c", KILLED, moment, str(saved)], capture_output=True, text=True
    )
    if moment == "never":
        assert run.stdout == "saved\n", run.stderr
        assert sb.load(saved).t == 12
    else:
        assert run.returncode == -signal.SIGKILL, run.stderr
        assert saved.read_bytes() == old
        assert sb.load(saved).t == 11
        sb.load(saved).save(saved)  # and the next save clears up
    assert os.listdir(saved.parent) == [saved.name]


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    old = saved.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        sb.load(saved).save(saved)
    assert saved.read_bytes() == old
    assert os.listdir(saved.parent) == [saved.name]


def test_a_link_stays_a_link_and_a_missing_folder_is_named(saved, tmp_path):
    link = tmp_path / "link.npz"
    link.symlink_to(saved)
    bandit = sb.load(link)
    bandit.learn(bandit.rank(np.ones(D), 2), [])
    bandit.save(link)
    assert link.is_symlink()
    assert sb.load(saved).t == 12
    with pytest.raises(
        FileNotFoundError, match=r"cannot save .*nowhere/m\.npz: there is no folder"
    ):
        bandit.save(tmp_path / "nowhere" / "m.npz")


def test_numpy_numbers_in_settings_are_saved(tmp_path):
    bandit = sb.SlateUCB(
        D, K, width=sb.Scaled(np.float32(0.5)), a=np.float64(0.25), seed=np.int64(3)
    )
    bandit.save(tmp_path / "m.npz")
    assert sb.load(tmp_path / "m.npz").width == sb.Scaled(0.5)


def test_rights_of_the_file_are_kept(saved):
    saved.chmod(0o640)
    sb.load(saved).save(saved)
    assert saved.stat().st_mode & 0o777 == 0o640


def test_a_bug_in_a_part_of_your_own_is_not_a_damaged_file(tmp_path):
    def width(norm2, **_):
        return 0.3 * np.sqrt(norm2)

    def broken(norm2, **_):
        raise KeyError("mine")

    sb.SlateUCB(D, K, width=width).save(tmp_path / "m.npz")
    with pytest.raises(KeyError, match="mine"):
        sb.load(tmp_path / "m.npz", width=broken)
    with pytest.raises(sb.InputError, match="it gives other values"):
        sb.load(tmp_path / "m.npz", width=lambda norm2, **_: norm2[:1])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("t",), "x"),
        (("n_features",), "many"),
        (("labels", "names"), {"a": 1}),
        (("common", "cost"), {"is": "Scaled", "alpha": 1.0}),
        (("common", "cost"), {}),
        (("settings", "width"), {"is": "Scaled", "alhpa": 1.0}),
        (("settings", "loss"), {"is": "Logistic"}),
        (("settings",), None),
    ],
)
def test_a_damaged_header_is_a_file_error(saved, path, value):
    with np.load(saved) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["semibandit"].tobytes())
    inner = header
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    arrays["semibandit"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(saved, **arrays)
    with pytest.raises(FileError, match=r"model\.npz"):
        sb.load(saved)


def test_an_array_that_is_one_number_is_a_file_error(saved):
    with np.load(saved) as archive:
        arrays = dict(archive)
    for name in arrays:
        if name != "semibandit":
            np.savez(saved, **arrays | {name: np.float64(1.0)})
            with pytest.raises(FileError):
                sb.load(saved)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        sb.load(tmp_path)
    with pytest.raises(sb.InputError, match="path = None"):
        sb.load(None)
    with pytest.raises(MissingFile, match=r"there is no file .*none\.npz"):
        sb.load(tmp_path / "none.npz")


def named_three():
    """The file of a learner with three labels that have learned."""
    bandit = sb.SlateUCB(D, list("abc"), a=1.0)
    for i in range(4):
        slate = bandit.rank(np.eye(D)[i])
        bandit.learn(slate, slate.labels[:1])
    return snapshot_of(bandit).to_bytes()


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_takes_no_more_memory_than_it_has_bytes(what, tmp_path):
    make, message = HOSTILE[what]
    (tmp_path / "good.npz").write_bytes(named_three())
    hostile = make((tmp_path / "good.npz").read_bytes())
    assert len(hostile) < 300_000
    (tmp_path / "bad.npz").write_bytes(hostile)
    sb.load(tmp_path / "good.npz")
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=rf"bad\.npz.*{message}"):
            sb.load(tmp_path / "bad.npz")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def places(value, path=()):
    """The paths to all values in JSON."""
    yield path
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(one, (*path, key))


WRONG = (None, -1, 10**400, float("nan"), "x", [[[]]], {"is": []}, [1, 1])


@pytest.mark.filterwarnings("ignore::semibandit.errors.UnprovenWidth")
@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.SlateUCB(
            sb.Features(n="number", c="category"), list("ab"), cost=[[1.0], [0.9, 0.2]],
            examination=[1, 0.5],
        ),
        lambda: sb.SlateUCB(
            2, 2, model=sb.Dual(sb.polynomial(2, 1.0), budget=3), loss=sb.Logistic(2.0),
            width=sb.KnownNorm(1.0), forget=50, scale="none",
        ),
        lambda: sb.Thompson(sb.Hashed(4), 2, model=sb.Diagonal()),
    ],
    ids=["named", "dual", "hashed"],
)  # fmt: skip
def test_a_header_with_anything_else_in_any_place_loads_or_is_refused(make):
    learner = make()
    x = {"n": 1, "c": "x"} if learner.features is not None else [1.0, 2.0]
    learner.learn(learner.rank(x), [])
    there = snapshot_of(learner)
    header = {"version": 2, **there.header}
    refused = 0
    for path in [*places(header)][1:]:
        for wrong in WRONG:
            other = inner = copy.deepcopy(header)
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = wrong
            file, text = io.BytesIO(), json.dumps(other).encode()
            save_npz(file, {"semibandit": np.frombuffer(text, np.uint8), **there.arrays})
            file.seek(0)
            try:
                sb.load(file)
            except InputError:  # whatever else is raised is a bug
                refused += 1
    assert refused > 100


def test_a_large_file_takes_a_few_times_its_bytes(tmp_path):
    bandit = sb.SlateUCB(40, 10_000, model=sb.Diagonal())
    bandit.learn(bandit.rank(np.ones(40), 3), [])
    bandit.save(tmp_path / "large.npz")
    size = (tmp_path / "large.npz").stat().st_size
    tracemalloc.start()
    try:
        again = sb.load(tmp_path / "large.npz")
        assert tracemalloc.get_traced_memory()[1] < 4 * size
    finally:
        tracemalloc.stop()
    assert again.rank(np.ones(40), 5).labels == bandit.rank(np.ones(40), 5).labels
