"""Where runs go: this machine's cores, or a Ray or Dask cluster that is there already.

All three are joblib backends: a sweep is one `joblib.Parallel` whatever it runs on. Runs must
not fight for cores: joblib's own pool, loky, is told to give each one thread of BLAS, OpenMP and
numba; Ray and Dask start workers with OMP_NUM_THREADS=1, unless their user said otherwise.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from semibandit.errors import InputError

__all__ = ["Call", "check", "outcomes_of"]

Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # as joblib has it
Options: TypeAlias = tuple[dict[str, Any], dict[str, Any]]  # of parallel_config, of Parallel


def check(backend: str, address: str | None, jobs: int | None) -> None:
    """Refuse what `outcomes_of` could not obey."""
    if backend not in ("local", "ray", "dask"):
        raise InputError(f"backend is {backend!r}: expected 'local', 'ray' or 'dask'")
    if backend == "local" and address is not None:
        raise InputError(
            f"address is {address!r}, but backend 'local' has none: 'ray' and 'dask' do"
        )
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs is {jobs!r}: expected a whole number from 1, or None for all cores")


@contextmanager
def outcomes_of(
    calls: Sequence[Call], backend: str, address: str | None, jobs: int | None
) -> Iterator[Iterator[Any]]:
    """What the calls return, each as soon as it is there; leaving the block ends those that run."""
    if not calls:  # nobody is asked
        yield iter(())
        return
    joblib = _need("joblib", "sweep")
    _need("threadpoolctl", "sweep")
    reach: Any = {"local": _local, "ray": _ray, "dask": _dask}[backend]
    with reach(address, jobs) as (config, options), joblib.parallel_config(**config):
        parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered", **options)
        outcomes = parallel(calls)
        try:
            yield outcomes
        except BaseException as error:
            outcomes.throw(error)  # as if a call had raised: closing would work too, but warn
            raise


@contextmanager
def _local(address: str | None, jobs: int | None) -> Iterator[Options]:
    yield {"backend": "loky", "inner_max_num_threads": 1}, {"n_jobs": jobs or -1}


@contextmanager
def _ray(address: str | None, jobs: int | None) -> Iterator[Options]:
    """The Ray this process is connected to, or the one at `address`, or the one on this machine."""
    ray = _need("ray", "ray")
    ours = address is not None or not ray.is_initialized()
    if ours:
        ray.init(address=address or "auto")
    try:
        cores = int(ray.cluster_resources()["CPU"])
        yield {"backend": _ray_backend()}, {"n_jobs": jobs or cores}
    finally:
        if ours:
            ray.shutdown()


@contextmanager
def _dask(address: str | None, jobs: int | None) -> Iterator[Options]:
    """The Dask scheduler at `address`, or that of this process's `distributed.Client`."""
    distributed = _need("distributed", "dask")
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
    limit = "2*n_jobs" if jobs is None else jobs
    try:
        yield {"backend": _dask_backend(client)}, {"n_jobs": -1, "pre_dispatch": limit}
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
    """Dask's backend, which would wait for ever for a run that took its worker down with it."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def submit(self, func: Any, callback: Any = None) -> Any:
            def tell(future: Any) -> None:
                if future.exception() is not None:  # joblib calls back for results alone
                    callback(future.exception())

            future = super().submit(func, callback)
            future.add_done_callback(tell)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

    return Backend(client=client)


def _need(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"this sweep needs {error.name}: pip install 'semibandit[{extra}]'", name=error.name
        ) from error
