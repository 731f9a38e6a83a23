"""Several policies on one log: what they assume is checked once, and differences are paired."""

import json
from dataclasses import replace

import numpy as np
import pytest
from shop import Shop, log_lines, shop_events, write_shop_log

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation.off_policy import uniform_check
from semibandit.evaluation.off_policy.compare import compare
from semibandit.evaluation.off_policy.evaluate import evaluate
from semibandit.store.event import Decision

INDEPENDENT = ("IIPS", "snIIPS", "PI", "DM", "IIPS-DR")
CASCADE = Shop(n=6, d=3, slots=3, base=0.5, stop=1.0)  # people stop after the first click
SHOP = Shop(n=4, d=3, slots=2)


@pytest.fixture(scope="module")
def cascade(tmp_path_factory):
    """A log in which beginnings of slates that are not the learner's are rare."""
    path = tmp_path_factory.mktemp("cascade") / "log.jsonl"
    write_shop_log(path, CASCADE, 4000, 0.25, group=64)
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "log.jsonl"
    write_shop_log(path, SHOP, 2000, 0.6, group=64)
    return path


def stranger():
    """A learner of another shop, whose slates the log shows by chance alone."""
    other = CASCADE.learner()
    for _ in shop_events(Shop(n=6, d=3, slots=3, seed=7), other, 512, epsilon=0.5):
        pass
    return other


def test_if_clicks_depend_on_labels_above_no_policy_has_a_value_without_that(cascade):
    other = stranger()
    found = compare(cascade, {"other": other, "logged": "logged"})
    truth = CASCADE.value(
        CASCADE.contexts(4000),
        CASCADE.numbers([s.labels for s in other.rank_many(CASCADE.contexts(4000), 3)]),
    )
    one = found.evaluations["other"]
    assert one.estimates["Cascade-DR"].value is None  # else there would be no question
    for name in INDEPENDENT:
        for each in found.evaluations.values():
            assert each.estimates[name].value is None
            assert "For uniform slates, IIPS-DR is" in each.estimates[name].refused
            assert "clicks depend on the labels above" in each.estimates[name].refused
    headline = found.headline("other")
    assert headline is None or headline.low < truth < headline.high
    assert found.evaluations["logged"].estimates["Cascade-DR"].value is not None


def test_independent_clicks_are_not_refused(log):
    found = compare(log, ["learner", "most-clicked"])
    for one in found.evaluations.values():
        assert all(one.estimates[name].value is not None for name in INDEPENDENT)
        assert not any("assumes" in note for note in one.notes)


def test_tuning_obeys(cascade):
    with pytest.raises(InputError, match="clicks depend on the labels above"):
        sb.tune(cascade, alphas=[3.0], losses=["square"])


def test_what_could_not_be_checked_is_said_beside_the_headline(tmp_path):
    """The log knows how likely each label was at its position, and nothing of whole slates."""
    path = tmp_path / "log.jsonl"
    unknown = ("slate_propensity", "prefix_propensity", "distribution")
    events = [
        replace(event, **dict.fromkeys(unknown)) if isinstance(event, Decision) else event
        for event in shop_events(SHOP, SHOP.learner(), 1500, 0.5)
    ]
    path.write_bytes(b"".join(log_lines(events, SHOP.learner())))
    found = evaluate(path, "uniform")
    assert found.estimates["IIPS-DR"].value is not None
    (note,) = [note for note in found.notes if "assumes" in note]
    assert note.startswith("IIPS-DR assumes that clicks do not depend on the labels around")
    assert "could not be checked on this log" in note


def test_later_chunks_of_a_long_log_are_thinned(log, monkeypatch):
    monkeypatch.setattr(uniform_check, "ALL", 640)
    seen = []
    add = uniform_check.WeightedRun.add
    monkeypatch.setattr(
        uniform_check.WeightedRun, "add", lambda run, chunk: (seen.append(run), add(run, chunk))
    )
    compare(log, ["learner"])
    counts = [sum(run is one for run in seen) for one in dict.fromkeys(seen)]
    assert len(counts) == 2
    assert counts[1] < counts[0] / 2


