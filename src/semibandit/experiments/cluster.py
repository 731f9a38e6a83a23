"""Where runs are executed: this machine's cores, or a Ray or Dask cluster.

All three are joblib backends: a sweep is one `joblib.Parallel` on each of them. Runs must not
compete for cores: joblib's own pool, loky, is told to give each one thread of BLAS, OpenMP and
numba; Ray and Dask start workers with OMP_NUM_THREADS=1, unless their user set it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from semibandit._util.checks import is_whole
from semibandit._util.extras import import_extra
from semibandit._util.ray_cluster import connect_ray
from semibandit.errors import InputError, RunError

__all__ = ["JoblibCall", "check_cluster", "unordered_results"]

# a function and its arguments, as joblib.delayed makes them
JoblibCall: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Connection(NamedTuple):
    """How joblib reaches a backend."""

    config: dict[str, Any]  # for joblib.parallel_config
    options: dict[str, Any]  # for joblib.Parallel
    worker_died: type[Exception]  # what is raised if a run takes its worker down


def check_cluster(backend: str, address: str | None, jobs: int | None) -> None:
    """Raise InputError if `unordered_results` could not follow these options."""
    if backend not in ("local", "ray", "dask"):
        raise InputError(f"backend is {backend!r}: expected 'local', 'ray' or 'dask'")
    if backend == "local" and address is not None:
        raise InputError(
            f"address is {address!r}, but backend 'local' has none: 'ray' and 'dask' do"
        )
    if jobs is not None and (not is_whole(jobs) or jobs < 1):
        raise InputError(f"jobs is {jobs!r}: expected a whole number from 1, or None for all cores")


@contextmanager
def unordered_results(
    calls: Sequence[JoblibCall], backend: str, address: str | None, jobs: int | None
) -> Iterator[Iterator[Any]]:
    """Execute the calls; yields an iterator of what they return, in the order they finish.

    Leaving the block ends calls that are still running. A call must not raise; if one takes its
    worker down, RunError is raised.
    """
    if not calls:  # no cluster is needed
        yield iter(())
        return
    joblib = _sweep_extra("joblib", "sweep")
    _sweep_extra("threadpoolctl", "sweep")
    connect: Any = {"local": _local, "ray": _ray, "dask": _dask}[backend]
    with (
        connect(address, jobs) as (config, options, worker_died),
        joblib.parallel_config(**config),
    ):
        parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered", **options)
        results = parallel(calls)
        try:
            yield results
        except worker_died as error:
            raise RunError(f"a run took its worker down: {error}") from error
        except BaseException as error:
            results.throw(error)  # as if a call had raised: closing would work too, but warn
            raise


@contextmanager
def _local(address: str | None, jobs: int | None) -> Iterator[Connection]:
    """The cores of this machine."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    config = {"backend": "loky", "inner_max_num_threads": 1}
    yield Connection(config, {"n_jobs": jobs or -1}, BrokenProcessPool)


@contextmanager
def _ray(address: str | None, jobs: int | None) -> Iterator[Connection]:
    """The Ray this process is connected to, or the one at `address`; see `connect_ray`."""
    ray, ours = connect_ray(address, "this sweep")
    try:
        cores = int(ray.cluster_resources()["CPU"])
        options = {"n_jobs": jobs or cores}
        yield Connection({"backend": _ray_backend()}, options, ray.exceptions.RayError)
    finally:
        if ours:
            ray.shutdown()


@contextmanager
def _dask(address: str | None, jobs: int | None) -> Iterator[Connection]:
    """The Dask scheduler at `address`, or that of this process's `distributed.Client`."""
    distributed = _sweep_extra("distributed", "dask")
    if address is not None:
        client = distributed.Client(address, set_as_default=False)
    else:
        try:
            client = distributed.Client.current()
        except ValueError:
            raise InputError(
                "backend 'dask' needs address, such as 'tcp://10.0.0.1:8786', "
                "or a distributed.Client in this process"
            ) from None
    # joblib takes all cores of a Dask cluster whatever n_jobs says, so `jobs` limits what is sent
    options = {"n_jobs": -1, "pre_dispatch": "2*n_jobs" if jobs is None else jobs}
    try:
        config = {"backend": _dask_backend(client)}
        yield Connection(config, options, distributed.scheduler.KilledWorker)
    finally:
        if address is not None:
            client.close()


def _ray_backend() -> Any:
    """Ray's backend, which can give results as they come but does not say so."""
    from ray.util.joblib.ray_backend import RayBackend

    class Backend(RayBackend):  # type: ignore[misc]
        # False in its parent, joblib's pool of processes; Ray's pool calls back as it must
        supports_return_generator = True

    return Backend()


def _dask_backend(client: Any) -> Any:
    """Dask's backend, which would wait for ever for a run that took its worker down."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def submit(self, func: Any, callback: Any = None) -> Any:
            def report_failure(future: Any) -> None:
                if future.exception() is not None:  # joblib calls back for results alone
                    callback(future.exception())

            future = super().submit(func, callback)
            future.add_done_callback(report_failure)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

    return Backend(client=client)


def _sweep_extra(module: str, extra: str) -> Any:
    return import_extra(module, extra, "this sweep")
