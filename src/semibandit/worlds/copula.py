"""A Gaussian copula with one common factor: correlated labels with given marginals.

y_i = 1 if sqrt(ρ) z + sqrt(1-ρ) e_i <= Φ⁻¹(p_i), with z and all e_i standard normal.
"""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Bools, Floats

__all__ = ["both", "draw"]


def draw(random: np.random.Generator, prob: Floats, correlation: float) -> Bools:
    """Draw which labels are relevant: label i with probability prob[i], and correlation ρ."""
    if correlation == 0.0:
        return random.random(len(prob)) < prob
    from scipy.special import ndtri

    common, own = random.standard_normal(), random.standard_normal(len(prob))
    latent = np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own
    return np.asarray(latent <= ndtri(prob), dtype=np.bool_)


def both(p: Floats, q: Floats, correlation: float) -> Floats:
    """Return P(y_i = y_j = 1) for marginals p and q.

    It is the bivariate normal integral, by Owen's T function.

    Examples
    --------
    >>> both(np.array([0.5]), np.array([0.5]), 0.5).round(12)  # 1/4 + arcsin(ρ)/2π
    array([0.33333333])
    """
    if correlation == 0.0:
        return p * q
    from scipy.special import ndtri, owens_t

    h, k = ndtri(p), ndtri(q)
    h, k = np.where(h == 0, 1e-300, h), np.where(k == 0, 1e-300, k)
    side = np.sqrt(1.0 - correlation**2)
    with np.errstate(invalid="ignore", over="ignore"):
        Th = owens_t(h, (k / h - correlation) / side)
        Tk = owens_t(k, (h / k - correlation) / side)
    joint = 0.5 * (p + q) - Th - Tk - np.where((h > 0) == (k > 0), 0.0, 0.5)
    joint = np.where(p == 0, 0.0, np.where(q == 0, 0.0, np.where(p == 1, q, joint)))
    return np.clip(np.where((q == 1) & (p > 0), p, joint), 0.0, np.minimum(p, q))
