"""OBR, online binary relevance: the full-information baseline of the paper's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from semibandit.models.model import State
from semibandit.models.shared import SharedState
from semibandit.policies.labels import Label
from semibandit.policies.slate_ucb import Options, SecondOrder

__all__ = ["OBR"]


class OBR(SecondOrder):
    """Figure 2 told every relevant label after each round: no widths, one matrix for all labels.

    `learn(slate, clicked)` wants all relevant labels, shown or not. A round is O(d² + K d), since
    every label is updated on every context. A label added later starts with the matrix of all.
    """

    full_information = True

    def __init__(
        self, n_features: int, labels: int | Sequence[Label], **options: Unpack[Options]
    ) -> None:
        if "model" in options:
            raise ValueError("OBR keeps one full matrix for all labels: it takes no model")
        super().__init__(n_features, labels, **options)

    def _start(self, n_labels: int) -> State:
        return SharedState.start(n_labels, self._d)

    def _settings(self) -> dict[str, object]:
        return {"loss": self.loss}
