"""A world that works against the learner: contexts and slots are chosen by what it would do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.errors import InputError
from semibandit.theory.losses import Kind
from semibandit.theory.slate import read_slots
from semibandit.worlds.synthetic import Player, Slots, Synthetic

__all__ = ["Adversarial"]


class Adversarial(Synthetic):
    """Each round, of `tries` contexts and the `slots` allowed, those with the largest regret.

    The adversary knows the truth u_i and asks the learner, whose `rank` changes nothing, what it
    would show. It does not see the coins of learners that draw. Labels still follow eq. (2), as
    the paper's partly adversarial setting has it. Options are those of `Synthetic`.
    """

    def __init__(
        self,
        n_features: int = 20,
        n_labels: int = 30,
        *,
        tries: int = 8,
        slots: Sequence[int] | None = None,
        kind: Kind = "ac",
        **options: object,
    ) -> None:
        super().__init__(n_features, n_labels, **options)  # type: ignore[arg-type]
        if tries < 1:
            raise InputError(f"tries = {tries}, but the adversary needs at least 1 context")
        self.tries, self.kind = tries, kind
        if slots is not None and not len(slots):
            raise InputError("slots is empty: the adversary needs at least one to choose from")
        self.slots = None if slots is None else [read_slots(s) for s in slots]

    def round(
        self, t: int, player: Player | None = None, slots: Slots = None
    ) -> tuple[Floats, Slots]:
        allowed: Sequence[Slots] = [slots] if self.slots is None else self.slots
        contexts = [self.context(t, k) for k in range(self.tries)]
        if player is None:
            return contexts[0], allowed[0]
        choices = [(x, s) for x in contexts for s in allowed]
        regrets = [self.regret(player, x, s) for x, s in choices]
        return choices[int(np.argmax(regrets))]

    def regret(self, player: Player, x: Floats, slots: Slots) -> float:
        """What the learner's slate would cost more than the best one."""
        a, cost, kind = player.a, player.cost, self.kind
        shown = np.array(player.rank(x, slots, draw=1).labels, dtype=np.intp)
        best = self.best(kind, x, a=a, cost=cost, slots=slots)
        return self.expected(kind, x, shown, a=a, cost=cost, slots=slots) - self.expected(
            kind, x, best, a=a, cost=cost, slots=slots
        )
