"""Play: a learner in a world whose truth is known, with exact regret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from semibandit._util.arrays import Bools, Floats
from semibandit._util.checks import whole_number
from semibandit._util.progress import ProgressOption, progress_bar
from semibandit.errors import InputError
from semibandit.evaluation.trace import Recorder, Trace
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised
from semibandit.theory.cost import Costs
from semibandit.theory.losses import LossKind
from semibandit.worlds.synthetic import Player, Slots, Synthetic

__all__ = ["LearningPlayer", "Play", "play", "play_rounds"]


@dataclass(frozen=True, eq=False)
class Play:
    """What happened in a world, and its expected losses given the context, not sampled ones.

    Attributes
    ----------
    trace : Trace
        The slates shown, and the losses that were drawn.
    expected : array of T floats
        E[loss of the slate shown | x_t].
    best : array of T floats
        E[loss of the best slate | x_t].
    covered : array of T bools or None
        Whether |Δ - Δ̂'| <= ε held for every label; None unless `coverage` was asked for.

    Examples
    --------
    >>> import semibandit as sb
    >>> result = sb.play(sb.Random(5, 4), sb.Synthetic(5, 4), rounds=20, slots=2)
    >>> len(result.regret), bool(result.regret[-1] > 0)
    (20, True)
    """

    trace: Trace
    expected: Floats
    best: Floats
    covered: Bools | None

    @property
    def regret(self) -> Floats:
        """R_1, ..., R_T: cumulative and exact."""
        return np.cumsum(self.expected - self.best)


class LearningPlayer(Protocol):
    """What `play_rounds` plays with: a learner whose labels are the world's, 0 to K - 1."""

    @property
    def a(self) -> float: ...

    @property
    def cost(self) -> Costs: ...

    @property
    def full_information(self) -> bool: ...

    def rank(self, x: Floats, slots: Slots = None) -> Any: ...

    def learn(self, slate: Any, clicked: list[int]) -> None: ...


def play(
    learner: Learner | Randomised,
    world: Synthetic,
    rounds: int,
    slots: int | Sequence[int | None] | None = None,
    *,
    kind: LossKind = "ac",
    coverage: bool = False,
    progress: ProgressOption = None,
) -> Play:
    """Let a learner play rounds of a world, learning as it goes.

    Parameters
    ----------
    learner : Learner or Randomised
        The learner, whose labels must be 0 to K - 1. It goes on from the state it is in. A policy
        around it (`Mixed`, `PlackettLuce`) draws what it shows.
    world : Synthetic
        The world, such as `Synthetic` or `Adversarial`.
    rounds : int
        How many rounds are played.
    slots : int, sequence or None
        The most labels to show: one number, one per round, or None for no limit.
    kind : {"ac", "hamming", "rank", "p_rank"}
        The loss that regret is measured in.
    coverage : bool
        Whether to check the confidence intervals of all labels against the truth in every round.
    progress : bool, callable or None
        Show a bar; by default if there is a terminal. A function is called with the rounds played.

    Returns
    -------
    Play
        The trace, the expected losses, and the regret.

    Raises
    ------
    InputError
        If the learner, the world and the slots do not fit together.

    Examples
    --------
    >>> from semibandit import SlateUCB, Synthetic
    >>> world = Synthetic(n_features=5, n_labels=4, seed=3)
    >>> result = play(SlateUCB(5, 4), world, rounds=50, slots=2)
    >>> bool(result.regret[-1] >= 0)
    True
    """
    K = world.n_labels
    if learner.labels != list(range(K)):
        raise InputError(f"the world has labels 0 to {K - 1}, the learner has other ones")
    rounds = whole_number("rounds", rounds, least=0)
    limits = list(slots) if isinstance(slots, Sequence | np.ndarray) else [slots] * rounds
    if len(limits) != rounds:
        raise InputError(f"slots has {len(limits)} entries for {rounds} rounds")
    covered: list[bool] = []

    def check(x: Floats) -> None:
        scores = learner.scores(x)
        error = np.abs(world.margin(x) - scores.margin)
        covered.append(bool(np.all(error <= scores.width + 1e-12)))

    played = play_rounds(
        learner,
        world,
        limits,
        kind=kind,
        opponent=learner,
        before_learning=check if coverage else None,
        description=type(learner).__name__,
        progress=progress,
    )
    return replace(played, covered=np.array(covered, dtype=np.bool_)) if coverage else played


def play_rounds(
    player: LearningPlayer,
    world: Synthetic,
    slots: Sequence[Slots],
    *,
    first: int = 0,
    kind: LossKind = "ac",
    opponent: Player | None = None,
    before_learning: Callable[[Floats], None] | None = None,
    description: str = "rounds",
    progress: ProgressOption = None,
) -> Play:
    """The loop of `play` and `simulate`: rank, draw the relevant labels, learn, count.

    Parameters
    ----------
    player : LearningPlayer
        Who ranks and learns.
    world : Synthetic
        The world.
    slots : sequence of int or None
        The most labels to show in each round; it has an entry for every round.
    first : int
        The number of the first round in the world.
    kind : str
        The loss that regret is measured in.
    opponent : Player, optional
        Whom an adversarial world may ask what it would show.
    before_learning : callable, optional
        Called with the context of each round after the slate was made.
    description, progress
        For the progress bar.
    """
    a, cost = player.a, player.cost
    record = Recorder(world.n_labels, a, cost)
    expected, best = np.empty(len(slots)), np.empty(len(slots))
    with progress_bar(len(slots), description, progress) as advance:
        for i, asked in enumerate(slots):
            t = first + i
            x, limit = world.round(t, opponent, asked)
            slate, relevant = player.rank(x, limit), world.relevant(t, x)
            shown = np.array(slate.labels, dtype=np.intp)
            hit = np.isin(shown, relevant)
            if before_learning is not None:
                before_learning(x)
            told = relevant if player.full_information else shown[world.clicked(t, shown, relevant)]
            player.learn(slate, told.tolist())
            target = world.best(kind, x, a=a, cost=cost, slots=limit)
            expected[i] = world.expected(kind, x, shown, a=a, cost=cost, slots=limit)
            best[i] = world.expected(kind, x, target, a=a, cost=cost, slots=limit)
            record.add_round(shown, hit, len(relevant), limit)
            advance(1)
    return Play(record.trace(), expected, best, None)
