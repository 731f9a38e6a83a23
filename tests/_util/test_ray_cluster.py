"""A Ray that cannot be reached: the error comes at once, and says where it was looked for."""

import socket
import sys

import pytest

from semibandit._util.ray_cluster import _of_ray_start, connect_ray
from semibandit.errors import ClusterError, InputError, MissingExtra


def test_nobody_at_the_address_is_an_error_at_once(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens there
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"there is no Ray cluster at '{address}'"):
            connect_ray(address, "this test")
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(ClusterError, match=f"there is no Ray cluster at '{address}'"):
            connect_ray("auto", "this test")


@pytest.mark.parametrize("address", ["nowhere", "10.0.0.1:", ":6379", "10.0.0.1:99999", "", 6379])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match=f"address = {address!r}, but the address of a Ray"):
        connect_ray(address, "this test")


def test_a_cluster_that_ray_start_wrote_down_counts_if_it_answers(monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert _of_ray_start() is None
    (tmp_path / "ray").mkdir()
    with socket.socket() as cluster:
        cluster.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{cluster.getsockname()[1]}"
        (tmp_path / "ray" / "ray_current_cluster").write_text(address)
        assert _of_ray_start() is None
        cluster.listen()
        assert _of_ray_start() == address


def test_a_missing_ray_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"this test needs ray: .*'semibandit\[ray\]'"):
        connect_ray(None, "this test")
