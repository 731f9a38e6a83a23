"""A Gaussian copula with one correlation for all pairs: dependent labels with given marginals.

y_i = 1 if z_i <= Φ⁻¹(p_i), with z_1, ..., z_K standard normal, each two of correlation ρ. For ρ > 0
they have a common factor, z_i = sqrt(ρ) z + sqrt(1-ρ) e_i; for ρ < 0 each is lowered by the mean of
all, z_i = sqrt(1-ρ) (e_i - c ē), and ρ >= -1/(K-1): no more labels can exclude each other.
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
    if correlation > 0:
        latent = np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own
    else:  # cov(e_i - c ē, e_j - c ē) = (c² - 2c)/K, which is ρ/(1-ρ) for this c
        c = 1.0 - np.sqrt(max(0.0, 1.0 + len(prob) * correlation / (1.0 - correlation)))
        latent = np.sqrt(1.0 - correlation) * (own - c * own.mean())
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
