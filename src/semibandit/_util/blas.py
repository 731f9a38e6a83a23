"""One BLAS thread: sums in one order, so that a log learned twice gives the same to the bit."""

from __future__ import annotations

__all__ = ["one_thread"]


def one_thread() -> None:
    """Use one BLAS thread from now on in this process, if threadpoolctl is installed."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    import scipy.linalg.blas  # noqa: F401  # has a BLAS of its own: a limit reaches what is loaded

    threadpool_limits(1, "blas")
