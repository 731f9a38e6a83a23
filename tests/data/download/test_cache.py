"""Data sets by name: downloaded once, kept, imported; against an index on loopback."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from old_pickle import member
from package_index import FILENAME, files, small_package

from semibandit.data import catalogue
from semibandit.data.dataset import Dataset
from semibandit.data.download.cache import (
    cache_folder,
    cached_path,
    download_dataset,
    import_dataset,
)


def test_a_set_is_fetched_once_and_then_needs_no_network(index, cache):
    seen = []
    first = download_dataset("mediamill", lambda *step: seen.append(step))
    assert (first.n_train, first.n_test, first.d, first.K) == (6, 4, 4, 3)
    assert first.X_train.dtype == np.float32
    assert first.Y_train.dtype == np.uint8
    assert not first.sparse
    assert {what for what, _, _ in seen} == {f"downloading {FILENAME}", "reading mediamill"}
    for what in {what for what, _, _ in seen}:
        steps = [(done, total) for name, done, total in seen if name == what]
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1]
    assert files(cache) == ["mediamill.npz", FILENAME]
    index.has_package, index.status = False, 500
    assert download_dataset("MediaMill").checksum == first.checksum
    other = download_dataset("corel5k")  # the archive is here already
    assert other.sparse
    assert len(index.asked) == 1


def test_a_member_with_a_wrong_checksum_is_refused(index, cache, monkeypatch):
    content, other, _ = small_package(seed=1)  # the archive is as announced, its members are not
    swapped = type(other)(
        *(*vars(catalogue.SOURCE).values(),)[:3], other.sha256, catalogue.SOURCE.sets
    )
    index.content = content
    with pytest.raises(ValueError, match=r"mediamill-train\.dump\.bz2 has sha256 .*, expected"):
        download_dataset("mediamill", source=swapped)
    assert files(cache) == [FILENAME]


def test_a_damaged_cache_is_fetched_again(index, cache):
    good = download_dataset("mediamill")
    path = cached_path("mediamill")
    path.write_bytes(path.read_bytes()[:-30])
    (cache / FILENAME).write_bytes(b"not what it was")
    assert download_dataset("mediamill").checksum == good.checksum
    assert len(index.asked) == 2


def test_several_at_once_fetch_it_once(index, cache):
    with ThreadPoolExecutor(4) as pool:
        sets = list(pool.map(download_dataset, ["mediamill", "corel5k"] * 4))
    assert len({dataset.checksum for dataset in sets}) == 2
    assert len(index.asked) == 1


@pytest.mark.parametrize(
    "form", ["archive", "folder of members", "folder of archive", "npz", "member"]
)
def test_what_was_downloaded_by_other_means_is_kept(package, cache, tmp_path, form):
    archive, _, contents = package
    place = tmp_path / "brought"
    place.mkdir()
    expected = fetch_from(place, archive, contents, form)
    dataset = import_dataset("corel5k", expected)
    assert (dataset.n_train, dataset.n_test, dataset.d, dataset.K) == (6, 4, 9, 5)
    assert download_dataset("corel5k").checksum == dataset.checksum  # and no index was asked


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
        import_dataset("corel5k", place / "sub").save(place / "mine.npz")
        shutil.rmtree(cache_folder())
        return place / "mine.npz"
    return place / "sub" if form == "folder of archive" else place / "sub" / FILENAME


def test_what_does_not_hold_the_set_is_refused(package, cache, tmp_path):
    with pytest.raises(ValueError, match="holds neither"):
        import_dataset("corel5k", tmp_path)
    (tmp_path / "mediamill-train.dump.bz2").write_bytes(member(np.ones((2, 2)), [[0], [1]]))
    with pytest.raises(ValueError, match="holds mediamill, not corel5k"):
        import_dataset("corel5k", tmp_path / "mediamill-train.dump.bz2")
    (tmp_path / FILENAME).write_bytes(package[0][:-40])
    with pytest.raises(ValueError, match="is not a complete archive"):
        import_dataset("corel5k", tmp_path)
    with pytest.raises(FileNotFoundError):
        import_dataset("corel5k", tmp_path / "nowhere.tar.gz")


def test_the_cache_is_the_users_unless_it_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("SEMIBANDIT_CACHE", raising=False)
    assert cache_folder().name == "semibandit"
    monkeypatch.setenv("SEMIBANDIT_CACHE", "~/here")
    assert cache_folder() == cache_folder().home() / "here"


def test_load_and_get_give_the_same(index):
    dataset = download_dataset("corel5k")
    assert Dataset.load(cached_path("corel5k")).checksum == dataset.checksum
    assert dataset.source == "scikit-multilearn 0.0.1"
