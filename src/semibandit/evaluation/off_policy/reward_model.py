"""A model q̂ of the clicks on a label at a position, for the direct and doubly robust methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.evaluation.off_policy.chunk import Chunk
from semibandit.evaluation.off_policy.contexts import ContextColumns
from semibandit.evaluation.off_policy.reward import Reward

__all__ = ["Predictions", "RewardModel"]

FIRST_FIT = 128  # visits before there is a model; then it is fitted anew whenever they doubled
MOST_COLUMNS = 33
MOST_NUMBERS = 4_000_000  # in the matrices of all labels, 32 MB
ITERATIONS = 10
MOST_POSITIONS = 16  # with a factor of their own
LARGEST_FACTOR = 10.0  # of a position, relative to the first
BLOCK = 1_000_000  # numbers at a time
FEW_LABELS = 256


@dataclass(eq=False)
class Predictions:
    """The model's q̂ = (label's rate for this context) · (examination of the position) as rewards.

    Parameters
    ----------
    chunk : Chunk
        The visits.
    x : array
        Their contexts, (visits, columns).
    weights : array
        One row for each code, times what a click on the label is worth.
    factor : array
        For each position the examination factor times the discount of the reward.
    """

    chunk: Chunk
    x: Floats
    weights: Floats
    factor: Floats

    def at(self, codes: Ints, rows: Ints) -> Floats:
        """q̂ without the position's factor for labels (rows, any); 0 for codes below 0."""
        if self._table is not None:
            return np.asarray(np.where(codes >= 0, self._table[rows[:, None], codes], 0.0))
        found = np.zeros(codes.shape)
        step = max(BLOCK // (codes.shape[1] * self.x.shape[1] + 1), 1)
        for start in range(0, len(codes), step):
            part = slice(start, start + step)
            taken = self.weights[np.maximum(codes[part], 0)]
            found[part] = np.einsum("flp,fp->fl", taken, self.x[rows[part]])
        return np.asarray(np.where(codes >= 0, found, 0.0))

    @cached_property
    def _table(self) -> Floats | None:
        """q̂ of all labels, if they are few."""
        few = len(self.weights) <= FEW_LABELS
        return np.asarray(self.x @ self.weights.T) if few else None

    def totals(self) -> Floats:
        """For each visit the sum of q̂ without factor over all labels that could be shown."""
        codes = self.chunk.codes
        of_all = self.weights[codes.codes(self.chunk.items)].sum(axis=0)
        found = np.asarray(self.x @ of_all)
        for row, visit in enumerate(self.chunk.visits):
            request = visit.request
            if request.candidates is not None or request.exclude:
                items = codes.codes(self.chunk.items_of(row))
                found[row] = self.weights[items].sum(axis=0) @ self.x[row]
        return found


class RewardModel:
    """Predicts which clicks count, fitted on earlier visits only.

    The probability that label i is clicked at position k for context x is e_k · (w_i·x): the click
    is regressed on e_k·x, by a ridge regression for each label. The examination factors e_k, with
    e_1 = 1, are such that the clicks predicted at each position are those counted there. So labels
    may have been shown higher up in the contexts that suit them. What is predicted for a visit
    never depends on the visit, which keeps doubly robust estimates unbiased however wrong the model
    is. Memory is bounded by the number of labels.

    Parameters
    ----------
    reward : Reward
        Which clicks count, and what they are worth.
    n_labels : int, optional
        How many labels there will be.
    """

    def __init__(self, reward: Reward, n_labels: int | None = None) -> None:
        self.reward = reward
        self.n_labels = n_labels
        self.seen = 0
        self.next_fit = FIRST_FIT
        self.columns: ContextColumns | None = None
        # A_ik = Σ x xᵀ and b_ik = Σ click·x of label i at position k; the last column of x is 1
        self.A, self.b = np.zeros((0, 1, 1, 1)), np.zeros((0, 1, 1))
        self.w: Floats | None = None
        self.default = np.zeros(1)
        self.examination = np.ones(1)

    @property
    def shown(self) -> Floats:
        """How often each label was shown at each position, by code and position."""
        return np.asarray(self.A[:, :, -1, -1])

    @property
    def counted(self) -> Floats:
        """How many clicks counted, by code and position."""
        return np.asarray(self.b[:, :, -1])

    def until_next_fit(self) -> int:
        """How many visits can be learned before the model is fitted anew."""
        return self.next_fit - self.seen

    def contexts(self, chunk: Chunk) -> Floats:
        """The contexts of the visits as the model sees them."""
        if self.columns is None:
            matrices = max(self.n_labels or 0, len(chunk.codes), 1)
            matrices *= min(chunk.positions, MOST_POSITIONS)
            most = min(MOST_COLUMNS, max(int((MOST_NUMBERS / matrices) ** 0.5), 1))
            self.columns = ContextColumns(chunk.visits, most)
        return self.columns(chunk.visits)

    def predictions(self, chunk: Chunk, x: Floats) -> Predictions | None:
        """What the model expects of these visits; None before the first fit."""
        if self.w is None:
            return None
        w = np.tile(self.default, (len(chunk.codes), 1))
        w[: len(self.w)] = self.w
        values = self.reward.values(list(chunk.codes.of))
        factor = self.examination[_kept(np.arange(chunk.positions), len(self.examination))]
        discounts = self.reward.discounts(chunk.positions)
        return Predictions(chunk, x, w * values[:, None], factor * discounts)

    def learn(self, chunk: Chunk, outcomes: Floats, x: Floats) -> None:
        """Count these visits, and fit the model anew if it is time."""
        self._grow(len(chunk.codes), min(chunk.positions, MOST_POSITIONS), x.shape[1])
        present = chunk.present
        rows, positions = np.nonzero(present)
        self._add_rows(
            chunk.shown[present], _kept(positions, MOST_POSITIONS), x[rows], outcomes[present]
        )
        self.seen += len(chunk.visits)
        if self.seen >= self.next_fit:
            self._fit()
            while self.next_fit <= self.seen:
                self.next_fit *= 2

    def _grow(self, labels: int, positions: int, columns: int) -> None:
        if not self.b.size:
            self.A, self.b = np.zeros((0, 1, columns, columns)), np.zeros((0, 1, columns))
        more = [max(labels - len(self.b), 0), max(positions - self.b.shape[1], 0)]
        if any(more):
            widths = [(0, more[0]), (0, more[1]), (0, 0)]
            self.A = np.pad(self.A, [*widths, (0, 0)])
            self.b = np.pad(self.b, widths)

    def _add_rows(self, codes: Ints, positions: Ints, x: Floats, clicks: Floats) -> None:
        """A_ik += x xᵀ and b_ik += click·x, label by label and position by position."""
        cells = codes * self.b.shape[1] + positions
        order = np.argsort(cells, kind="stable")
        x, clicks = x[order], clicks[order]
        found, counts = np.unique(cells[order], return_counts=True)
        end = 0
        for cell, count in zip(found.tolist(), counts.tolist(), strict=True):
            start, end = end, end + count
            part, at = x[start:end], divmod(cell, self.b.shape[1])
            self.A[at] += part.T @ part
            self.b[at] += clicks[start:end] @ part

    def _fit(self) -> None:
        """Find the w_i and the e_k by turns.

        Each is pulled a little towards the overall rate and 1, so that few counts do no harm.
        """
        counted = self.counted.sum(axis=0)
        e = np.ones(self.b.shape[1])
        e[: len(self.examination)] = self.examination  # they differ little from fit to fit
        for _ in range(ITERATIONS):
            overall = (counted.sum() + 0.5) / (float((self.shown @ e).sum()) + 1.0)
            overall = float(np.clip(overall, 1e-6, 0.5))
            self.default = np.zeros(self.b.shape[2])
            self.default[-1] = overall
            w = self._rates(e, overall)
            expected = np.einsum("ikp,ip->k", self.A[:, :, -1], w)  # Σ w_i·x at each position
            e = (counted + overall) / (np.maximum(expected, 0.0) + overall)
            e = np.minimum(e / e[0], LARGEST_FACTOR)
        self.examination, self.w = e, self._rates(e, overall)

    def _rates(self, e: Floats, overall: float) -> Floats:
        """The w_i of these factors."""
        # clicks vary by g(1 - g), and rates of labels by about g²: the ratio of both
        ridge = (1.0 - overall) / overall
        right = np.einsum("ikp,k->ip", self.b, e) + ridge * self.default
        system = np.einsum("ikpq,k->ipq", self.A, e**2) + ridge * np.eye(len(self.default))
        return np.asarray(np.linalg.solve(system, right[:, :, None])[:, :, 0])


def _kept(positions: Ints, n: int) -> Ints:
    """Positions from the n-th on count as the n-th."""
    return np.minimum(positions, n - 1)
