"""What every learner is made of: settings, labels, an order among equals, a lock; and the hooks.

A learner supplies `_view`, what it thinks of every label for a context, and `_absorb`, what it
takes from the feedback. `learner.py` has what users call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import check_keywords, whole_number
from semibandit.errors import InputError
from semibandit.models.model import Arrays, Vector
from semibandit.policies import persistence
from semibandit.policies.context import read_context
from semibandit.policies.fast_rule import FastRule
from semibandit.policies.labels import Label, Labels
from semibandit.policies.lock import Lock
from semibandit.policies.randomness import generator_for, tie_order
from semibandit.policies.slate import Slate
from semibandit.policies.view import View, stacked
from semibandit.theory.cost import Cost, Costs, check_a, decreasing
from semibandit.theory.slate import SCORE_GRID, cut, order, read_slots

__all__ = ["LearnerBase"]


class LearnerBase(ABC):
    """The state that all learners share, and what each of them supplies."""

    full_information: ClassVar[bool] = False  # whether `learn` wants all relevant labels
    one_slot: ClassVar[bool] = False  # whether it can show only one label

    def __new__(cls, *args: object, **options: object) -> Self:
        """Refuse a misspelt keyword with a suggestion, before Python does without one."""
        check_keywords(cls, options)
        return super().__new__(cls)

    def __init_subclass__(cls) -> None:
        persistence.register(cls)  # type: ignore[arg-type]  # it is a Learner, too

    def __init__(
        self, n_features: int, labels: int | Sequence[Label], cost: Cost = decreasing,
        a: float = 0.5, normalize: bool = True, bias: bool = False, seed: int = 0, *,
        sparse: bool,
    ) -> None:  # fmt: skip
        self.n_features = whole_number("n_features", n_features, least=1)
        self.cost = Costs(cost)
        self.a = check_a(a)
        self.normalize, self.bias = bool(normalize), bool(bias)
        self.seed = whole_number("seed", seed, least=0)
        self.takes_sparse = sparse
        self._labels = Labels(labels)
        self._tie = tie_order(self.seed, 0, len(self._labels.names))
        self._t = 1
        self._changes = 0  # counts what may invalidate a look at a context
        self._lock = Lock()

    # -- what a learner supplies ---------------------------------------------------------------

    @abstractmethod
    def _view(self, x: Vector, draw: int) -> View:
        """What it thinks of every row for context x."""

    @abstractmethod
    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        """Learn that labels `rows` were relevant (sign 1) or not (sign -1), whole or not at all."""

    @abstractmethod
    def _settings(self) -> dict[str, object]:
        """The learner's own constructor arguments, without those that all learners have."""

    @abstractmethod
    def _resize(self, more: int, fresh: Ints) -> None:
        """Make room for `more` rows at the end, and put rows `fresh` back to the start."""

    @abstractmethod
    def _arrays(self) -> Arrays:
        """What it has learned, as named arrays."""

    @abstractmethod
    def _restore(self, arrays: Arrays) -> None:
        """Take over what `_arrays` gave."""

    def fast_rule(self) -> FastRule | None:
        """How compiled loops may decide in its place; None if it must be asked itself.

        A subclass may decide otherwise than its base class, so a rule is never inherited: a class
        returns one for itself alone.
        """
        return None

    def _views(self, xs: Sequence[Vector], draws: Sequence[int]) -> View:
        """`_view` of many contexts, a line for each."""
        return stacked([*map(self._view, xs, draws)])

    def _pick(self, view: View, x: Vector, slots: int | None, rows: Ints | None, draw: int) -> Ints:
        """The rows to show, best first; `rows` are those that may be shown. Lemma 1 on `prob`."""
        score = np.rint(view.score * SCORE_GRID)
        if rows is None:
            best = order(score, self._tie, slots)
        else:
            best = rows[order(score[rows], self._tie[rows], slots)]
        return best[: cut(view.prob[best], self.a, self.cost)]

    def _decide(
        self, view: View, x: Vector, slots: int | None, rows: Ints | None, draw: int
    ) -> Slate:
        return self._slate(view, self._pick(view, x, slots, rows, draw), x, slots)

    @property
    def t(self) -> int:
        """The present round: 1 + the number of rounds learned."""
        return self._t

    @property
    def labels(self) -> list[Label]:
        """The labels that can be shown."""
        return self._labels.known

    @property
    def n_labels(self) -> int:
        """How many labels can be shown."""
        return len(self._labels)

    # -- reading -------------------------------------------------------------------------------

    def read_context(self, x: Any) -> Vector:
        """The context as the model sees it: checked, with the bias, scaled."""
        return read_context(
            x, self.n_features, bias=self.bias, normalize=self.normalize, sparse=self.takes_sparse
        )

    def read_slots(self, slots: int | None) -> int | None:
        """The slots as `rank` takes them; a learner with one slot takes 1 or None."""
        limit = read_slots(slots)
        if self.one_slot and limit not in (None, 1):
            raise InputError(f"slots = {slots!r}, but {type(self).__name__} shows one label")
        return 1 if self.one_slot else limit

    @property
    def n_inputs(self) -> int:
        """How many numbers the model sees: the features, and the bias if there is one."""
        return self.n_features + self.bias

    @property
    def context_format(self) -> str:
        """How contexts are read, in words: slates of a learner that reads otherwise do not fit."""
        bias = " with a bias" if self.bias else ""
        return f"{self.n_features} features{bias}{'' if self.normalize else ' as they are'}"

    @property
    def numbered(self) -> bool:
        """Whether labels are numbers that the learner gives, not names that it was given."""
        return not self._labels.named

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Nobody else ranks or learns within this block, for code that plays many rounds."""
        with self._lock.writing():
            yield

    def count_rounds(self, rounds: int) -> None:
        """So many rounds have been learned; called inside `exclusive`."""
        self._t += rounds
        self._changes += 1

    # -- shared steps --------------------------------------------------------------------------

    def _slate(self, view: View, rows: Ints, x: Vector, slots: int | None) -> Slate:
        names = self._labels.names
        labels = [names[row] for row in rows.tolist()]
        here = view.margin[rows], view.width[rows], view.estimate[rows], view.prob[rows]
        return Slate(labels, *here, slots, x, self.context_format, t=self._t)

    def _random(self, x: Vector, draw: int) -> np.random.Generator:
        """The draws for this context, round and draw number."""
        return generator_for(self.seed, self._t, draw, x)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(n_features={self.n_features}, labels={self.n_labels}, t={self._t})"

    def __getstate__(self) -> dict[str, object]:
        """For copy and pickle: all but the lock."""
        with self._lock.reading():
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()
