"""The members of the source package, and the archive that holds them."""

import io
import re
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from old_pickle import member

from semibandit.data import catalogue
from semibandit.data.formats.dump import find_dump, read_archive, read_dump
from semibandit.errors import FileError, InputError, MissingFile

X = np.array([[0.5, 1.0], [2.0, 0.0], [1.0, 3.0]])
Y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1]])


def test_a_member_and_the_one_for_testing_beside_it(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Toy-train.dump.bz2").write_bytes(member(X, Y))
    path = find_dump(tmp_path, "toy")
    assert read_dump(path).n_test == 0
    (tmp_path / "sub" / "Toy-test.dump.bz2").write_bytes(member(X[:1], Y[:1]))
    dataset = read_dump(path)
    assert (dataset.name, dataset.n_train, dataset.n_test) == ("toy", 3, 1)
    assert np.array_equal(dataset.X_train, X.astype(np.float32))
    assert np.array_equal(dataset.Y_train, Y)
    assert find_dump(tmp_path, "other") is None


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.where(X == 2, np.nan, X), Y, r"toy: X_train\[1, 0\] is nan"),
        (X, 2 * Y, "toy: y holds something else than zeros and ones"),
        (X[:2], Y, "toy: X_train has 2 rows and Y_train 3"),
        (X[0], Y, r"toy: X and y have shapes \(2,\) and \(3, 3\), expected matrices"),
    ],
)
def test_members_that_are_no_data_set_are_refused(tmp_path, X, Y, message):
    (tmp_path / "toy-train.dump.bz2").write_bytes(member(X, Y))
    with pytest.raises(FileError, match=message):
        read_dump(tmp_path / "toy-train.dump.bz2")


def test_an_archive_of_another_size_than_published_is_refused(package, tmp_path, monkeypatch):
    """The checksums are right: then the catalogue is wrong, and says what it expected."""
    archive, source, _ = package
    entry = source.entry("mediamill")
    wrong = replace(source, sets=tuple(replace(one, d=one.d + 1) for one in source.sets))
    monkeypatch.setattr(catalogue, "SOURCE", wrong)
    (tmp_path / "toy.tar.gz").write_bytes(archive)
    found = re.escape(f"= (6, 4, {entry.d}, 3), published (6, 4, {entry.d + 1}, 3)")
    with pytest.raises(FileError, match=found):
        read_archive(tmp_path / "toy.tar.gz", "mediamill")


def test_missing_files_and_names(package, tmp_path):
    with pytest.raises(MissingFile, match=r"there is no file .*toy-train\.dump\.bz2"):
        read_dump(tmp_path / "toy-train.dump.bz2")
    with pytest.raises(MissingFile, match=r"there is no file .*toy\.tar\.gz"):
        read_archive(tmp_path / "toy.tar.gz", "mediamill")
    (tmp_path / "toy.tar.gz").write_bytes(package[0])
    with pytest.raises(InputError, match="no data set is called 'yeast'"):
        read_archive(tmp_path / "toy.tar.gz", "yeast")


def test_an_archive_that_is_damaged_inside_of_a_large_member_is_refused(package, tmp_path):
    content = np.random.default_rng(0).bytes(100_000).hex().encode()
    with tarfile.open(tmp_path / "toy.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("p/" + package[1].entry("mediamill").train.path)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    good = (tmp_path / "toy.tar.gz").read_bytes()
    (tmp_path / "toy.tar.gz").write_bytes(good[:50_000] + b"\xff" * 5000 + good[55_000:])
    with pytest.raises(FileError, match=r"toy\.tar\.gz is not a complete archive"):
        read_archive(tmp_path / "toy.tar.gz", "mediamill")


def test_an_archive_that_is_damaged_anywhere_is_refused_or_read_right(package, tmp_path):
    path, content = tmp_path / "toy.tar.gz", package[0]
    path.write_bytes(content)
    good = read_archive(path, "mediamill").checksum
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            found = read_archive(path, "mediamill").checksum
        except FileError:
            found = good
        assert found == good
