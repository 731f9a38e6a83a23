"""Weights of the pseudo-inverse estimator (Swaminathan et al. 2017), in closed form.

With 1_s the indicator of the (label, position) pairs of slate s, n labels and slates of length S,
the weight is q_eᵀ G⁺ 1_s: q_e = E_e[1_s], G = E_b[1_s 1_sᵀ]. G is an nS x nS matrix, which is never
built. For logs that mix uniform slates (with probability u) with a few fixed slates v_j (p_j),
G = u G_u + Σ_j p_j v_j v_jᵀ. The symmetries of G_u give its eigenvalues:

    S/n               for matrices (labels x positions) that are constant,
    (n-S)/(n(n-1))    constant over positions, with sums 0 over labels,
    1/(n-1)           with sums 0 over both,
    0                 constant over labels, with sum 0 over positions.

For a slate s and any q whose columns each add up to 1, with h = Σ_k q[s_k, k] and
m = Σ_k Σ_{i in s} q[i, k] (for q = 1_t: the labels in common at the same, and at any position)

    qᵀ G_u⁺ 1_s = 1 + (m/S - S/n) n(n-1)/(n-S) + (h - m/S)(n-1),

without the second term if n = S. The fixed slates enter by Woodbury's formula: all 1_s are in the
range of G_u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.evaluation.off_policy.chunk import Chunk
from semibandit.evaluation.off_policy.probabilities import Distributions

__all__ = ["pseudo_inverse_weights"]


@dataclass(eq=False)
class _Mixture:
    """For each visit: uniform slates with probability u, and fixed slates with p (visits, any)."""

    u: Floats
    p: Floats
    slates: Ints  # (visits, any, S)


def pseudo_inverse_weights(
    chunk: Chunk, logging: Distributions, targets: Distributions
) -> tuple[Floats, str | None]:
    """The weight of each visit's slate, and why there are none if there are none.

    Parameters
    ----------
    chunk : Chunk
        The visits.
    logging, targets : Distributions
        How likely each slate was in the log, and is by the policy to be evaluated.

    Returns
    -------
    weights : array
        One for each visit; they may be negative.
    refused : str or None
        Why the estimator cannot be used with these visits.
    """
    refused = _refused(chunk, logging, targets)
    if refused is not None:
        return np.zeros(len(chunk.visits)), refused
    S = int(chunk.length[0]) if len(chunk.visits) else 0
    if not S:
        return np.ones(len(chunk.visits)), None
    n = _number_of_labels(logging)
    shown = chunk.shown[:, :S]
    log = _mixture(logging, S)
    to_fixed = np.stack(  # qᵀ G_u⁺ v_j
        [_target(chunk, targets, log.slates[:, j], n, log.p[:, j] > 0)
         for j in range(log.slates.shape[1])], axis=1
    ) if log.slates.shape[1] else np.zeros((len(n), 0))  # fmt: skip
    plain = _target(chunk, targets, shown, n, np.ones(len(n), dtype=np.bool_)) / log.u
    return plain - _correction(log, to_fixed, shown, n), None


def _correction(log: _Mixture, to_fixed: Floats, shown: Ints, n: Ints) -> Floats:
    """qᵀ (uG_u)⁺ V (I + P Vᵀ (uG_u)⁺ V)⁻¹ P Vᵀ (uG_u)⁺ 1_s: what the fixed slates change."""
    J = log.slates.shape[1]
    if not J:
        return np.zeros(len(n))
    u = log.u[:, None]
    among = np.empty((len(n), J, J))
    from_shown = np.empty((len(n), J))
    for j in range(J):
        from_shown[:, j] = _between(log.slates[:, j], shown, n)
        for i in range(J):
            among[:, i, j] = _between(log.slates[:, i], log.slates[:, j], n)
    system = np.eye(J) + log.p[:, :, None] * among / u[:, :, None]
    solved = np.linalg.solve(system, (log.p * from_shown / u)[:, :, None])[:, :, 0]
    return np.asarray(np.sum(to_fixed / u * solved, axis=1))


def _between(one: Ints, other: Ints, n: Ints) -> Floats:
    """1_sᵀ G_u⁺ 1_t for slates given by codes, (visits, S)."""
    h = np.sum(one == other, axis=1).astype(np.float64)
    m = np.sum(one[:, :, None] == other[:, None, :], axis=(1, 2)).astype(np.float64)
    return _product(h, m, n, one.shape[1])


def _product(h: Floats, m: Floats, n: Ints, S: int) -> Floats:
    N = n.astype(np.float64)
    by_label = np.where(n > S, N * (N - 1) / np.maximum(N - S, 1), 0.0)
    return np.asarray(1.0 + (m / S - S / N) * by_label + (h - m / S) * (N - 1))


def _target(chunk: Chunk, targets: Distributions, slates: Ints, n: Ints, used: Bools) -> Floats:
    """qᵀ G_u⁺ 1_s for the target's q and these slates, of visits that use them."""
    found = np.zeros(len(n))
    for uniform in targets.uniform:
        found[uniform.rows] += uniform.weight  # h = S/n and m = S²/n, so all but the 1 is gone
    for fixed in targets.fixed:
        product = _between(fixed.codes[:, : slates.shape[1]], slates[fixed.rows], n[fixed.rows])
        found[fixed.rows] += fixed.weight * product
    label = list(chunk.codes.of)
    for one in targets.other:
        if used[one.row]:
            labels = [label[code] for code in slates[one.row].tolist()]
            q = one.distribution.marginals(chunk.items_of(one.row), slates.shape[1])
            place = {item: i for i, item in enumerate(chunk.items_of(one.row))}
            rows = q[[place[label] for label in labels]]
            h, m = np.trace(rows), rows.sum()
            product = _product(np.array([h]), np.array([m]), n[[one.row]], slates.shape[1])
            found[one.row] += one.weight * product[0]
    return found


def _mixture(logging: Distributions, S: int) -> _Mixture:
    u = np.zeros(logging.size)
    for uniform in logging.uniform:
        u[uniform.rows] += uniform.weight
    p = np.zeros((logging.size, len(logging.fixed)))
    slates = np.full((logging.size, len(logging.fixed), S), -3)
    for j, fixed in enumerate(logging.fixed):
        p[fixed.rows, j] = fixed.weight
        slates[fixed.rows, j] = fixed.codes[:, :S]
    return _Mixture(u, p, slates)


def _number_of_labels(logging: Distributions) -> Ints:
    n = np.zeros(logging.size, dtype=np.intp)
    for uniform in logging.uniform:
        n[uniform.rows] = uniform.n
    return n


def _refused(chunk: Chunk, logging: Distributions, targets: Distributions) -> str | None:
    if logging.other:
        kind = type(logging.other[0].distribution).__name__
        return f"the log's slates are of the kind {kind}, not uniform slates and fixed ones"
    if np.any(_mixture(logging, 0).u <= 0):
        return "the log has no uniform slates: serve with --randomise mixed:0.05"
    S = int(chunk.length.max(initial=0))
    if np.any(chunk.length != S) or np.any(chunk.first > 0):
        return "the log's slates differ in length"
    if not (_all_long(logging, S) and _all_long(targets, S)):
        return f"the log and the policy must always show {S} labels, and they do not"
    return None


def _all_long(slates: Distributions, S: int) -> bool:
    """Whether all slates that are possible have S labels."""
    lengths = slates.lengths(S + 1)
    return bool(np.all(np.abs(lengths[:, :S] - 1.0) < 1e-9) and np.all(lengths[:, S] < 1e-12))
