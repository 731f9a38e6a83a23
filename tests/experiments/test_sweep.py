"""Sweeps: each run once, the same numbers everywhere, and nothing that finished is ever lost."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sweep_work import bad, kept, logged, ran, replayed, runs_of, squares

import semibandit as sb
from semibandit.errors import InputError, MissingExtra, RunError
from semibandit.experiments.sweep import grid, sweep

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def ray_cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # loopback alone
        patch.setenv("PYTHONPATH", str(SUPPORT))  # workers import their work
        import ray

        context = ray.init(
            num_cpus=2,
            object_store_memory=80 * 2**20,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
        )
        yield context.address_info["gcs_address"]
        ray.shutdown()


@pytest.fixture(scope="module")
def dask_cluster():
    import dask
    import distributed

    settings = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
    ):
        yield cluster.scheduler_address


def cluster_options(backend, request):
    """The options of a backend whose cluster is up."""
    if backend == "dask":
        return {"backend": "dask", "address": request.getfixturevalue("dask_cluster")}
    if backend == "ray":
        request.getfixturevalue("ray_cluster")
        return {"backend": "ray"}
    return {"jobs": int(backend)}


BACKENDS = ["1", "2", "ray", "dask"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_numbers_on_every_backend(backend, request):
    runs = grid(alpha=[0.1, 1.0], seed=range(3))
    results = sweep(replayed, runs, **cluster_options(backend, request))
    assert [result.pop("threads") for result in results] == [1] * 6
    for run, result in zip(runs, results, strict=True):
        expected = replayed(run)
        del expected["threads"]
        assert result == expected
    assert len({result["loss"] for result in results}) > 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_interrupted_sweep_goes_on_where_it_stopped(backend, request, tmp_path):
    runs, options = runs_of(tmp_path, 12), cluster_options(backend, request)
    steps = []

    def interrupt(step):
        steps.append(step)
        if sum(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(logged, runs, folder=tmp_path / "kept", progress=interrupt, **options)
    first = kept(tmp_path)
    assert len(first) == 3
    assert sweep(logged, runs, folder=tmp_path / "kept", jobs=1) == squares(12)
    assert kept(tmp_path).items() >= first.items()
    assert all(ran(tmp_path).count(n) == 1 for n in first)


@pytest.mark.parametrize("backend", ["1", "2", "dask"])
def test_a_run_that_raises_is_named_and_the_others_go_on(backend, request, tmp_path):
    runs, options = runs_of(tmp_path, fails=5), cluster_options(backend, request)
    for times in (1, 2):
        with pytest.raises(RunError, match="1 of 8 runs failed") as caught:
            sweep(logged, runs, folder=tmp_path / "kept", **options)
        assert f"{runs[5]}: ArithmeticError: no square for 5" in str(caught.value)
        assert "in logged" in caught.value.__notes__[0]
        assert sorted(kept(tmp_path)) == [0, 1, 2, 3, 4, 6, 7]
        assert ran(tmp_path) == sorted([0, 1, 2, 3, 4, 6, 7] + [5] * times)


@pytest.mark.parametrize("backend", ["2", "ray", "dask"])
def test_a_run_that_takes_its_worker_down_ends_the_sweep_and_what_is_kept_stays(
    backend, request, tmp_path
):
    options, runs = cluster_options(backend, request), runs_of(tmp_path, dies=7)
    sweep(logged, runs[:4], folder=tmp_path / "kept", jobs=1)
    first = kept(tmp_path)
    with pytest.raises(RunError, match=r"terminated|actor died|died while running it"):
        sweep(logged, runs, folder=tmp_path / "kept", **options)
    assert kept(tmp_path).items() >= first.items()
    assert ran(tmp_path).count(7) == 1
    assert sweep(logged, runs[:7], folder=tmp_path / "kept", jobs=1) == squares(7)


def child(code, folder, *arguments):
    """A sweep in a process of its own: its exit code, and its output."""
    start = f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\nfrom sweep_work import *\n"
    command = [sys.executable, "-W", "error", "-c", start + code, str(folder), *arguments]
    output = folder / "output"
    with open(output, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        code = process.wait(timeout=100)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)  # workers outlive a driver that is killed
    return code, output.read_text()


KILLED = """
steps = []
def kill(step):
    steps.append(step)
    if sum(steps) == 3:
        os.kill(os.getpid(), signal.SIGKILL)

