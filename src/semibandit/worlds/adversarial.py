"""A world that works against the learner: contexts and slots are chosen by what it would do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import whole_number
from semibandit.errors import InputError
from semibandit.theory.losses import LossKind, check_kind
from semibandit.theory.slate import SCORE_GRID, read_slots
from semibandit.theory.surrogate import Surrogate
from semibandit.worlds.synthetic import Player, Slots, Synthetic

__all__ = ["Adversarial"]


class Adversarial(Synthetic):
    """A `Synthetic` world that gives, in each round, the context with the largest regret it finds.

    The adversary knows the true weights u_i and asks the learner what it would show, for `tries`
    contexts and for each number of slots that is allowed. `rank` changes nothing in the learner,
    and the adversary does not see the draws of learners that draw at random. Labels still follow
    eq. (2), as in the paper's partially adversarial setting.

    Parameters
    ----------
    n_features, n_labels
        As for `Synthetic`.
    tries : int, default 8
        How many contexts the adversary tries in a round, at least 1.
    slots : sequence of (int or None), optional
        The numbers of slots that the adversary may choose from; by default those of the round.
    kind : {"ac", "hamming", "rank", "p_rank"}, default "ac"
        The loss of which the regret is taken; a and c(i, s) are the learner's.
    loss, U, density, correlation, seed
        As for `Synthetic`.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> import semibandit as sb
    >>> world = Adversarial(5, 6, tries=4, slots=[1, 3], seed=1)
    >>> bandit = sb.SlateUCB(5, 6)
    >>> x, slots = world.round(0, bandit)
    >>> world.regret(bandit, x, slots) >= world.regret(bandit, world.context(0), 1)
    True
    """

    def __init__(
        self, n_features: int = 20, n_labels: int = 30, *, tries: int = 8,
        slots: Sequence[int | None] | None = None, kind: LossKind = "ac",
        loss: Surrogate | None = None, U: float | None = None, density: float | None = None,
        correlation: float = 0.0, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            n_features,
            n_labels,
            loss=loss,
            U=U,
            density=density,
            correlation=correlation,
            seed=seed,
        )
        self.tries, self.kind = whole_number("tries", tries, least=1), check_kind(kind)
        if slots is not None and not len(slots):
            raise InputError("slots is empty: the adversary needs at least one to choose from")
        self.slots = None if slots is None else [read_slots(s) for s in slots]

    def round(
        self, t: int, player: Player | None = None, slots: Slots = None
    ) -> tuple[Floats, Slots]:
        """Return the context and the slots for which the player's regret would be largest.

        Without a player, it is the first context that could come, and the first number of slots.
        """
        allowed: Sequence[Slots] = [slots] if self.slots is None else self.slots
        contexts = [self.context(t, k) for k in range(self.tries)]
        if player is None:
            return contexts[0], allowed[0]
        choices = [(x, s) for x in contexts for s in allowed]
        regrets = [self.regret(player, x, s) for x, s in choices]
        return choices[int(np.argmax(np.rint(np.array(regrets) * SCORE_GRID)))]  # not by last bits

    def regret(self, player: Player, x: Floats, slots: Slots) -> float:
        """Return by how much the player's slate would cost more than the best one, on average."""
        a, cost, kind = player.a, player.cost, self.kind
        draw = int(getattr(player, "draws", True))  # who draws at random will draw otherwise
        shown = np.array(player.rank(x, slots, draw=draw).labels, dtype=np.intp)
        best = self.best(kind, x, a=a, cost=cost, slots=slots)
        return self.expected(kind, x, shown, a=a, cost=cost, slots=slots) - self.expected(
            kind, x, best, a=a, cost=cost, slots=slots
        )
