"""What the reward model expects of the target policy."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.evaluation.off_policy.probabilities import Distributions, Other
from semibandit.evaluation.off_policy.reward_model import Predictions

__all__ = ["expected_next", "expected_rewards", "predicted"]


def predicted(q: Predictions) -> Floats:
    """q̂ of the labels that were shown, (visits, positions); 0 if none was."""
    rows = np.arange(len(q.chunk.visits))
    return q.at(q.chunk.shown, rows) * q.factor


def expected_rewards(
    q: Predictions, targets: Distributions, totals: Floats, marginals: bool = True
) -> Floats:
    """Σ_i m^e_ik q̂_ik for each position k: what the target's slates give by the model.

    `totals` are those of q. Without `marginals`, only fixed and uniform slates are added up.
    """
    positions = q.chunk.positions
    found = np.zeros(q.chunk.shown.shape)
    for fixed in targets.fixed:
        width = min(positions, fixed.codes.shape[1])
        values = q.at(fixed.codes[:, :width], fixed.rows) * fixed.chance[:, :width]
        found[fixed.rows, :width] += fixed.weight[:, None] * values
    for uniform in targets.uniform:
        mean = uniform.weight * totals[uniform.rows] / np.maximum(uniform.n, 1)
        found[uniform.rows] += mean[:, None] * uniform.has(positions)
    for one in targets.other if marginals else ():
        m = one.distribution.marginals(q.chunk.items_of(one.row), positions)
        found[one.row] += one.weight * (_values(q, one) @ m)
    return found * q.factor


def expected_next(q: Predictions, targets: Distributions, totals: Floats) -> Floats:
    """e(s_1, ..., s_k-1) · E[q̂_k of the next label | s_1, ..., s_k-1] for each position k.

    It is 0 if fewer than k - 1 labels were shown, and counts slates that end there as 0.
    Dividing by the log's probability of the same labels gives the term of Cascade-DR.
    """
    chunk, positions = q.chunk, q.chunk.positions
    found = np.zeros(chunk.shown.shape)
    for fixed in targets.fixed:
        width = min(positions, fixed.codes.shape[1])
        begins = _before(np.minimum.accumulate(fixed.item(chunk), axis=1))[:, :width]
        values = q.at(fixed.codes[:, :width], fixed.rows) * fixed.chance[:, :width]
        found[fixed.rows, :width] += fixed.weight[:, None] * begins * values
    if targets.uniform:
        shown = q.at(chunk.shown, np.arange(len(chunk.visits)))
        left = totals[:, None] - (np.cumsum(shown, axis=1) - shown)
        for uniform in targets.uniform:
            begins = _before(targets.uniform_prefix(uniform, chunk)) * uniform.weight[:, None]
            rest = np.maximum(uniform.n[:, None] - np.arange(positions), 1)
            found[uniform.rows] += begins * uniform.has(positions) * left[uniform.rows] / rest
    for one in targets.other:
        found[one.row] += one.weight * _other_next(q, one)
    possible = np.arange(positions) <= chunk.length[:, None]
    return found * possible * q.factor


def _before(prefix: Floats) -> Floats:
    """The probability of the prefix before each position: 1 before the first."""
    return np.concatenate([np.ones((len(prefix), 1)), prefix[:, :-1]], axis=1)


def _other_next(q: Predictions, one: Other) -> Floats:
    chunk, distribution = q.chunk, one.distribution
    shown, items, values = chunk.visits[one.row].shown, q.chunk.items_of(one.row), _values(q, one)
    found = np.zeros(chunk.positions)
    begins = [1.0, *distribution.prefix_propensity(shown).tolist()]
    for k in range(min(len(shown) + 1, chunk.positions)):
        if begins[k]:
            found[k] = begins[k] * float(distribution.next_item(shown[:k], items) @ values)
    return found


def _values(q: Predictions, one: Other) -> Floats:
    """q̂ without factor of every label that could be shown in the visit."""
    codes: Ints = np.array([q.chunk.codes.codes(q.chunk.items_of(one.row))], dtype=np.intp)
    return np.asarray(q.at(codes, np.array([one.row]))[0])
