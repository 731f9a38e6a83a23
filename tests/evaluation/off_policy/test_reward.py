import numpy as np
import pytest

from semibandit.errors import InputError, UnknownLabel
from semibandit.evaluation.off_policy.reward import read_reward
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.request import Request


def visit(clicked, first=0):
    shown = ["tea", "milk", "juice"][: len(clicked)]
    request = Request(np.empty(0), 3, None, None, 0)
    clicked = np.array(clicked, dtype=bool)
    return LoggedVisit(request, shown, clicked, None, None, None, None, "", first_position=first)


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("clicks", [0, 1, 1]),
        ("dcg", [0, 1 / np.log2(3), 0.5]),
        ("any", [0, 1, 0]),
        ({"tea": 1, "milk": 2.5, "juice": 0}, [0, 2.5, 0]),
    ],
)
def test_reward_of_each_position(reward, expected):
    found = read_reward(reward).per_position(visit([False, True, True]))
    assert found == pytest.approx(expected)


def test_a_single_item_counts_at_its_position():
    assert read_reward("dcg").per_position(visit([True], first=2)) == pytest.approx([0.5])
    assert read_reward("any").per_position(visit([True], first=2)).tolist() == [1.0]
    assert read_reward("clicks").per_position(visit([])).tolist() == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sales", "reward = 'sales', but it must be one of clicks, dcg, any"),
        (3, "reward = 3"),
        ({}, "must have a value for every label"),
        ({"tea": -1}, "the value of a click on 'tea' = -1"),
        ({"tea": float("nan")}, "the value of a click on 'tea' = nan"),
    ],
)
def test_refused_rewards(given, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        read_reward(given)


def test_a_label_without_a_value_is_refused():
    with pytest.raises(UnknownLabel, match="no value for the label 'milk'"):
        read_reward({"tea": 1}).per_position(visit([True, True]))
