"""Downloads: checked, resumed, never half-written; against an index on loopback."""

import os
import subprocess
import sys

import package_index
import pytest
from package_index import FILENAME, files

from semibandit.data.download import http
from semibandit.data.download.cache import download_dataset
from semibandit.errors import DownloadError, FileError


def test_a_download_cut_half_way_goes_on_where_it_stopped(index, cache):
    half = len(index.content) // 2
    index.cuts = [half]
    assert download_dataset("mediamill").n == 10
    assert index.asked == [None, f"bytes={half}-"]


def test_one_that_stays_cut_is_kept_and_taken_up_by_the_next_call(index, cache):
    half = len(index.content) // 2
    index.cuts = [half, 0]
    with pytest.raises(DownloadError, match=f"{half} bytes are kept"):
        download_dataset("mediamill")
    assert files(cache) == [FILENAME + ".part"]
    assert (cache / (FILENAME + ".part")).read_bytes() == index.content[:half]
    download_dataset("mediamill")
    assert index.asked[-1] == f"bytes={half}-"
    assert files(cache) == ["mediamill.npz", FILENAME]


def test_a_server_without_ranges_sends_it_all_again(index, cache):
    index.ranges = False
    index.cuts = [len(index.content) // 2]
    assert download_dataset("mediamill").n == 10
    assert len(index.asked) == 2
    assert (cache / FILENAME).read_bytes() == index.content


def test_a_server_without_ranges_that_always_breaks_is_given_up(index, cache):
    index.ranges = False
    index.cuts = [100] * 50
    with pytest.raises(DownloadError, match="could not be downloaded"):
        download_dataset("mediamill")
    assert len(index.asked) == 2  # the second brought nothing new


def test_byte_by_byte_it_is_given_up_at_last(index, cache, monkeypatch):
    monkeypatch.setattr(http, "MOST_TRIES", 5)
    index.cuts = [1] * 50
    with pytest.raises(DownloadError, match="broke 5 times"):
        download_dataset("mediamill")


@pytest.mark.parametrize("left", ["all", "longer", "of another file"])
def test_whatever_lies_there_from_before_the_file_comes_right(index, cache, left):
    cache.mkdir()
    content = {
        "all": index.content,
        "longer": index.content + b"more",
        "of another file": b"x" * 50,
    }[left]
    (cache / (FILENAME + ".part")).write_bytes(content)
    assert download_dataset("mediamill").n == 10
    assert (cache / FILENAME).read_bytes() == index.content


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(index, cache):
    index.content = index.content[:-1] + b"!"
    with pytest.raises(FileError, match=r"came with sha256 .*, expected .*: thrown away"):
        download_dataset("mediamill")
    assert files(cache) == []


@pytest.mark.parametrize("status", [404, 403, 416, 500, 503])
def test_what_the_server_says_is_said(index, cache, status):
    index.status = status
    with pytest.raises(DownloadError, match=f"the server answered {status}"):
        download_dataset("mediamill")
    assert files(cache) == []


def test_a_kill_while_downloading_leaves_no_file_but_the_part(index, cache):
    code = """
import os, signal, sys
from semibandit.data.download.cache import download_dataset
sys.path.insert(0, sys.argv[1])
from package_index import small_package
die = lambda what, done, total: os.kill(os.getpid(), signal.SIGKILL)
download_dataset("mediamill", die, small_package()[1])
"""
    run = subprocess.run([sys.executable, "-c", code, os.path.dirname(package_index.__file__)])
    assert run.returncode == -9
    assert files(cache) == [FILENAME + ".part"]
    assert download_dataset("mediamill").n == 10
