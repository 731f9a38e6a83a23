"""The page for operators: a backup is restored as it says, and it knows every alert."""

import subprocess

import pytest
import yaml
from pages import ROOT, blocks
from server import BUILD, Server

PAGE = (ROOT / "docs/how-to/operations.md").read_text()
HERE = "/var/lib/semibandit"
OF_THE_SYSTEM = ("systemctl", "chown")  # what needs root; the test stops and starts by itself


@pytest.fixture
def run(tmp_path):
    """Runs the commands of one of the two blocks about backups, in a folder of ours."""
    section = PAGE.split("## Back up and restore")[1].split("\n## ")[0]
    scripts = [block.text for block in blocks(section) if block.kind == "sh"]

    def run(number):
        lines = [one for one in scripts[number].splitlines() if not one.startswith(OF_THE_SYSTEM)]
        script = "\n".join(lines).replace(HERE, str(tmp_path))
        assert str(tmp_path) in script
        subprocess.run(["sh", "-ec", script], check=True)

    return run


def test_a_backup_of_a_running_service_is_restored(tmp_path, run):
    store = tmp_path / "store"
    with Server(store, *BUILD) as server:
        before = server.rank(id="before").json()
        server.feedback("before", [before["slate"][0]["label"]])
        server.until(lambda state: state["version"] == 2)
        run(0)
        server.rank(id="after")
    run(1)
    assert (tmp_path / "store.broken/semibandit.db").exists()
    with Server(store) as server:
        assert (server.state()["version"], server.state()["decisions"]) == (2, 1)
        assert server.rank(id="before").json() == before
        assert server.feedback("after", []).status_code == 404


def test_every_alert_is_in_the_table_of_what_to_do():
    table = PAGE.split("## What to do when")[1].split("\n## ")[0]
    rules = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text())["groups"][0]["rules"]
    assert len(rules) >= 8
    assert not [rule["alert"] for rule in rules if f"`{rule['alert']}`" not in table]