def test_differences_are_paired(log):
    found = compare(log, ["uniform", "learner", "learner,randomise=mixed:0.1"])
    assert found.reference == "learner"
    assert set(found.differences) == {"uniform", "learner,randomise=mixed:0.1"}
    near = found.differences["learner,randomise=mixed:0.1"]
    values = found.values("Cascade-DR")
    assert near.name == "Cascade-DR"
    gap = values["learner,randomise=mixed:0.1"] - values["learner"]
    assert near.value == pytest.approx(gap)
    own = found.evaluations["learner"].estimates["Cascade-DR"]
    assert near.high - near.low < 0.3 * (own.high - own.low)  # most of it is common to both
    assert near.low < gap < near.high < 0
    far = found.differences["uniform"]
    assert far.high < 0
    kept = json.loads(json.dumps(found.json()))
    assert kept["reference"] == "learner"
    assert kept["differences"]["uniform"]["low"] == far.low
    assert kept["drawn_share"] == pytest.approx(0.6)


def test_a_single_policy_is_compared_with_the_log(log):
    found = compare(log, ["uniform"])
    assert found.reference is None
    one = found.differences["uniform"]
    assert one.value == pytest.approx(found.headline("uniform").value - found.logged.value)
    assert one.low < one.value < one.high < 0
    same = compare(log, ["logged"]).differences["logged"]
    assert abs(same.value) < 0.02
    assert compare(log, ["uniform", "a=0.9"]).reference == "uniform"


def test_those_that_do_not_learn_are_judged_by_weights_beside_accepted_visits(log):
    found = compare(log, ["learner", "uniform", "logged", "most-clicked"], learning="accepted")
    assert found.headline("learner").name == "accepted"
    plain = compare(log, ["uniform", "logged", "most-clicked"])
    for name in ("uniform", "logged", "most-clicked"):
        assert found.headline(name) == plain.headline(name)
    assert "no estimator has a value of both" in found.differences["uniform"].refused
    assert evaluate(log, "uniform", learning="accepted").estimates["IPS"].value is not None


def test_what_accepted_visits_leave_out_is_counted_in_the_json(tmp_path):
    events = list(shop_events(SHOP, SHOP.learner(), 200, 1.0, group=8))
    answered = [one for one in events if isinstance(one, Decision) or one.id != "visit-3"]
    (tmp_path / "log.jsonl").write_bytes(b"".join(log_lines(answered, SHOP.learner())))
    found = evaluate(tmp_path / "log.jsonl", "learner", learning="accepted").json()
    assert json.loads(json.dumps(found))["left_out"] == {"decisions without feedback": 1}


def test_labels_that_only_one_of_them_has_are_named(log, tmp_path):
    other = sb.SlateUCB(SHOP.d, [*SHOP.items[1:], "tea", "milk", "beer", "wine"], a=1.0)
    found = evaluate(log, other)
    text = " ".join(found.notes)
    assert "it has 4 labels ('tea', 'milk', 'beer', ...) that the log could not show" in text
    assert "it lacks 1 label ('item-0') of the log" in text
    assert all(one.value is None for one in found.estimates.values())
    assert "The log can show" in found.estimates["IIPS"].refused
    assert not any("label" in note for note in evaluate(log, SHOP.learner()).notes)


def test_a_file_that_has_learned_the_log_is_noted(log, tmp_path):
    path, replayed = tmp_path / "learned.npz", sb.replay_log(log)
    replayed.save(path)
    assert "it has learned 2,000 of these visits" in " ".join(evaluate(log, path).notes)
    # 16 groups of 64 decisions and their feedback
    replace(replayed, position=2 * 1024).save(path)
    assert "1,024 of these visits" in " ".join(evaluate(log, path).notes)
    late = evaluate(log, path, since=1000.0 + 1024)
    assert not any("has learned" in note for note in late.notes)
    replayed.learner.save(path)  # which says nothing of the log
    assert not any("has learned" in note for note in evaluate(log, path).notes)


def test_the_direct_method_agrees_with_the_log(tmp_path):
    """A label that is shown first in its good contexts and lower in others is not better for it."""
    shop = Shop(n=6, d=3, slots=3, base=-2.0)
    look = np.array([1.0, 0.5, 0.25])
    clicks = shop.clicks
    shop.clicks = lambda X, slates, random: (
        clicks(X, slates, random) & (random.random(slates.shape) < look)
    )
    write_shop_log(tmp_path / "log.jsonl", shop, 4000, 0.2)
    found = evaluate(tmp_path / "log.jsonl", "logged")
    assert found.estimates["DM"].value == pytest.approx(found.logged.value, rel=0.05)
