"""Results as text: short, each reason once, nothing that is only for the terminal."""

from dataclasses import replace

from semibandit.evaluation.off_policy.compare import Comparison
from semibandit.evaluation.off_policy.position_bias import PositionBias, PositionEstimate
from semibandit.evaluation.off_policy.result import Check, Estimate, Evaluation
from semibandit.evaluation.off_policy.result_text import counted, refusal_lines

ESTIMATES = {
    "IPS": Estimate("IPS", 0.5, 0.4, 0.6, 0.3, 0.7),
    "IIPS": Estimate("IIPS", None, refused="it is no sum"),
    "PI": Estimate("PI", None, refused="it is no sum"),
}
FOUND = Evaluation(
    "mine", "clicks", 1, {"decisions without feedback": 1},
    [Check("coverage", "item", 0.2, False, "20%"), Check("mean weight", "item", 1.0, True, "1")],
    ESTIMATES, Estimate("logged", 0.3, 0.2, 0.4), ["a note"], 0.9,
)  # fmt: skip


def test_an_evaluation():
    text = str(FOUND)
    for part in (
        "mine: 1 visit, clicks per visit; left out: 1 decision without feedback",
        "0.5000 [0.4000, 0.6000]", "IPS, at any time         [0.3000, 0.7000]",
        "90% intervals over visits", "failed checks: coverage of item weights (0.2)",
        "IIPS, PI refused. It is no sum.", "a note",
    ):  # fmt: skip
        assert part in text
    assert "mean weight" not in text  # it passed
    assert repr(FOUND) == "Evaluation('mine': IPS 0.5000 [0.4000, 0.6000], 1 visit)"
    assert FOUND.json()["estimates"]["IPS"]["low"] == 0.4
    nothing = replace(FOUND, estimates={"PI": ESTIMATES["PI"]})
    assert nothing.headline is None
    assert "refused" in repr(nothing)


def test_a_comparison_gives_each_reason_once():
    policies = {"one": FOUND, "other": FOUND, "third": replace(FOUND, estimates={})}
    assert refusal_lines(policies) == ["one, other: IIPS, PI refused. It is no sum."]
    del policies["third"]
    found = Comparison(
        "log.jsonl", policies, ["a note of all"], "one", {"other": Estimate("IPS", 0.1, 0.05, 0.2)},
        0.25,
    )  # fmt: skip
    text = str(found)
    for part in (
        "all: IIPS, PI refused.", "all: a note\n", "a note of all", "25.0% of the log's slates",
        "other: +0.1000 [+0.0500, +0.2000] compared with one (IPS)",
    ):  # fmt: skip
        assert text.count(part) == 1
    assert len(repr(found)) < 200


def test_position_bias():
    one = PositionEstimate(1, 1.0, 1.0, 1.0, 0.1, 1.0, 500.0, 50.0, None)
    found = PositionBias([one, replace(one, position=2, examination=0.5)], 1000, {}, None)
    assert str(found).splitlines()[-1] == "examination: 1,0.5"
    assert "mean weight" in str(found)
    assert repr(found) == "PositionBias(examination='1,0.5', 1,000 visits)"
    assert str(replace(found, refused="too few")).endswith("too few")


def test_counts():
    assert counted(1, "lines cut off at the end") == "1 line cut off at the end"
    assert counted(0, "visits") == "0 visits"
