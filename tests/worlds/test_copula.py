import numpy as np
import pytest
from scipy import stats

from semibandit.worlds import copula


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9, -0.1, -1 / 6])
def test_a_copula_keeps_the_marginals_and_makes_pairs_as_said(correlation):
    p = np.array([0.02, 0.3, 0.5, 0.5, 0.8, 0.0, 1.0])
    random = np.random.default_rng(0)
    y = np.array([copula.draw(random, p, correlation) for _ in range(40_000)])
    np.testing.assert_allclose(y.mean(axis=0), p, atol=0.01)
    i, j = np.triu_indices(len(p), k=1)
    np.testing.assert_allclose(
        (y[:, i] & y[:, j]).mean(axis=0), copula.both(p[i], p[j], correlation), atol=0.01
    )


def test_pair_probabilities_are_the_bivariate_normal_integral():
    random = np.random.default_rng(1)
    for p, q, rho in random.uniform([0.001, 0.001, -0.999], 0.999, size=(90, 3)):
        normal = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        exact = normal.cdf([stats.norm.ppf(p), stats.norm.ppf(q)])
        assert copula.both(np.array([p]), np.array([q]), rho)[0] == pytest.approx(exact, abs=1e-6)
