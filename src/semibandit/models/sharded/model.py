"""A model whose labels are divided among shards."""

from __future__ import annotations

from dataclasses import dataclass

from semibandit.models.model import Model
from semibandit.models.sharded.divide import layout_of
from semibandit.models.sharded.placement import Shards
from semibandit.models.sharded.state import ShardedState

__all__ = ["ShardedModel"]


@dataclass(frozen=True)
class ShardedModel:
    """The model of every shard, and where the shards are.

    Parameters
    ----------
    model : Full, Diagonal or Dual
        How each shard keeps its labels.
    shards : Shards
        How many there are, and where.

    Raises
    ------
    InputError
        If the model cannot be divided.

    Examples
    --------
    >>> import numpy as np, semibandit as sb
    >>> model = ShardedModel(sb.Full(), Shards(2, on="here"))
    >>> model.start(n_labels=3, n_features=2).look(np.array([0.6, 0.8])).norm2
    array([1., 1., 1.])
    """

    model: Model
    shards: Shards

    def __post_init__(self) -> None:
        layout_of(self.model)

    @property
    def sparse(self) -> bool:
        return self.model.sparse

    def start(self, n_labels: int, n_features: int) -> ShardedState:
        return ShardedState(self.model, self.shards, n_labels, n_features)
