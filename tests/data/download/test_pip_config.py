"""pip's configuration, as pip itself tells it."""

import os
import sys

from semibandit.data.download.pip_config import read_pip_config


def test_pip_is_asked_for_its_own_configuration(monkeypatch, tmp_path):
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = http://global/simple\nextra-index-url =\n  http://a/\n  http://b/\n"
        "[install]\nindex-url = http://install/simple\n"
    )
    for key in list(os.environ):
        if key.upper().startswith("PIP_"):
            monkeypatch.delenv(key)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    found = read_pip_config()
    assert found.index_url == "http://install/simple"
    assert found.extra_index_urls[-2:] == ("http://a/", "http://b/")
    monkeypatch.setenv("PIP_INDEX_URL", "http://environment/simple")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "7")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "one two")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))  # nor a pip
    found = read_pip_config()
    assert found.index_url == "http://environment/simple"
    assert (found.timeout, found.trusted_hosts) == (7.0, ("one", "two"))
