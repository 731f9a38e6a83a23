import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.theory.cost import Costs


def test_shipped_costs():
    np.testing.assert_allclose(Costs(sb.decreasing).row(4), [1, 0.75, 0.5, 0.25])
    np.testing.assert_allclose(Costs(sb.constant).row(3), [1, 1, 1])


@pytest.mark.parametrize(
    "cost",
    [
        sb.decreasing,
        sb.constant,
        lambda i, s: 1 / i,
        lambda i, s: 1.0 if i < 3 else 0.25,  # takes one number at a time
        [[1.0], [1.0, 0.0], [0.5, 0.5, 0.1], [0.9, 0.3, 0.3, 0.3]],
        np.tri(4),
    ],
)
def test_sums_are_those_of_the_rows(cost):
    costs = Costs(cost)
    miss = np.random.default_rng(0).random(4)
    slow = [sum(float(costs.row(s)[j]) * miss[j] for j in range(s)) for s in (1, 2, 3, 4)]
    np.testing.assert_allclose(costs.sums(miss), slow, rtol=1e-14)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda i, s: i / s, r"cost c\(2,2\) = 1 is more than c\(1,2\) = 0\.5"),
        (lambda i, s: 1.5, r"cost c\(1,1\) = 1\.5, but costs must lie in \[0, 1\]"),
        (lambda i, s: 3.0, r"divide costs up to C by C, and take a/\(a \+ \(1-a\)·C\) for a"),
        (lambda i, s: 1.0 - i, r"cost c\(2,2\) = -1, but costs must lie in \[0, 1\]"),
        (lambda i, s: float("nan"), r"cost c\(1,1\) = nan"),
        (lambda i, s: None, r"cost c\(1,1\) = None, but costs must be numbers in \[0, 1\]"),
        (lambda i, s: "one", r"cost c\(1,1\) = 'one', but costs must be numbers in \[0, 1\]"),
        ([[1.0], [0.2, 0.4]], r"cost c\(2,2\) = 0\.4 is more than c\(1,2\) = 0\.2"),
        ([[1.0], [0.2]], r"row 1 of the cost table needs 2 costs, got \[0\.2\]"),
        ([], "the cost table is empty"),
        (3, "cost must be a function c\\(i, s\\) or a table"),
        ("decreasing", "cost must be a function|row"),
    ],
)
def test_bad_costs_are_refused_when_they_are_given(cost, message):
    with pytest.raises(InputError, match=message):
        sb.SlateUCB(2, 3, cost=cost)


def test_a_cost_that_turns_bad_later_is_refused_when_it_is_used():
    costs = Costs(lambda i, s: 1.0 if s < 100 else i / s)
    with pytest.raises(InputError, match=r"c\(2,100\) = 0\.02 is more than c\(1,100\) = 0\.01"):
        costs.row(100)


def test_a_table_limits_the_slate_to_its_rows():
    bandit = sb.SlateUCB(2, 9, cost=[[1.0], [1.0, 0.5]], a=1.0)
    assert len(bandit.rank([1, 0])) == 2
    with pytest.raises(InputError, match="covers slates of up to 2 labels, not 3"):
        sb.loss_ac({1}, (1, 2, 3), cost=[[1.0], [1.0, 0.5]])


@pytest.mark.parametrize("a", [-0.1, 1.1, float("nan"), "0.5", None, True])
def test_a_outside_0_1_is_refused(a):
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        sb.SlateUCB(2, 3, a=a)


@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError, InputError])
def test_what_a_users_cost_raises_comes_out(error):
    def broken(i, s):
        if s == 3:
            raise error("a bug of the user's own")
        return 1.0

    with pytest.raises(error, match="a bug of the user's own") as caught:
        Costs(broken)
    assert type(caught.value) is error


def test_a_cost_that_raises_for_arrays_is_asked_for_one_position_at_a_time():
    asked = []

    def cost(i, s):
        if not isinstance(i, int):
            raise TypeError("one position at a time")
        asked.append((i, s))
        return 1.0 / i

    np.testing.assert_allclose(Costs(cost).row(3), [1, 1 / 2, 1 / 3])
    assert asked[:3] == [(1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("a", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_costs_above_1_are_scaled_as_the_message_says(a):
    """The loss with costs C/i is a + (1-a) C times the one with costs 1/i and another a."""
    C, random = 4.0, np.random.default_rng(0)
    scaled = a / (a + (1 - a) * C)
    for _ in range(20):
        Y = {i for i in range(6) if random.random() < 0.5}
        shown = random.permutation(6)[: random.integers(1, 7)].tolist()
        missed = len(Y - set(shown))
        loss = a * missed + (1 - a) * sum(C / j for j, i in enumerate(shown, 1) if i not in Y)
        ours = sb.loss_ac(Y, shown, scaled, lambda i, s: 1 / i)
        assert loss == pytest.approx((a + (1 - a) * C) * ours)
