"""Keys from files: several at a time, read again on SIGHUP, and never told."""

import signal

import pytest
from server import BUILD, Server, refused, until

from semibandit.errors import FileError, InputError, MissingFile
from semibandit.service.keys import Keys
from semibandit.service.settings import Settings


def key_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def test_several_keys_of_each_kind(tmp_path):
    write = key_file(tmp_path, "write", "# of the shop\none\n\n  two  \n")
    read = key_file(tmp_path, "read", "look\n")
    keys = Keys(Settings(api_key="three", api_key_file=write, read_key_file=read))
    assert keys.needed
    assert [keys.may_write(key) for key in (b"one", b"two", b"three", b"look", b"", b"#")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert keys.may_read(b"look")
    assert not Keys(Settings()).needed


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("", FileError, "has no key: expected one a line"),
        ("# nothing\n", FileError, "has no key"),
        ("sécret\n", InputError, "must be printable ASCII"),
        ("look\n", InputError, "read_key and api_key are the same"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, kind, reason):
    path = key_file(tmp_path, "keys", text)
    with pytest.raises(kind, match=reason):
        Keys(Settings(api_key_file=path, read_key="look"))
    with pytest.raises(MissingFile, match="there is no such file"):
        Keys(Settings(api_key_file=path + "x"))
    with pytest.raises(InputError, match="leave writing open"):
        Keys(Settings(read_key_file=key_file(tmp_path, "read", "look")))


def test_a_file_that_every_user_can_read_is_warned_of(tmp_path, caplog):
    path = key_file(tmp_path, "keys", "one\n")
    Keys(Settings(api_key_file=path))
    assert not caplog.records
    (tmp_path / "keys").chmod(0o644)
    Keys(Settings(api_key_file=path))
    assert "can be read by every user" in caplog.text
    assert "one" not in caplog.text.replace(str(tmp_path), "")


def test_keys_are_read_again_on_sighup(tmp_path):
    path = key_file(tmp_path, "keys", "old\n")
    with Server(tmp_path / "s", *BUILD, "--api-key-file", path) as server:

        def works(key):
            head = {"authorization": f"Bearer {key}"}
            return server.get("/v1/state", headers=head).status_code == 200

        def hang_up(text):
            key_file(tmp_path, "keys", text)
            lines = len(server.errors)
            server.process.send_signal(signal.SIGHUP)
            until(lambda: len(server.errors) > lines)

        assert works("old")
        hang_up("old\nnew\n")
        assert works("old")
        assert works("new")
        hang_up("new\n")
        assert not works("old")
        for broken in ("", "sécret"):
            hang_up(broken)
            assert works("new")
        assert not works("#")
    text = "".join(server.errors)
    assert "INFO semibandit: keys were read again: 2 to write, 0 to read" in text
    assert "ERROR semibandit: the keys stay as they are: api_key_file = " in text
    assert not any(key in text for key in ("old", "new\n", "cret"))


def test_other_machines_need_a_key_also_from_a_file(tmp_path):
    path = key_file(tmp_path, "keys", "one\n")
    with Server(tmp_path / "s", *BUILD, "--host", "0.0.0.0", "--api-key-file", path) as server:
        assert server.get("/v1/state").status_code == 401
    missing = refused(tmp_path / "s", "--api-key-file", tmp_path / "nothing")
    assert missing.startswith("semibandit serve: api_key_file = ")
