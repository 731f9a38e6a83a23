"""A file is replaced completely or not at all."""

import os
import stat
import subprocess
import sys

import pytest

from semibandit._util.atomic import replacing
from semibandit.errors import FileError, MissingFile


def test_a_file_is_made_and_replaced_with_the_permissions_it_had(tmp_path):
    path = tmp_path / "file"
    for content in (b"one", b"two"):
        with replacing(path) as file:
            file.write(content)
            assert not path.exists() or path.read_bytes() == b"one"
        assert path.read_bytes() == content
        path.chmod(0o640)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"one")
    (tmp_path / "link").symlink_to("file")
    with replacing(tmp_path / "link") as file:
        file.write(b"two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"two"


def test_if_the_block_raises_the_old_file_stays(tmp_path):
    (tmp_path / "file").write_bytes(b"one")

    def write_half():
        with replacing(tmp_path / "file") as file:
            file.write(b"tw")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert (tmp_path / "file").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["file"]


def test_what_a_killed_process_left_is_removed_and_what_others_write_is_not(tmp_path):
    code = f"""
import os, signal
from semibandit._util.atomic import replacing
with replacing({str(tmp_path / "file")!r}) as file:
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    (left,) = os.listdir(tmp_path)
    others = f".file.{os.getppid()}-00000000.tmp"  # its process is alive
    (tmp_path / others).touch()
    with replacing(tmp_path / "file"):
        assert left not in os.listdir(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(["file", others])


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(MissingFile, match=r"cannot save .*file: there is no folder .*nowhere"):
        replacing(tmp_path / "nowhere" / "file").__enter__()


def test_a_folder_is_not_replaced_by_a_file(tmp_path):
    with pytest.raises(FileError, match="it is a folder, not a file"), replacing(tmp_path):
        pass
    assert list(tmp_path.parent.glob("*.tmp")) == []
