"""Which names a service answers under, and which pages may ask it."""

import http.client
import json

import pytest
from server import BUILD, Server

from semibandit.errors import InputError
from semibandit.service.http.hosts import AllowedHosts, is_loopback

LOOPBACK = ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "127.9.9.9", "[::1]", "[::1]:8000"]
OTHERS = [
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost:x", "10.0.0.7",
    "", " ", "localhost\x00", "a@localhost", "localhost/..", "[::1", "[fe80::1]:80", "0.0.0.0",
]  # fmt: skip


def allowed(hosts, names):
    return [name for name in names if hosts.allows(name.encode())]


def test_loopback_is_allowed_with_any_port_and_nothing_else():
    hosts = AllowedHosts()
    for _ in range(2):  # also once they are known
        assert allowed(hosts, LOOPBACK + OTHERS) == LOOPBACK


def test_names_that_were_allowed():
    hosts = AllowedHosts(["Shop.example.org", "*.internal", "10.0.0.7", "fe80::1"])
    names = ["shop.example.org:443", "a.b.internal", "10.0.0.7:80", "[fe80::1]"]
    assert allowed(hosts, names) == names
    assert allowed(hosts, ["internal", "xinternal", "example.org", "a.shop.example.org"]) == []
    assert allowed(AllowedHosts(["*"]), ["evil.example", "10.0.0.7"]) != []


def test_what_is_listened_on_is_allowed():
    assert AllowedHosts((), "10.0.0.7").allows(b"10.0.0.7:80")
    assert AllowedHosts((), "box.lan").allows(b"box.lan")
    assert not AllowedHosts((), "10.0.0.7").allows(b"10.0.0.8")
    for every in ("0.0.0.0", "::"):  # an address cannot be rebound
        assert allowed(AllowedHosts((), every), ["10.0.0.7", "[fe80::1]", "evil.example"]) == [
            "10.0.0.7",
            "[fe80::1]",
        ]


@pytest.mark.parametrize("name", ["https://a.org", "a.org:80", "a.*.org", "", "a b", "*."])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(InputError, match=r"allow_host = .*expected a name without port"):
        AllowedHosts([name])


def test_which_addresses_are_loopback():
    assert [is_loopback(one) for one in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "a.org")] == [
        True, True, True, False, False,
    ]  # fmt: skip


BODY = json.dumps({"context": [1, 0, 0, 0]})
JSON = {"Content-Type": "application/json"}


def ask(server, method, path, body=None, **headers):
    """Exactly these headers; the status, the headers and the content of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(None if body is None else body.encode())
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, content


def test_a_rebound_name_gets_nothing(server):
    position = server.state()["position"]
    for method, path, body in (
        ("POST", "/rank", BODY),
        ("POST", "/v1/rank", BODY),
        ("GET", "/state", None),
        ("GET", "/metrics", None),
        ("GET", "/", None),
        ("GET", "/openapi.json", None),
        ("DELETE", "/labels", '{"labels": ["a"]}'),
        ("POST", "/snapshot", ""),
        ("GET", "/<script>", None),
    ):
        status, headers, text = ask(
            server, method, path, body, Host="evil.example:8000", Content_Type="application/json"
        )
        assert (status, headers["content-type"]) == (421, "application/json"), path
        assert "--allow-host" in text
        assert "evil" not in text
    assert ask(server, "GET", "/livez")[0] == 400
    assert server.state()["position"] == position
    assert "a" in server.get("/labels").json()["labels"]


def test_a_name_can_be_allowed(tmp_path):
    more = ("--allow-host", "shop.example.org", "--allow-host", "*.internal")
    with Server(tmp_path / "s", *BUILD, *more) as server:
        for host in ("shop.example.org", "a.internal:80", "localhost"):
            assert ask(server, "GET", "/state", Host=host)[0] == 200
        assert ask(server, "GET", "/state", Host="internal")[0] == 421


def test_a_service_for_other_machines_checks_the_host_as_well(tmp_path):
    with Server(tmp_path / "s", *BUILD, "--host", "0.0.0.0", "--api-key", "k") as server:
        for host, key, status in (
            ("evil.example", "k", 421),
            ("10.0.0.7:80", "k", 200),
            ("10.0.0.7:80", "x", 401),
        ):
            found = ask(server, "GET", "/state", Host=host, Authorization=f"Bearer {key}")
            assert found[0] == status


CROSS = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site", "Origin": "http://localhost:8000"},
]
OWN = [
    {},
    {"Origin": "http://localhost:8000"},
    {"Origin": "https://LOCALHOST:8000"},  # behind a proxy that speaks TLS
    {"Sec_Fetch_Site": "same-origin", "Origin": "https://shop.example.org"},
    {"Sec_Fetch_Site": "none"},
]


@pytest.mark.parametrize("headers", CROSS)
def test_pages_of_other_sites_change_nothing(server, headers):
    for method, path, body in (
        ("POST", "/snapshot", ""),
        ("POST", "/v1/snapshot", None),
        ("POST", "/rank", BODY),
        ("DELETE", "/labels", '{"labels": ["a"]}'),
        ("DELETE", "/v1/events?subject=x", None),
    ):
        status, _, text = ask(
            server, method, path, body, Host="localhost:8000", **headers, **_json(body)
        )
        assert status == 403, path
        assert "a page of another site" in text


@pytest.mark.parametrize("headers", OWN)
def test_own_pages_and_other_clients_may(server, headers):
    assert ask(server, "POST", "/snapshot", Host="localhost:8000", **headers)[0] == 200
    found = ask(server, "POST", "/rank", BODY, Host="localhost:8000", **headers, **_json(BODY))
    assert found[0] == 200


def _json(body):
    return {"Content_Type": "application/json"} if body else {}


@pytest.mark.parametrize("path", ["/", "/docs", "/page.js", "/docs/swagger.js"])
def test_what_a_browser_shows_cannot_be_framed(server, path):
    headers = server.get(path).headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'self'" in policy
    assert "script-src" not in policy  # no inline scripts
