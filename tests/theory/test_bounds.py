import math

import pytest

import semibandit as sb
from semibandit import bounds


def by_hand(T, d, K, U2, delta, c1, c2, worst):
    C = U2 + d * c1 / c2**2 * math.log(1 + (T - 1) / d)
    C += 12 / c2 * (c1 / c2 + 3 * worst) * math.log(K * (T + 4) / delta)
    return 2 * C * d * math.log(1 + T / d)  # M of the proof


def test_the_proofs_by_hand():
    T, d, K, U, delta, a, S = 1000, 6, 12, 2.0, 0.05, 0.3, 4
    M = by_hand(T, d, K, U**2, delta, 4, 1, 2)
    shape = {"T": T, "d": d, "K": K, "U": U, "delta": delta, "loss": sb.Square()}
    assert bounds.theorem1(**shape, a=a) == pytest.approx(2 * 0.7 * 0.5 * K * math.sqrt(T * M))
    assert bounds.theorem1(**shape, a=a, slots=S) == pytest.approx(
        2 * 0.7 * 0.5 * math.sqrt(S * K * T * M)
    )
    printed = 4 * 0.5 * math.sqrt(M * S * K * T)
    assert bounds.theorem3(**shape, slots=S, printed=True) == pytest.approx(printed)
    assert bounds.theorem3(**shape, slots=S) == pytest.approx(S * printed)
    grown = d * 4 * math.log(1 + (T - 1) / d)
    M = by_hand(T, d, K, grown, delta, 4, 1, 2)
    early = math.ceil(d * (math.exp(U**2 / (4 * d)) - 1))
    assert bounds.theorem2(**shape, a=a) == pytest.approx(
        2 * 0.7 * 0.5 * K * math.sqrt(T * M) + early * 4 * 0.7 * 0.5 * K * 1.0
    )


def test_a_is_1_costs_nothing_and_bounds_grow_like_sqrt_T():
    shape = {"d": 5, "K": 9, "U": 1.0, "loss": sb.Logistic(1.0)}
    assert bounds.theorem1(T=500, a=1.0, **shape) == 0
    growth = bounds.theorem1(T=2 * 10**9, **shape) / bounds.theorem1(T=10**9, **shape)
    assert math.sqrt(2) < growth < 1.5


@pytest.mark.parametrize("wrong", [{"T": 0}, {"d": 0}, {"K": 0}, {"delta": 0.5}, {"a": 2}])
def test_bounds_refuse_what_the_theorems_do_not_cover(wrong):
    shape = {"T": 10, "d": 2, "K": 3, "U": 1.0, "loss": sb.Square()} | wrong
    with pytest.raises(ValueError, match=next(iter(wrong))):
        bounds.theorem1(**shape)
