"""Links: for this machine and for others, with the key where only the browser sees it."""

import ipaddress

import pytest

from semibandit.experiments.shop_demo.address import Address


def test_loopback_is_reached_from_here_alone():
    one = Address.of("http://localhost:8000", "localhost", None)
    assert one == Address("http://localhost:8000")
    assert one.link() == "http://localhost:8000/"


@pytest.mark.parametrize(("host", "in_url"), [("0.0.0.0", "0.0.0.0"), ("::", "[::]")])
def test_every_address_is_one_here_and_one_for_others(host, in_url):
    one = Address.of(f"http://{in_url}:8000", host, "secret")
    assert one.link("demo") == "http://127.0.0.1:8000/demo#key=secret"
    there = one.link("demo", elsewhere=True).removeprefix("http://")
    assert there.endswith(":8000/demo#key=secret")
    assert not ipaddress.ip_address(there.split(":")[0]).is_unspecified


def test_one_address_is_the_same_for_all():
    one = Address.of("http://192.0.2.7:80", "192.0.2.7", "k")
    assert one.link("demo") == one.link("demo", elsewhere=True)
