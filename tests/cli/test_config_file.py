"""Options from the command line, the environment and a file, in this order."""

import pytest
from server import BUILD, Server
from typer.testing import CliRunner

from semibandit.cli import app


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "service.toml"
        path.write_text(text)
        return ("--config", path)

    return write


FILE = """
[serve]
features = ["hour", "device:category"]
labels = ["sea", "city"]
max-slots = 3
max_body = 1000
wait = 60
a = 0.75
bias = false
allow-host = "shop.example.org"
"""


def test_the_command_line_comes_first_then_the_environment_then_the_file(tmp_path, config):
    env = {"SEMIBANDIT_MAX_SLOTS": "4", "SEMIBANDIT_WAIT": "70", "SEMIBANDIT_ALLOW_HOST": "b c"}
    with Server(tmp_path / "s", *config(FILE), "--wait", 80, env=env) as server:
        state = server.state()
        assert state["feature_names"] == ["hour", "device"]
        assert state["n_labels"] == 2
        assert state["limits"]["slots"] == 4
        assert state["limits"]["body"] == 1000
        assert state["wait"] == 80
        assert state["settings"]["a"] == 0.75
        assert state["settings"]["bias"] is False
        for host, status in (("b", 200), ("c", 200), ("shop.example.org", 421)):
            assert server.get("/livez", headers={"host": host}).status_code == status


def test_a_file_without_a_table_and_named_by_the_environment(tmp_path, config):
    _, path = config('features = 4\nlabels = "a,b"\napi-key = "k"\nmax-slots = 7\n')
    with Server(tmp_path / "s", env={"SEMIBANDIT_CONFIG": str(path)}) as server:
        assert server.get("/v1/state").status_code == 401
        state = server.get("/v1/state", headers={"authorization": "Bearer k"}).json()
        assert (state["n_features"], state["limits"]["slots"]) == (4, 7)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prot = 1", "has 'prot', which is no option of serve; did you mean 'port'?"),
        (
            "[serve]\nmax_slot = 1",
            "has 'max_slot', which is no option of serve; did you mean 'max-",
        ),
        ("config = 'x'", "has 'config', which is no option"),
        ("[serve]\n[other]\n", "has [serve], and besides it 'other'"),
        ("serve = 3", "serve = 3, expected a table of options"),
        ("[port]\na = 1", "port is a table, expected a value"),
        ("port = ", "is not TOML: Invalid value"),
        ("keep = 'soon'", "keep = 'soon', expected a duration with its unit"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, config, text, reason):
    found = refusal(tmp_path, *config(text))
    assert found.startswith("semibandit serve: ")
    assert reason in found


def refusal(tmp_path, *arguments):
    """What the command says before it serves anything."""
    command = ["serve", "--store", tmp_path / "s", *BUILD, *arguments]
    result = CliRunner().invoke(app, [str(one) for one in command])
    assert result.exit_code == 2
    assert not (tmp_path / "s").exists()
    return result.stderr


def test_a_file_that_is_not_there(tmp_path):
    found = refusal(tmp_path, "--config", tmp_path / "no.toml")
    assert "no.toml', but there is no such file" in found


def test_wrong_values_are_named_wherever_they_come_from(tmp_path, config, monkeypatch):
    assert "--max-body" in refusal(tmp_path, *config("max_body = 'x'"))
    monkeypatch.setenv("SEMIBANDIT_PORT", "x")
    assert "--port" in refusal(tmp_path)


def test_help_names_the_variable_of_every_option():
    text = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "300"}).output
    options = [line.split()[1] for line in text.splitlines() if line.startswith("│ --")]
    assert len(options) > 45
    for option in options:
        if option != "--help":
            assert f"SEMIBANDIT_{option[2:].upper().replace('-', '_')}]" in text, option


def test_a_variable_that_is_no_option_is_warned_of(tmp_path):
    env = {"SEMIBANDIT_PROT": "1", "SEMIBANDIT_CACHE": "/tmp", "SEMIBANDIT_MAX_SLOTS": "4"}
    with Server(tmp_path / "s", *BUILD, env=env) as server:
        pass
    (line,) = [one for one in server.errors if "is no option" in one]
    assert "$SEMIBANDIT_PROT is no option of serve; did you mean 'SEMIBANDIT_PORT'?" in line
