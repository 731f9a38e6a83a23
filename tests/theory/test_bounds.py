import math

import pytest

import semibandit as sb
from semibandit import bounds
from semibandit.errors import InputError


def by_hand(T, d, K, U2, delta, c1, c2, worst):
    C = U2 + d * c1 / c2**2 * math.log(1 + (T - 1) / d)
    C += 12 / c2 * (c1 / c2 + 3 * worst) * math.log(K * (T + 4) / delta)
    return 2 * C * d * math.log(1 + T / d)  # M of the proof


def test_the_proofs_by_hand():
    T, d, K, U, delta, a, S = 1000, 6, 12, 2.0, 0.05, 0.3, 4
    M = by_hand(T, d, K, U**2, delta, 4, 1, 2)
    problem = {"T": T, "d": d, "K": K, "U": U, "delta": delta, "loss": sb.Square()}
    assert bounds.theorem1(**problem, a=a) == pytest.approx(2 * 0.7 * 0.5 * K * math.sqrt(T * M))
    assert bounds.theorem1(**problem, a=a, slots=S) == pytest.approx(
        2 * 0.7 * 0.5 * math.sqrt(S * K * T * M)
    )
    printed = 4 * 0.5 * math.sqrt(M * S * K * T)
    assert bounds.theorem3(**problem, slots=S, printed=True) == pytest.approx(printed)
    assert bounds.theorem3(**problem, slots=S) == pytest.approx(S * printed)
    grown = d * 4 * math.log(1 + (T - 1) / d)
    M = by_hand(T, d, K, grown, delta, 4, 1, 2)
    early = math.ceil(d * (math.exp(U**2 / (4 * d)) - 1))
    assert bounds.theorem2(**problem, a=a) == pytest.approx(
        2 * 0.7 * 0.5 * K * math.sqrt(T * M) + early * 4 * 0.7 * 0.5 * K * 1.0
    )


def test_a_is_1_costs_nothing_and_bounds_grow_like_sqrt_T():
    problem = {"d": 5, "K": 9, "U": 1.0, "loss": sb.Logistic(1.0)}
    assert bounds.theorem1(T=500, a=1.0, **problem) == 0
    growth = bounds.theorem1(T=2 * 10**9, **problem) / bounds.theorem1(T=10**9, **problem)
    assert math.sqrt(2) < growth < 1.5


WRONG = [
    *({name: value} for name in "TdK" for value in (0, "9", math.inf, math.nan)),
    *({"U": value} for value in (-1.0, "1", math.nan)),
    *({"delta": value} for value in (0.5, 0, "0.1")),
    *({"slots": value} for value in (-1, 2.5, "2")),
]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("theorem", [bounds.theorem1, bounds.theorem2, bounds.theorem3])
def test_bounds_refuse_what_the_theorems_do_not_cover(theorem, wrong):
    problem = {"T": 10, "d": 2, "K": 3, "U": 1.0, "loss": sb.Square(), "slots": 2}
    ((name, value),) = wrong.items()
    with pytest.raises(InputError, match=f"{name} = {value!r}, but "):
        theorem(**problem | wrong)


@pytest.mark.parametrize("theorem", [bounds.theorem1, bounds.theorem2])
def test_bounds_refuse_a_outside_0_1(theorem):
    with pytest.raises(InputError, match="a = 2, but "):
        theorem(T=10, d=2, K=3, U=1.0, loss=sb.Square(), a=2)


def test_numbers_may_be_floats():
    problem = {"d": 5, "K": 9, "U": 1, "loss": sb.Square()}
    assert bounds.theorem1(T=1e6, **problem) == bounds.theorem1(T=10**6, **problem)
