"""The pages about moving from another library: the programs before run with that library.

Those after run with every other page, in test_pages.py.
"""

import json
import re
import subprocess
import sys
import tomllib
from statistics import mean

import pytest
from packaging.requirements import Requirement
from pages import ROOT, blocks
from peer_programs import FOLDER, run_before

PAGES = {"vowpalwabbit": "vowpal-wabbit.md", "mabwiser": "mabwiser.md"}


def peers() -> list[str]:
    """The libraries that the extra `peers` installs on this Python and machine."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    wanted = [Requirement(line) for line in extras["peers"]]
    return [one.name for one in wanted if one.marker is None or one.marker.evaluate()]


@pytest.mark.parametrize("peer", peers())
def test_the_program_before_runs(peer, tmp_path):
    run_before(FOLDER / PAGES[peer], sys.executable, tmp_path)


def test_every_peer_of_the_extra_has_its_page():
    assert set(peers()) <= set(PAGES)


def decision_logs() -> list[str]:
    """The logs that the page about Vowpal Wabbit shows: of ccb, then of cb."""
    found = blocks((FOLDER / "vowpal-wabbit.md").read_text())
    return [block.text for block in found if block.kind == "json"]


def label_of_ccb(event: dict) -> str:
    places = event["_outcomes"]
    return ",".join(f"{place['_a'][0]}:{place['_label_cost']:g}" for place in places)


def label_of_cb(event: dict) -> str:
    return f"{event['a'][0] - 1}:{event['_label_cost']:g}:{event['p'][0]:g}"


@pytest.mark.parametrize("peer", [peer for peer in peers() if peer == "vowpalwabbit"])
def test_vowpal_wabbit_reads_the_logs_as_the_page_does(peer, tmp_path):
    labels = {"--ccb_explore_adf": label_of_ccb, "--cb_explore_adf": label_of_cb}
    for (option, label), log in zip(labels.items(), decision_logs(), strict=True):
        (tmp_path / "log.json").write_text(log)
        command = [sys.executable, "-m", peer, option, "--dsjson", "-d", "log.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for line in log.splitlines():  # the label as Vowpal Wabbit understood it
            assert f" {label(json.loads(line))} " in done.stderr


def row_of(who: str) -> list[str]:
    """A library's row in the table of speed and quality, cell by cell."""
    lines = (FOLDER / "index.md").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"| {who} |"))
    return [cell.strip().replace("*", "") for cell in line.strip("|").split("|")][1:]


def measured(name: str) -> dict:
    return json.loads((ROOT / "benchmarks" / "results" / name).read_text())


def test_speeds_in_the_table_are_those_that_were_measured():
    found = measured("results.json")
    for column, (workload, plain) in enumerate(found["NumPy of the libraries' run"].items()):
        for who, rate in found["rounds a second"][workload].items():
            if re.search(r"\d\.\d", who):  # other libraries have their version in their name
                assert row_of(who)[column] == f"{rate / plain:.2g}", (who, workload)


def test_qualities_in_the_table_are_those_that_were_measured():
    rows = measured("quality.json")["peers"]["rows"]
    speeds = measured("results.json")["rounds a second"]["M"]
    names = {plain_name(who): who for who in speeds if re.search(r"\d\.\d", who)}
    worlds = list(dict.fromkeys(row["world"] for row in rows))
    for who in {row["who"] for row in rows if "peer" in row}:
        for column, world in enumerate(worlds):
            theirs = [r for r in rows if (r["who"], r["world"]) == (who, world)]
            rounds = theirs[0]["rounds"]
            ours = [r for r in rows if (r["who"], r["world"]) == ("defaults", world)]
            told = mean(row["last fifth"] for row in theirs)
            beside = mean(row["after"][str(rounds)] for row in ours)
            cell = row_of(names[plain_name(who)])[2 + column]
            assert cell == f"{rounds:,}: {told:.2f}, {beside:.2f}", (who, world)


def plain_name(who: str) -> str:
    """A library and its learner, however its name and version are written."""
    return re.sub(r"[\d. ]", "", who).lower()
