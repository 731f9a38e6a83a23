"""A cache of the test's own, and a machine whose pip is configured for nothing but the test."""

import os

import pytest
from package_index import serving, small_package

from semibandit.data import catalogue
from semibandit.data.download import pip_config


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SEMIBANDIT_CACHE", str(folder))
    return folder


@pytest.fixture
def package(cache, monkeypatch):
    """The small package takes the real one's place in the catalogue."""
    archive, source, contents = small_package()
    monkeypatch.setattr(catalogue, "SOURCE", source)
    return archive, source, contents


@pytest.fixture
def pip(monkeypatch):
    """A function that sets pip's configuration, of which nothing else is left."""
    for key in list(os.environ):
        if key.upper().startswith("PIP_"):
            monkeypatch.delenv(key)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # what `pip config list` would say; asking pip itself is for the one test about that
    monkeypatch.setattr(
        pip_config, "read_pip_config", lambda: pip_config.parse_pip_config("", os.environ)
    )
    return lambda **settings: [
        monkeypatch.setenv(f"PIP_{key.upper()}", value) for key, value in settings.items()
    ]


@pytest.fixture
def index(package, pip):
    """The small package, served; pip is configured to ask there."""
    with serving(package[0]) as served:
        pip(index_url=served.url)
        yield served
