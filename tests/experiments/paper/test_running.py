"""The paper's experiments, run: every number is there, and nothing is run twice."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

import semibandit as sb
from semibandit.cli import app
from semibandit.errors import InputError
from semibandit.experiments import setting
from semibandit.experiments.paper import running
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.plans import BASELINE, FIGURE_2, figure_plan
from semibandit.experiments.paper.point import replay_point
from semibandit.experiments.sets import dataset

KEYS = (
    *("wanted", "panels", "findings", "widths", "width_of", "width_baseline", "prices", "losses"),
    *("price overall", "lab", "data", "seconds", "notes", "machine", "command", "bayes"),
)


def test_every_number_is_kept(made):
    out, _ = made
    numbers = json.loads((out / "results.json").read_text())
    assert set(numbers) == set(KEYS)
    (panels,) = numbers["panels"].values()
    assert set(panels) == {"left", "middle", "right", "ranking"}
    for method, points in panels["right"].items():
        assert [*points] == ["1", "5", "20", "60"]
        assert {len(results) for results in points.values()} == {2}
        for result, curve in zip(points["60"], panels["left"][method]["none"], strict=True):
            assert result.items() < curve.items()
    assert len(numbers["findings"]) == 11
    assert len(numbers["widths"]["scaled:1"]) == 2
    for prices in numbers["prices"].values():
        assert all(price > 0 for price in prices.values())
    assert numbers["lab"]["adversary"]["Greedy"]["final"][0] > 0


def test_an_order_changes_the_rows_and_nothing_else(made):
    """Blocks are of the same rows in every order; the whole is what a loop over them loses."""
    numbers = json.loads((made[0] / "results.json").read_text())
    ((data, panels),) = numbers["panels"].items()
    run = figure_plan(data, 60, "scaled:0.8").runs()["middle", BASELINE, 5, 0]
    first, second = panels["middle"][BASELINE]["5"]
    assert first == {k: v for k, v in replay_point(run).items() if k not in ("marks", "curve")}
    assert second != first
    rows = dataset(data)
    order = np.random.default_rng([1, 0]).permutation(rows.n_train)
    bandit = sb.OBR(rows.d, rows.K, cost=sb.constant, seed=1, scale="unit", bias=False)
    losses = np.empty(rows.n_train)
    losses[order] = sb.replay(bandit, rows.X_train[order], rows.Y_train[order], 5).losses("hamming")
    parts = [part.mean() for part in np.array_split(losses, 40)]
    assert second["blocks"]["hamming"] == pytest.approx(parts, abs=1e-6)


def test_prices_are_losses_divided_by_obrs_and_their_means_geometric(made):
    numbers = json.loads((made[0] / "results.json").read_text())
    rows = []
    for data, losses in numbers["losses"].items():
        rows.append([np.mean(losses["scaled:1"]) / losses["OBR"][0], numbers["data"][data]["rows"]])
        assert numbers["prices"][data]["scaled:1"] == pytest.approx(rows[-1][0])
    prices, rounds = np.array(rows).T
    overall = numbers["price overall"]
    assert overall["sets"]["scaled:1"] == pytest.approx(np.exp(np.log(prices).mean()))
    weighted = np.exp(np.average(np.log(prices), weights=rounds))
    assert overall["rounds"]["scaled:1"] == pytest.approx(weighted)


def test_widths_are_compared_with_obr_with_the_same_slots(made):
    numbers = json.loads((made[0] / "results.json").read_text())
    obr = setting.run({**FIGURE_2, "data": numbers["width_of"], "learner": "OBR", "slots": 10})
    assert numbers["width_baseline"] == obr["ac"]


def test_a_second_time_nothing_is_run_again(made, tmp_path):
    folder, arguments = made
    out = shutil.copytree(folder / "runs", tmp_path / "out" / "runs").parent
    arguments = [str(out) if word == str(folder) else word for word in arguments]
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before


def test_without_a_network_a_stand_in_takes_mediamills_place(monkeypatch, tmp_path):
    """The terminal and the report say so, and Mediamill's statements are not claimed."""
    monkeypatch.setenv("SEMIBANDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lines = []
    experiments = running.Experiments(ReproduceOptions(), tmp_path, lines.append)
    for _ in range(2):
        assert experiments.available("mediamill") == "mediamill-like"
    assert experiments.available("delicious-98") == "mediamill-like"
    assert experiments.available("tags-world") == "tags-world"
    note, _ = experiments.results.notes
    assert "mediamill could not be fetched" in note
    assert "synthetic world" in note
    assert note in lines


def test_a_bug_in_fetching_is_not_taken_for_a_missing_network(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMIBANDIT_CACHE", str(tmp_path / "cache"))
    for error in (KeyError("bug"), OSError("disk full"), InputError("wrong checksum")):

        def fail(name, error=error):
            raise error

        monkeypatch.setattr(running, "download_dataset", fail)
        with pytest.raises(type(error)):
            running.Experiments(ReproduceOptions(), tmp_path, print).available("mediamill")