folder = Path(sys.argv[1])
sweep(logged, runs_of(folder, 12), folder=folder / "kept", jobs=2, progress=kill)
"""


def test_a_killed_sweep_goes_on_where_it_stopped(tmp_path):
    code, output = child(KILLED, tmp_path)
    assert code == -signal.SIGKILL, output
    first = kept(tmp_path)
    assert len(first) == 3
    assert sweep(logged, runs_of(tmp_path, 12), folder=tmp_path / "kept", jobs=1) == squares(12)
    assert kept(tmp_path).items() >= first.items()
    assert all(ran(tmp_path).count(n) == 1 for n in first)


CONNECTED = """
folder, address = Path(sys.argv[1]), sys.argv[2]
results = sweep(logged, runs_of(folder), backend="ray", address=address, jobs=2)
import ray
assert results == squares(8) and not ray.is_initialized()
"""


def test_a_process_connects_to_ray_by_address_and_leaves(ray_cluster, tmp_path):
    code, output = child(CONNECTED, tmp_path, ray_cluster)
    assert code == 0, output
    assert ran(tmp_path) == [*range(8)]


def test_dask_without_an_address_is_the_client_of_this_process(dask_cluster, tmp_path):
    import distributed

    with distributed.Client(dask_cluster) as client:
        assert sweep(logged, runs_of(tmp_path), backend="dask", jobs=1) == squares(8)
        assert client.status == "running"
    with pytest.raises(InputError, match="backend 'dask' needs address"):
        sweep(logged, runs_of(tmp_path), backend="dask")


def test_fresh_resumed_and_kept_nowhere_are_equal_and_nothing_is_run_twice(tmp_path):
    runs = runs_of(tmp_path)
    twice = [*reversed(runs), *(dict(reversed(run.items())) for run in runs)]
    steps = []
    some = sweep(logged, runs[2:5], folder=tmp_path / "kept", jobs=1)
    assert some == squares(8)[2:5]
    for _ in range(2):
        steps.clear()
        fresh = sweep(logged, twice, folder=tmp_path / "kept", jobs=2, progress=steps.append)
        assert fresh == [*reversed(squares(8)), *squares(8)]
        assert sum(steps) == 8
    assert ran(tmp_path) == [*range(8)]
    assert sweep(logged, runs, jobs=2) == squares(8)
    assert sweep(logged, []) == []


def test_a_file_holds_the_run_its_result_and_the_version(tmp_path):
    (run,) = grid(alpha=[np.float64(0.1)], seed=[np.int64(3)], tags=[("a", True, None)])
    result = sweep(dict, [run], folder=tmp_path / "new" / "kept", jobs=1)
    assert result == [{"alpha": 0.1, "seed": 3, "tags": ["a", True, None]}]
    (path,) = (tmp_path / "new" / "kept").iterdir()
    assert json.loads(path.read_text()) == {
        "run": result[0],
        "result": result[0],
        "version": sb.__version__,
        "work": "builtins.dict",
    }


def test_a_damaged_file_is_run_again(tmp_path):
    runs = runs_of(tmp_path)
    sweep(logged, runs, folder=tmp_path / "kept", jobs=1)
    paths = {json.loads(p.read_text())["run"]["n"]: p for p in (tmp_path / "kept").iterdir()}
    text = paths[0].read_text()
    paths[0].write_text(text[: len(text) // 2])
    paths[1].write_bytes(b"")
    paths[2].write_bytes(b"\xff\x00")
    paths[3].write_text("[1]")
    paths[4].write_text(paths[4].read_text().replace('"result"', '"resolt"'))
    paths[5].write_text(text)
    paths[6].write_text(paths[6].read_text().replace("36", "NaN"))
    assert sweep(logged, runs, folder=tmp_path / "kept", jobs=1) == squares(8)
    assert ran(tmp_path) == sorted([*range(8), *range(7)])
    assert sorted(kept(tmp_path)) == [*range(8)]


def test_another_version_is_another_run(tmp_path, monkeypatch):
    runs = runs_of(tmp_path, 2)
    sweep(logged, runs, folder=tmp_path / "kept", jobs=1)
    monkeypatch.setattr(sb, "__version__", "99")
    sweep(logged, runs, folder=tmp_path / "kept", jobs=1)
    assert ran(tmp_path) == [0, 0, 1, 1]


def test_the_results_of_another_function_are_not_taken_for_ours(tmp_path):
    sweep(dict, [{"seed": 1}], folder=tmp_path, jobs=1)
    with pytest.raises(InputError, match=r"is a result of builtins\.dict, not of .*replayed"):
        sweep(replayed, [{"seed": 1}], folder=tmp_path, jobs=1)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("nan", r"the result\['list'\]\[1\]\['value'\] is nan: expected what JSON can hold"),
        ("set", r"\['value'\] is \{1\}: expected what JSON can hold"),
        ("key", r"\['value'\] has the key 2: expected a string"),
    ],
)
def test_a_result_that_json_cannot_hold_is_a_failed_run(what, message, tmp_path):
    with pytest.raises(RunError, match=message):
        sweep(bad, [{"what": what}], folder=tmp_path, jobs=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "spark"}, "backend is 'spark': expected 'local', 'ray' or 'dask'"),
        ({"address": "tcp://x:1"}, "address is 'tcp://x:1', but backend 'local' has none"),
        ({"jobs": 0}, "jobs is 0: expected a whole number from 1"),
        (
            {"function": lambda run: run},
            "function is <function .*: expected a function at the top level",
        ),
        ({"function": "dict"}, "function is 'dict': expected a function at the top level"),
        ({"runs": [{}, 3]}, r"runs\[1\] is 3: expected a dictionary"),
        ({"runs": [{"seed": float("inf")}]}, r"runs\[0\]\['seed'\] is inf: expected what JSON"),
        ({"runs": [{"x": np.zeros(2)}]}, r"runs\[0\]\['x'\] is array.*: expected what JSON"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_run(options, message, tmp_path):
    options = {"function": dict, "runs": [{"seed": 1}], **options}
    with pytest.raises(InputError, match=message):
        sweep(**options, folder=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("backend", "module", "extra"),
    [("local", "joblib", "sweep"), ("ray", "ray", "ray"), ("dask", "distributed", "dask")],
)
def test_an_extra_that_is_missing_is_named(backend, module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"needs {module}: .*'semibandit\[{extra}\]'"):
        sweep(dict, [{"seed": 1}], backend=backend)


@pytest.mark.parametrize("choices", [{"data": "yeast"}, {"seed": 3}, {"seed": {1: 2}}])
def test_a_grid_is_made_of_lists(choices):
    with pytest.raises(InputError, match="expected a list of choices"):
        grid(**choices)
