"""The state of a model whose labels are divided among shards.

Label i of the whole is label i // n of shard i % n. Looks go to all shards at once, or to those
that have the labels asked for; steps reach the shards of the labels that learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.dual import Dual
from semibandit.models.model import NO_NORMS, Arrays, Look, Model, Vector
from semibandit.models.partial import Aim, Found
from semibandit.models.sharded.divide import layout_of, shard_size
from semibandit.models.sharded.placement import Shards
from semibandit.models.sharded.shard import Change, Checkpoint, Goal
from semibandit.models.sharded.shard_group import ShardGroup

__all__ = ["ShardedState"]

NO_LABELS: Ints = np.empty(0, dtype=np.intp)


class ShardedState:
    """All labels, by messages to the shards that have them.

    Parameters
    ----------
    model : Model
        The model of every shard.
    shards : Shards
        How many there are, and where.
    n_labels, n_features : int
        How many labels there are, and how many numbers a context has.
    """

    def __init__(self, model: Model, shards: Shards, n_labels: int, n_features: int) -> None:
        self._model, self._shards, self._n = model, shards, shards.n
        self._layout = layout_of(model)
        self._n_labels, self._n_features = n_labels, n_features
        self._half_life: float | None = None
        self._group = ShardGroup(model, shards, self._sizes(), n_features)
        self._ties: tuple[Floats, list[Floats]] = NO_NORMS, []  # the last ones, and by shard
        self._ties_told: dict[int, tuple[Any, Floats]] = {}  # by shard: its worker, and its ties
        # looks must be of all labels, so "answer" waits; learning would keep others waiting
        self._if_missing = "raise" if shards.missing == "raise" else "wait"
        self._to_learn = "wait" if shards.missing == "wait" else "raise"
        self.grid = self._group.grid

    # -- looks ---------------------------------------------------------------------------------

    @property
    def problem(self) -> str | None:
        """What keeps it from answering now, in words; None if nothing does."""
        return self._group.problem

    def look(self, x: Vector) -> Look:
        margin, norm2 = self._of_all("look", x, self._if_missing)
        return Look(x, margin, norm2)

    def margins(self, x: Vector) -> Look:
        (margin,) = self._of_all("margins", x, self._to_learn)
        return Look(x, margin, NO_NORMS)

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        margin, norm2 = self._of_all("look_many", _packed(xs), self._if_missing, len(xs))
        return margin, norm2

    def look_at(self, x: Vector, labels: Ints) -> Look:
        return self.look_at_many([x], [labels])[0]

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        places = self._places(labels)
        own = {i: labels[at] // self._n for i, at in places.items()}
        answers = self._group.ask(own, lambda i, _: ("margins_at", x, own[i]), self._to_learn)
        margin = np.empty(len(labels))
        for i, (part,) in answers.items():
            margin[places[i]] = part
        return Look(x, margin, NO_NORMS)

    def look_at_many(self, xs: Sequence[Vector], labels: Sequence[Ints]) -> list[Look]:
        places = [self._places(some) for some in labels]
        asked = {i: [b for b, one in enumerate(places) if i in one] for i in range(self._n)}
        asked = {i: which for i, which in asked.items() if which}

        def question(i: int, worker: Any) -> tuple[Any, ...]:
            own = [labels[b][places[b][i]] // self._n for b in asked[i]]
            return "look_at_many", _packed([xs[b] for b in asked[i]]), own

        looks = [
            Look(x, np.empty(len(some)), np.empty(len(some)))
            for x, some in zip(xs, labels, strict=True)
        ]
        for i, answers in self._group.ask(asked, question, self._if_missing).items():
            for b, (margin, norm2) in zip(asked[i], answers, strict=True):
                looks[b].margin[places[b][i]], looks[b].norm2[places[b][i]] = margin, norm2
        return looks

    # -- the best ------------------------------------------------------------------------------

    def best(self, x: Vector, aim: Aim) -> Found:
        return self.best_many([x], [aim])[0]

    def best_many(self, xs: Sequence[Vector], aims: Sequence[Aim]) -> list[Found]:
        """The best of every shard: the best of all are among them."""
        X, goals, ties = (
            self._group.share(_packed(xs)),
            self._goals(aims),
            self._divided(aims[0].tie),
        )

        def question(i: int, worker: Any) -> tuple[Any, ...]:
            told, self._ties_told[i] = self._ties_told.get(i), (worker, ties[i])
            same = told is not None and told[0] is worker and told[1] is ties[i]
            known = same and self._group.in_order
            return "best_many", X, goals[i], None if known else ties[i]

        answers = self._group.ask(range(self._n), question, self._shards.missing)
        found = _merged(xs, {i: _cut(*answer) for i, answer in answers.items()}, self._n)
        if len(answers) == self._n:
            return found
        lost = [(i, size) for i, size in enumerate(self._sizes()) if i not in answers]
        return [
            one._replace(missing=sum(size - len(goals[i][b].without) for i, size in lost))
            for b, one in enumerate(found)
        ]

    def _goals(self, aims: Sequence[Aim]) -> list[list[Goal]]:
        """The aims for each shard. Equal ones are one object, which a message holds only once."""
        made: dict[tuple[Any, ...], list[Goal]] = {}
        each = []
        for aim in aims:
            key = aim.most, aim.R, aim.spread, id(aim.without), aim.grid, aim.cap, aim.turn
            if key not in made:
                places = self._places(aim.without)
                made[key] = [
                    Goal(
                        *key[:3],
                        aim.without[places[i]] // self._n if i in places else NO_LABELS,
                        *key[4:],
                    )
                    for i in range(self._n)
                ]
            each.append(made[key])
        return [[goals[i] for goals in each] for i in range(self._n)]

    def _divided(self, tie: Floats) -> list[Floats]:
        """The ties of the labels of each shard."""
        if self._ties[0] is not tie:
            self._ties = tie, [tie[i :: self._n].copy() for i in range(self._n)]
        return self._ties[1]

    # -- changes -------------------------------------------------------------------------------

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        n, moves, learns = self._n, self._places(moved), self._places(shown)
        none = NO_LABELS
        told: dict[int, Change] = {}
        for i in sorted({*moves, *learns}):
            at, seen = moves.get(i, none), learns.get(i, none)
            told[i] = "step", look.x, moved[at] // n, change[at], shown[seen] // n, steps[seen]
        self._group.tell(told)

    def step_at(self, look: Look, labels: Ints, change: Floats, steps: Floats) -> None:
        self._group.tell(
            {
                i: ("step_at", look.x, labels[at] // self._n, change[at], steps[at])
                for i, at in self._places(labels).items()
            }
        )

    def add(self, n: int) -> None:
        before = self._sizes()
        self._n_labels += n
        more = [new - old for new, old in zip(self._sizes(), before, strict=True)]
        self._group.tell({i: ("add", one) for i, one in enumerate(more) if one})

    def reset(self, rows: Ints) -> None:
        places = self._places(rows)
        self._group.tell({i: ("reset", rows[at] // self._n) for i, at in places.items()})

    def set_half_life(self, half_life: float) -> None:
        self._half_life = half_life
        self._group.set_half_life(half_life)

    def advance(self, rounds: int) -> None:
        """Shards are told with the next message: all of them in every round would take long."""
        self._group.tell_later(("advance", rounds))

    # -- the rest ------------------------------------------------------------------------------

    def dimension(self, t: int) -> int:
        if isinstance(self._model, Dual):
            return self._model.start(0, self._n_features).dimension(t)
        return self._n_features

    def arrays(self) -> Arrays:
        answers = self._group.ask(range(self._n), lambda i, worker: ("arrays",))
        parts = [answers[i].arrays for i in range(self._n)]
        return self._layout.join([part for part in parts if part is not None])

    def restore(self, arrays: Arrays) -> None:
        parts = self._layout.divide(arrays, self._n_labels, self._n)
        self._group.restore([*map(Checkpoint, self._sizes(), parts)])

    def __reduce__(self) -> tuple[Callable[..., ShardedState], tuple[Any, ...]]:
        """A copy has shards of its own."""
        made = self._model, self._shards, self._n_labels, self._n_features
        return _copied, (*made, self._half_life, self.arrays())

    def _sizes(self) -> list[int]:
        return [shard_size(self._n_labels, i, self._n) for i in range(self._n)]

    def _places(self, labels: Ints) -> dict[int, Ints]:
        """By shard, where its labels are among these; shards without any are left out."""
        if not len(labels):
            return {}
        owner = labels % self._n
        return {i: np.flatnonzero(owner == i) for i in np.unique(owner).tolist()}

    def _of_all(
        self, name: str, given: Any, missing: str, lines: int | None = None
    ) -> list[Floats]:
        """The arrays by label that all shards answer with, put together."""
        shared = self._group.share(given)
        answers = self._group.ask(range(self._n), lambda i, worker: (name, shared), missing)
        shape = (self._n_labels,) if lines is None else (lines, self._n_labels)
        whole = [np.empty(shape) for _ in answers[0]]
        for i, arrays in answers.items():
            for out, part in zip(whole, arrays, strict=True):
                out[..., i :: self._n] = part
        return whole


def _packed(xs: Sequence[Vector]) -> Any:
    """Contexts as one matrix if they are plain vectors: it travels faster than many vectors."""
    return np.array(xs) if all(isinstance(x, np.ndarray) for x in xs) else list(xs)


def _cut(
    labels: Ints, margin: Floats, norm2: Floats, sizes: list[int], looked: list[int]
) -> list[tuple[Ints, Floats, Floats, int]]:
    """What `Shard.best_many` answers, by context."""
    ends = np.cumsum(sizes).tolist()
    return [
        (labels[end - size : end], margin[end - size : end], norm2[end - size : end], n)
        for end, size, n in zip(ends, sizes, looked, strict=True)
    ]


def _merged(
    xs: Sequence[Vector], answers: dict[int, list[tuple[Ints, Floats, Floats, int]]], n: int
) -> list[Found]:
    """For each context what all shards found, in the order of the labels."""
    found = []
    for b, x in enumerate(xs):
        parts = [(i, *answer[b]) for i, answer in answers.items()]
        labels = np.concatenate([NO_LABELS, *(own * n + i for i, own, *_ in parts)])
        order = np.argsort(labels)
        margin, norm2 = (
            np.concatenate([NO_NORMS, *(part[k] for part in parts)])[order] for k in (2, 3)
        )
        found.append(Found(labels[order], Look(x, margin, norm2), sum(p[4] for p in parts)))
    return found


def _copied(
    model: Model, shards: Shards, n_labels: int, n_features: int, half_life: float | None,
    arrays: Arrays,
) -> ShardedState:  # fmt: skip
    state = ShardedState(model, shards, n_labels, n_features)
    if half_life is not None:
        state.set_half_life(half_life)
    state.restore(arrays)
    return state
