"""Served under HTTPS, and below a path of a proxy."""

import re
import signal
import ssl
from pathlib import Path

import httpx2
import pytest
from browser import browsing
from playwright.sync_api import expect
from server import BUILD, Server, refused, until

from semibandit.errors import InputError
from semibandit.service.config import StoreConfig
from semibandit.service.serve import serve
from semibandit.service.settings import Settings

TLS = Path(__file__).parents[1] / "support" / "tls"
CERT, KEY = TLS / "cert.pem", TLS / "key.pem"


def test_https(tmp_path):
    both = tmp_path / "both.pem"
    both.write_bytes(CERT.read_bytes() + KEY.read_bytes())
    trust = ssl.create_default_context(cafile=str(CERT))
    for files in (("--certfile", CERT, "--keyfile", KEY), ("--certfile", both)):
        with Server(tmp_path / "s", *BUILD, *files) as server:
            assert server.url.startswith("https://127.0.0.1:")
            with httpx2.Client(base_url=server.url, verify=trust, trust_env=False) as client:
                assert client.post("/v1/rank", json={"context": [1, 0, 0, 0]}).status_code == 200
                assert client.get("/v1/state", headers={"host": "evil.example"}).status_code == 421


def test_a_renewed_certificate_is_read_on_sighup(tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def put(name):
        for file, kind in ((cert, "cert"), (key, "key")):
            file.write_bytes((TLS / f"{name}{kind}.pem").read_bytes())

    def hang_up():
        lines = len(server.errors)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: len(server.errors) > lines)

    def served():
        return ssl.get_server_certificate(("127.0.0.1", server.port)).strip()

    put("")
    with Server(tmp_path / "s", *BUILD, "--certfile", cert, "--keyfile", key) as server:
        kept = httpx2.Client(base_url=server.url, verify=False, trust_env=False)
        assert kept.get("/livez").status_code == 200
        put("renewed-")
        key.write_bytes(KEY.read_bytes())  # of the old one
        hang_up()
        assert served() == CERT.read_text().strip()
        put("renewed-")
        hang_up()
        assert served() == (TLS / "renewed-cert.pem").read_text().strip()
        assert kept.get("/livez").status_code == 200  # connections stay
        kept.close()
    text = "".join(server.errors)
    assert "ERROR semibandit: the certificate stays as it is: certfile = " in text
    assert "INFO semibandit: the certificate was read again" in text


@pytest.mark.parametrize(
    ("settings", "host", "reason"),
    [
        ({"certfile": "/no.pem"}, "::1", "certfile = '/no.pem' cannot be read: No such file"),
        ({"certfile": CERT}, "::1", "not a certificate and its key in PEM"),
        ({"certfile": CERT, "keyfile": CERT}, "::1", "not a certificate and its key in PEM"),
        ({"certfile": KEY, "keyfile": KEY}, "::1", "not a certificate and its key in PEM"),
        ({"keyfile": KEY}, "::1", "without a certfile"),
        ({"certfile": CERT, "keyfile": KEY}, "0.0.0.0", "set an API key"),
        ({"root_path": "bandit"}, "::1", "root_path = 'bandit', expected a path such as /bandit"),
        ({"root_path": "/bandit/"}, "::1", "root_path = '/bandit/', expected"),
        ({"allow_hosts": ("https://a.org",)}, "::1", "allow_host = 'https://a.org', expected a"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(tmp_path, settings, host, reason):
    words = {key: str(one) if isinstance(one, Path) else one for key, one in settings.items()}
    with pytest.raises(InputError, match=re.escape(reason)):
        serve(str(tmp_path / "s"), StoreConfig(4, 3), Settings(**words), host, 0)
    assert not (tmp_path / "s").exists()


def test_a_wrong_file_is_one_line_for_the_user(tmp_path):
    text = refused(tmp_path / "s", *BUILD, "--certfile", KEY)
    assert text.startswith(f"semibandit serve: certfile = {str(KEY)!r}: not a certificate")


def test_below_a_path_of_a_proxy(tmp_path):
    with Server(tmp_path / "s", *BUILD, "--root-path", "/bandit") as server:
        bare = server.get("/bandit")
        assert (bare.status_code, bare.headers["location"]) == (308, "/bandit/")
        body = {"context": [1, 0, 0, 0], "id": "mine"}
        slates = []
        for prefix in ("", "/bandit"):  # a proxy may take it away, or leave it
            for path in ("/rank", "/v1/rank"):
                answer = server.post(prefix + path, body)
                assert answer.status_code == 200
                slates.append(answer.json())
            for path in ("/", "/docs", "/v1/labels", "/livez", "/docs/start.js"):
                assert server.get(prefix + path).status_code == 200
        assert all(slate == slates[0] for slate in slates)
        assert server.get("/bandits/livez").status_code == 404
        document = server.get("/bandit/openapi.json").json()
        assert document["servers"] == [{"url": "/bandit"}]
        page = server.get("/bandit/docs").text
        assert '="/' not in page  # links are relative
        assert "openapi.json" in server.get("/bandit/docs/start.js").text


def test_the_description_is_drawn_below_a_path_and_within_its_policy(tmp_path):
    with (
        Server(tmp_path / "s", *BUILD, "--root-path", "/bandit") as server,
        browsing() as browser,
    ):
        page = browser.new_page()
        wrong = []
        page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{server.url}/bandit/docs")
        expect(page.locator("#operations-decide-rank")).to_be_visible()
        assert wrong == []
