"""Results that were kept before a function moved are still found."""

import json

import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.experiments.paper.regret_lab import lab_runs, play_run
from semibandit.experiments.result_files import FORMER_NAMES, run_key
from semibandit.experiments.sweep import sweep


def test_a_result_is_found_under_the_former_name_of_its_function(tmp_path):
    run = next(iter(lab_runs(20, 1).values()))
    content = {"run": run, "result": {"kept": True}, "version": sb.__version__}
    content["work"] = "semibandit.experiments.lab.play_run"
    path = tmp_path / f"{run_key(run)}.json"
    path.write_text(json.dumps(content))
    assert sweep(play_run, [run], folder=tmp_path, jobs=1) == [{"kept": True}]
    content["work"] = "semibandit.experiments.lab.another"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"is a result of .*another, not of .*play_run"):
        sweep(play_run, [run], folder=tmp_path, jobs=1)


def test_former_names_lead_to_functions_that_are_there():
    for name in FORMER_NAMES.values():
        module, _, function = name.rpartition(".")
        assert callable(getattr(__import__(module, fromlist=[function]), function))


def test_the_key_of_a_run_stays():
    """Folders made by earlier versions are found by it."""
    run = {"data": "mediamill", "learner": "SlateUCB", "slots": None, "a": 0.5, "bias": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sb, "__version__", "0.1.0")
        assert run_key(run) == run_key(dict(reversed(run.items())))
        assert run_key(run) == "e73adab710f2735beccb44814ffa9272"
