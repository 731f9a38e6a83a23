"""Ray, an optional package: connected to, or started on this machine."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from semibandit._util.checks import shortened
from semibandit._util.extras import import_extra
from semibandit.errors import ClusterError, InputError

__all__ = ["connect_ray"]

PATIENCE = 5.0  # seconds until a cluster accepts a connection

# Has Ray listen on loopback alone, as it does on macOS, if it is set before Ray is imported. A
# cluster runs whatever it is sent, so one that was not asked for must not be open to others.
LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0"


def connect_ray(address: str | None, purpose: str) -> tuple[Any, bool]:
    """Connect this process to Ray, if it is not connected yet.

    Parameters
    ----------
    address : str, optional
        The cluster, such as "10.0.0.1:6379". None and "auto" take the one that this process is
        connected to; else that of the variable RAY_ADDRESS or of `ray start` on this machine; and
        if there is none, a Ray that is started here, listens on loopback alone, and ends with this
        process.
    purpose : str
        What needs Ray: the subject of the error message if it is not installed.

    Returns
    -------
    ray : module
        Ray.
    connected : bool
        Whether this call connected the process, so that the caller may disconnect it.

    Raises
    ------
    MissingExtra
        If Ray is not installed.
    InputError
        If the address is none.
    ClusterError
        If the cluster cannot be reached.
    """
    if address is not None and not (isinstance(address, str) and address):
        raise _no_address(address)
    given = None if address == "auto" else address
    where = given or os.environ.get("RAY_ADDRESS") or _of_ray_start() or "local"
    if where == "local" and "ray" not in sys.modules:
        os.environ.setdefault(*LOOPBACK)
    ray = import_extra("ray", "ray", purpose)
    if given is None and ray.is_initialized():
        return ray, False
    if where != "local":
        _check_address(where, ray)
    try:
        ray.init(address=where, include_dashboard=False, log_to_driver=False)
    except (ConnectionError, RuntimeError) as why:
        raise ClusterError(f"the Ray cluster at {where!r} cannot be used: {why}") from why
    return ray, True


def _of_ray_start() -> str | None:
    """The address that `ray start` wrote down on this machine, if there is one, and it answers."""
    usual = "/tmp" if os.name == "posix" else tempfile.gettempdir()  # as Ray itself finds it
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or usual
    try:
        address = Path(folder, "ray", "ray_current_cluster").read_text(encoding="utf-8").strip()
        _connect(address)
    except (OSError, ValueError):  # there is none, or a cluster that has died
        return None
    return address


def _connect(address: str) -> None:
    """Raise an `OSError` if nobody listens there, a `ValueError` if it is no address."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()


def _check_address(address: str, ray: Any) -> None:
    """Raise an error if nobody listens at this address: Ray itself would try for two minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise _no_address(address)
    hosts = [host]
    if host in ("127.0.0.1", "localhost", "[::1]"):  # Ray takes these for this machine's own
        hosts.append(ray.util.get_node_ip_address())
    for one in hosts:
        try:
            _connect(f"{one}:{port}")
            return
        except OSError as error:
            why = error
    raise ClusterError(f"there is no Ray cluster at {address!r}: {why}")


def _no_address(given: object) -> InputError:
    return InputError(
        f"address = {shortened(given)}, but the address of a Ray cluster is like '10.0.0.1:6379'"
    )
