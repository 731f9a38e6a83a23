"""What every learner is made of: settings, labels, an order among equals, a lock; and the hooks.

A learner supplies `_view`, what it thinks of every label for a context, and `_absorb`, what it
takes from the feedback. `learner.py` has what users call.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import check_keywords, shortened, whole_number
from semibandit.errors import InputError
from semibandit.models.model import Arrays, Vector, dense
from semibandit.models.partial import Aim
from semibandit.policies import persistence
from semibandit.policies.awaiting import Awaiting
from semibandit.policies.choice import Choice
from semibandit.policies.context import check_numbers, read_context, read_contexts
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.examination import Examination
from semibandit.policies.fast_rule import FastRule, LearningRule
from semibandit.policies.features.encoded import Encoded
from semibandit.policies.features.encoder import Encoder, NamedFeatures
from semibandit.policies.labels import Label, Labels
from semibandit.policies.lock import Lock
from semibandit.policies.look_counts import LookCounts
from semibandit.policies.probing import Probing
from semibandit.policies.randomness import generator_for, tie_order
from semibandit.policies.request import Request
from semibandit.policies.scaling import LARGEST, Scaling
from semibandit.policies.slate import Slate
from semibandit.policies.view import View, Views
from semibandit.theory.cost import Cost, Costs, check_a, decreasing
from semibandit.theory.slate import SCORE_GRID, cut, order, read_slots

__all__ = ["LearnerBase"]


class LearnerBase(Probing, Awaiting):
    """The state that all learners share, and what each of them supplies."""

    full_information: ClassVar[bool] = False  # whether `learn` wants all relevant labels
    one_slot: ClassVar[bool] = False  # whether it can show only one label
    examination: Examination | None = None  # how likely each position is looked at
    draws: ClassVar[bool] = False  # whether slates of the same context are drawn at random
    needs_own_draws: ClassVar[bool] = False  # whether `learn` goes by how it drew the slate

    def __new__(cls, *args: object, **options: object) -> Self:
        """Refuse a misspelt keyword with a suggestion, before Python does without one."""
        check_keywords(cls, options)
        return super().__new__(cls)

    def __init_subclass__(cls) -> None:
        persistence.register(cls)  # type: ignore[arg-type]  # it is a Learner, too

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label],
        cost: Cost = decreasing, a: float = 0.5, scale: str = "standard", bias: bool = True,
        seed: int = 0, *, sparse: bool, at_least: int = 0,
    ) -> None:  # fmt: skip
        self.features = n_features if isinstance(n_features, NamedFeatures) else None
        self._encoder: Encoder | None = None if self.features is None else self.features.encoder()
        size = n_features if self.features is None else self.features.size
        self.n_features = whole_number("n_features", size, least=1)
        self.cost = Costs(cost)
        self.a = check_a(a)
        self.scale, self.bias = scale, bool(bias)
        self.at_least = whole_number("at_least", at_least, least=0)
        self.seed = whole_number("seed", seed, least=0)
        self.takes_sparse = sparse
        self._labels = Labels(labels)
        self._scaling = Scaling(scale, self.n_features, self.bias)
        self._tie = tie_order(self.seed, 0, len(self._labels.names))
        self._t = 1
        self._changes = 0  # counts what may invalidate a look at a context
        self.looks = LookCounts()
        self._lock = Lock()

    # -- what a learner supplies ---------------------------------------------------------------

    @abstractmethod
    def _view(self, x: Vector, request: Request) -> View:
        """What it thinks of every row for a request, whose context the model sees as x."""

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

        Return one only if nothing of your class is defined anew (`redefined`): who overrides a
        function may decide otherwise.
        """
        return None

    def learning_rule(self) -> LearningRule | None:
        """How compiled loops may learn in its place; None if `learn` must be called.

        It may not depend on anything that learning or a change of labels changes.
        """
        return None

    def _examined(self, slate: Slate, clicked: Sequence[Label]) -> list[Label] | None:
        """The labels shown that were looked at, if feedback does not say; None if all were."""
        return None

    def _view_of(self, x: Vector, request: Request, rows: Ints | None) -> View:
        """`_view` of the rows that may be shown for a request, sorted; None for all rows."""
        return self._view(x, request).taken(rows)

    def _views_of(
        self, xs: Sequence[Vector], requests: Sequence[Request], rows: Sequence[Ints | None]
    ) -> Views:
        """`_view_of` for many requests."""
        return Views.joined([*map(self._view_of, xs, requests, rows)])

    def _best_views(
        self, xs: Sequence[Vector], requests: Sequence[Request], aims: Sequence[Aim]
    ) -> list[View]:
        """Views of the best labels alone, for requests that have an aim."""
        raise NotImplementedError

    def _aims(self, requests: Sequence[Request]) -> Sequence[Aim | None]:
        """What its state is to be searched for, for each request; None for a look at all."""
        return [None] * len(requests)

    def _pick(self, view: View, request: Request) -> Ints:
        """What to show, best first, as places of the view. Lemma 1 on `prob`."""
        best = self._best(view.score, self._ties(view), request.slots)
        least = min(self.at_least, self.room(len(best), None))
        return best[: max(cut(view.prob[best], self.a, self.cost), least)]

    def _best(self, score: Floats, tie: Floats, slots: int | None) -> Ints:
        """The places of the largest scores, best first; equal ones by the order among equals.

        Scores are compared on a grid. Their last bits differ between CPUs, so nothing else may
        compare them.
        """
        return order(np.rint(score * self._grid), tie, slots)

    def _ties(self, view: View) -> Floats:
        """The order among equals of the rows of a view."""
        return view.ties(self._tie)

    @property
    def _grid(self) -> float:
        """Labels are ordered by rint(score·grid)."""
        return SCORE_GRID

    def room(self, labels: int, slots: int | None) -> int:
        """How many of so many labels can be shown: as slots and costs allow."""
        limits = (labels, 1 if self.one_slot else slots, self.cost.limit)
        return min(limit for limit in limits if limit is not None)

    def _choose(self, view: View, request: Request) -> Choice:
        """What to show for a request, before the coin for one more label is tossed."""
        picked = self._pick(view, request)
        return Choice(picked, view.n, self.room(view.n, request.slots))

    def _decide(self, view: View, x: Vector, request: Request) -> Slate:
        """The slate for a request, by what it thinks of the rows that may be shown."""
        choice = self._choose(view, request)
        if choice.has_room and self._coins_of([request])[0]:
            return self._slates_with_probes([view], [x], [request], [choice.picked])[0]
        return self._slate(view, choice.picked, x, request)

    def _distribution(
        self, view: View, x: Vector, request: Request, choice: Choice, probe: int | None
    ) -> SlateDistribution:
        """How likely each slate is, if draws are taken as given; `probe` is what it may try."""
        return self._fixed(view.rows, choice.picked, probe)

    def _fixed(self, rows: Ints | None, picked: Ints, probe: int | None = None) -> FixedSlate:
        """The labels at these places of a view's rows, and the one that may be tried after them."""
        labels = self._labels.at(rows, picked)
        if probe is None:
            return FixedSlate(labels)
        return FixedSlate(labels, self._labels.one_at(rows, probe), self._probing)

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

    @property
    def looked_share(self) -> float:
        """The share of the labels that was looked at exactly, of all slates since the start.

        It is below 1 if most labels could not be among the best, by bounds that are proven.

        Examples
        --------
        >>> import semibandit as sb
        >>> sb.SlateUCB(n_features=2, labels=3).looked_share
        1.0
        """
        return self.looks.share

    @property
    def n_labels_ever(self) -> int:
        """How many labels there have been; numbers that the learner gives go on from it."""
        return self._labels.ever

    @property
    def label_changes(self) -> int:
        """A number that grows whenever labels come or go."""
        return self._labels.changes

    # -- reading -------------------------------------------------------------------------------

    def read_context(self, x: Any) -> Vector:
        """The numbers of a context as they were given, checked."""
        if isinstance(x, Mapping):
            raise InputError(
                f"context = {shortened(x)}, but this learner was made for {self.n_features} "
                "numbers: for names and values make it with n_features=sb.Features(...)"
            )
        return read_context(x, self.n_features, self._largest, self.features)

    def encode(self, context: Any) -> Encoded:
        """The context as numbers, as if its new values had been learned, and these values.

        Parameters
        ----------
        context : mapping, sequence of float, array or scipy-sparse row
            {name: value} if the learner has named features, or the numbers.

        Raises
        ------
        InputError
            If it cannot be used.

        Examples
        --------
        >>> import semibandit as sb
        >>> bandit = sb.SlateUCB(sb.Features(hour="number", device="category:2"), labels=3)
        >>> bandit.encode({"hour": 9, "device": "phone"})
        Encoded(x=array([9., 0., 1.]), new={'device': ['phone']})
        """
        if self._encoder is None or not isinstance(context, Mapping):
            return Encoded(self.read_context(context), {})
        encoded = self._encoder.encode(context)
        return Encoded(self.check_context(encoded.x), encoded.new)

    def known_values(self) -> dict[str, list[str]]:
        """The values of every open category and set that were learned so far, by feature."""
        known = {} if self._encoder is None else self._encoder.to_json()
        return {name: list(values) for name, values in known.items()}

    def encoded(self, request: Request) -> Request:
        """The request with its context as numbers."""
        if request.named is None:
            return request
        given, new = self.encode(request.named)
        return replace(request, given=given, new=new, named=None)

    def check_context(self, given: Vector) -> Vector:
        """The vector of a context, if every number in it can be used."""
        check_numbers(given, self._largest, self.features)
        return given

    def read_contexts(self, X: Any, first: int = 0) -> Any:
        """`read_context` for every row of a matrix; an error names the row, counted from first."""
        return read_contexts(X, self.n_features, self._largest, first, self.features)

    def encode_contexts(self, X: Any, first: int = 0) -> tuple[Any, Encoder | None]:
        """The contexts of many rounds as a matrix of numbers, each as if those before were learned.

        X is a matrix, or with named features a mapping of columns or a list of contexts. The second
        value is the encoder that knows the values of all of them, for `add_contexts`.
        """
        encoder = self._encoder
        if encoder is not None and isinstance(X, Mapping):
            X, encoder = encoder.encode_columns(X, first)
        elif encoder is not None and isinstance(X, list):
            X, encoder = encoder.encode_rows(X, first)
        elif isinstance(X, Mapping | list):
            self.read_context(X if isinstance(X, Mapping) else X[0])
        return self.read_contexts(X, first), encoder

    @property
    def _largest(self) -> float:
        return LARGEST if self._scaling.learns else math.inf

    def scaled(self, given: Vector, *, to_rank: bool = False) -> Vector:
        """What the model sees of a context that was read, as if it had been learned by now; if it
        is to be ranked, as if those that were expected had been learned, too."""
        x = (self._rank_scaling if to_rank else self._scaling).scaled(given)
        return x if self.takes_sparse else dense(x)

    def scaled_in_turn(self, X: Any, first: int = 0) -> Any:
        """`scaled` for every row of a matrix that was read, as if those before were learned."""
        rows = self._scaling.scaled_in_turn(X, first)
        return rows.toarray() if hasattr(rows, "tocsr") and not self.takes_sparse else rows

    @property
    def scaling_learns(self) -> bool:
        """Whether what the model sees of a context depends on the contexts learned before."""
        return self._scaling.learns

    def read_slots(self, slots: int | None) -> int | None:
        """The slots as `rank` takes them; a learner with one slot takes 1 or None."""
        limit = read_slots(slots)
        if self.one_slot and limit not in (None, 1):
            raise InputError(f"slots = {slots!r}, but {type(self).__name__} shows one label")
        if limit is not None and limit < self.at_least:
            raise InputError(
                f"slots = {slots!r}, but this learner shows at_least = {self.at_least} labels"
            )
        return 1 if self.one_slot else limit

    @property
    def n_inputs(self) -> int:
        """How many numbers the model sees: the features, and maybe the bias."""
        return self.n_features + self.bias

    @property
    def context_format(self) -> str:
        """How contexts are read, in words: slates of a learner that reads otherwise do not fit."""
        bias = " with a bias" if self.bias else ""
        names = "" if self.features is None else f" ({self.features.words})"
        return f"{self.n_features} features{names}{bias}, scale {self.scale!r}"

    @property
    def numbered(self) -> bool:
        """Whether labels are numbers that the learner gives, not names that it was given."""
        return not self._labels.named

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Nobody else ranks or learns within this block, for code that plays many rounds."""
        with self._lock.writing():
            yield

    def add_contexts(self, X: Any, encoder: Encoder | None = None) -> None:
        """Rounds with these contexts, as they were given, have been learned: the next ones are
        scaled by them, and encoded by this encoder. Called inside `exclusive`."""
        self._scaling.add_rows(X)
        self._encoder = self._encoder if encoder is None else encoder

    def count_rounds(self, rounds: int) -> None:
        """So many rounds have been learned; called inside `exclusive`."""
        self._t += rounds
        self._changes += 1

    # -- shared steps --------------------------------------------------------------------------

    def _slate(self, view: View, places: Ints, x: Vector, request: Request) -> Slate:
        labels = self._labels.at(view.rows, places)
        here = view.margin[places], view.width[places], view.estimate[places], view.prob[places]
        return Slate(
            labels, *here, request.slots, x, self.context_format,
            t=self._t, given=request.given, new=request.new, missing=view.missing,
            labels_ever=self._labels.ever,
        )  # fmt: skip

    def _random(self, given: Vector, draw: int) -> np.random.Generator:
        """The draws of this round for a draw number and a context as it was given.

        All that a learner draws comes from here; `rank` gives `request.given` and `request.draw`.
        """
        return generator_for(self.seed, self._t, draw, given)

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
