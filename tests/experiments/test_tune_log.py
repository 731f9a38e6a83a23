"""Tuning on the log of a service."""

from dataclasses import replace

import pytest
from shop import Shop, write_shop_log

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.compare import compare
from semibandit.evaluation.off_policy.result import Estimate

SHOP = Shop(n=4, d=8, slots=2)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "log.jsonl"
    write_shop_log(path, SHOP, 1500, 0.8, group=16)
    return path


def test_the_best_setting_is_that_with_the_largest_value(log):
    found = sb.tune(log, alphas=[0.1, 2.0], losses=["square"])
    assert found.estimator == "Cascade-DR"
    assert found.best.a == 1.0  # the log's own
    assert len(found.tried) == 2
    assert not found.refused
    values = compare(log, ["width=scaled:0.1", "width=scaled:2"]).values("Cascade-DR")
    assert {f"width={setting.width}": -loss for setting, loss in found.tried} == values
    assert values[f"width={found.best.width}"] == -found.loss == max(values.values())
    assert found.evaluation.estimates["Cascade-DR"].value == -found.loss
    assert "by Cascade-DR, the best of 2 settings" in str(found)
    own = compare(log, ["learner"]).values("Cascade-DR")["learner"]
    assert found.learner(SHOP.d, SHOP.items).a == 1.0
    assert found.present.value == own
    assert found.difference.value == pytest.approx(-found.loss - own)
    assert found.options() == f"--loss square --width {found.best.width} --a 1.0 --bias"


def test_the_verdict_says_whether_it_is_more_than_noise(log):
    found = sb.tune(log, alphas=[0.1, 0.25], losses=["square"])
    for (value, low, high), words in (
        ((0.1, 0.05, 0.2), "would have earned more than the log's own settings: +0.1000"),
        ((0.1, -0.05, 0.2), "by no more than noise: +0.1000 [-0.0500, +0.2000]"),
        ((0.0, 0.0, 0.0), "These are the log's own settings"),
        ((None, None, None), "is not known"),
    ):
        told = replace(found, difference=Estimate("IPS", value, low, high)).verdict()
        assert words in told
        assert "The best of 2 looks better than it is" in told


def test_what_does_not_go_with_a_log_is_refused(log, tmp_path):
    for more, message in (
        ({"slots": 3}, "slots does not go with a log"),
        ({"rounds": 10}, "rounds does not go with a log"),
        ({"seeds": 2}, "seeds does not go with a log"),
        ({"jobs": 2}, "jobs does not go with a log"),
        ({"since": "1d"}, "since = '1d'"),
        ({"alphas": []}, "alphas is empty"),
        ({"losses": ["cubic"]}, "loss = 'cubic'"),
    ):
        with pytest.raises(InputError, match=message):
            sb.tune(log, **more)
    write_shop_log(tmp_path / "few.jsonl", SHOP, 60, 0.1)
    with pytest.raises(InputError, match=r"cannot tell these settings apart.*At least 100"):
        sb.tune(tmp_path / "few.jsonl", alphas=[0.1], losses=["square"])
