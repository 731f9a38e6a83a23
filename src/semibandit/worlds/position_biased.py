"""A world with position bias: a relevant label is clicked only if its position was looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.theory.surrogate import Surrogate
from semibandit.worlds.synthetic import Synthetic

__all__ = ["PositionBiased"]


class PositionBiased(Synthetic):
    """A `Synthetic` world in which visitors do not look at every position.

    A relevant label at position k is clicked if the position was looked at, which happens with
    probability θ_k, whatever the labels are. With `stop`, a visitor who clicked leaves with this
    probability, as in the cascade click model: what comes after is not looked at any more.

    What losses and regret count is which labels were relevant, whether or not they were clicked.

    Parameters
    ----------
    n_features, n_labels
        As for `Synthetic`.
    examination : sequence of float
        θ_1, θ_2, ..., above 0 and at most 1; the last one holds for further positions.
    stop : float, default 0.0
        How likely a visitor leaves after a click, from 0 to 1.
    loss, U, density, correlation, seed
        As for `Synthetic`.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> world = PositionBiased(5, 6, examination=[1, 0.1], seed=1)
    >>> x, slots = world.round(0)
    >>> shown = world.relevant(0, x)[:2]
    >>> world.clicked(0, shown, shown).tolist()
    [True, False]
    """

    def __init__(
        self, n_features: int = 20, n_labels: int = 30, *,
        examination: Sequence[float] = (1.0, 0.7, 0.5, 0.35, 0.25), stop: float = 0.0,
        loss: Surrogate | None = None, U: float | None = None, density: float | None = None,
        correlation: float = 0.0, seed: int = 0,
    ) -> None:  # fmt: skip
        theta = np.asarray(examination, dtype=np.float64)
        if theta.ndim != 1 or not len(theta) or not np.all((theta > 0) & (theta <= 1)):
            raise InputError(
                f"examination = {examination!r}, but it must be a probability for each position, "
                "above 0 and at most 1"
            )
        if not (is_number(stop) and 0 <= stop <= 1):
            raise InputError(f"stop = {stop!r}, but a probability must lie in [0, 1]")
        super().__init__(
            n_features, n_labels, loss=loss, U=U, density=density, correlation=correlation,
            seed=seed,
        )  # fmt: skip
        self.examination, self.stop = theta, float(stop)

    def examined(self, positions: int) -> Floats:
        """Return θ of the first positions."""
        return self.examination[np.minimum(np.arange(positions), len(self.examination) - 1)]

    def clicked(self, t: int, shown: Ints, relevant: Ints) -> Bools:
        """Return which of the labels shown are clicked in round t."""
        random = np.random.default_rng([self.seed, 3, t])
        n = len(shown)
        looked = random.random(n) < self.examined(n)
        clicks = super().clicked(t, shown, relevant) & looked
        left = np.flatnonzero(clicks & (random.random(n) < self.stop))
        if len(left):
            clicks[left[0] + 1 :] = False
        return clicks

    def value(self, x: Floats, shown: Ints) -> float:
        """Return the expected clicks on a slate, Σ_k θ_k p(label at k); without `stop`."""
        return float(self.examined(len(shown)) @ self.prob(x)[shown])
