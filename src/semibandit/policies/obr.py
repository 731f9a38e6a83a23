"""OBR, online binary relevance: the full-information baseline of the paper's experiments."""

from __future__ import annotations

from collections.abc import Sequence

from semibandit.models.full import Full
from semibandit.models.model import State
from semibandit.models.shared import SharedState
from semibandit.policies.fast_rule import FastRule, redefined
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.slate_ucb import SecondOrder
from semibandit.theory.cost import Cost, decreasing
from semibandit.theory.surrogate import Square, Surrogate

__all__ = ["OBR"]


class OBR(SecondOrder):
    """Figure 2 told every relevant label after each round: no widths, one matrix for all labels.

    `learn(slate, clicked)` wants all relevant labels, shown or not. A round is O(d² + K d), since
    every label is updated on every context. A label added later starts with the matrix of all.

    Parameters
    ----------
    n_features, labels, loss, cost, a, scale, bias, at_least, forget, seed
        As for `SlateUCB`. There is no model to choose.

    Examples
    --------
    >>> bandit = OBR(n_features=2, labels=["tea", "coffee"])
    >>> bandit.learn(bandit.rank([1.0, 0.0], slots=1), clicked=["tea", "coffee"])
    """

    full_information = True

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        loss: Surrogate = Square(),
        cost: Cost = decreasing, a: float = 0.5, scale: str = "standard", bias: bool = True,
        at_least: int = 0, forget: float | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            n_features, labels, Full(), loss, cost, a, scale, bias, seed,
            at_least=at_least, forget=forget,
        )  # fmt: skip

    def _start(self, n_labels: int) -> State:
        return SharedState.start(n_labels, self.n_inputs)

    def fast_rule(self) -> FastRule | None:
        return None if redefined(self, OBR) else self._rule(scores=True)

    def _settings(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("loss", "at_least", "forget")}
