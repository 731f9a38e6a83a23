"""Figure 2 in well-written NumPy: what one would write oneself. Square loss, decreasing costs."""

from __future__ import annotations

import time

import numpy as np


def rate(X, Y, slots: int, rounds: int, alpha: float = 1.0, a: float = 0.5) -> float:
    """Rounds a second over the first `rounds`."""
    K, d = Y.shape[1], X.shape[1]
    A_inv, w = np.tile(np.eye(d), (K, 1, 1)), np.zeros((K, d))
    X = X[:rounds] / np.linalg.norm(X[:rounds], axis=1)[:, None]
    answers = Y[:rounds].toarray() if hasattr(Y, "toarray") else Y[:rounds]
    start = time.perf_counter()
    for x, y in zip(X, answers, strict=True):
        U = (A_inv.reshape(K * d, d) @ x).reshape(K, d)
        norm2, margin = U @ x, w @ x
        inside = np.clip(margin, -1.0, 1.0)
        out = np.flatnonzero(inside != margin)
        if len(out):
            w[out] += ((inside - margin)[out] / norm2[out])[:, None] * U[out]
        score = inside + alpha * np.sqrt(norm2)
        best = np.argpartition(-score, min(slots, K - 1))[:slots]
        best = best[np.argsort(-score[best])]
        p = 0.5 * (1.0 + np.minimum(score[best], 1.0))
        J = (1 - a) * np.cumsum(np.cumsum(1 - p)) / np.arange(1, len(p) + 1) - a * np.cumsum(p)
        shown = best[: 1 + int(np.argmin(J))] if J.min() <= 0 else best[:0]
        sign = np.where(y[shown] > 0, 1.0, -1.0)
        grown = 1.0 + norm2[shown]
        step = sign * (1.0 - sign * inside[shown]) / grown
        w[shown] += step[:, None] * U[shown]
        c = U[shown] / np.sqrt(grown)[:, None]
        A_inv[shown] -= c[:, :, None] * c[:, None, :]
    return rounds / (time.perf_counter() - start)
