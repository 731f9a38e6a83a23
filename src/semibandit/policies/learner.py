"""What every learner shares: the door, its labels, `rank` and `learn`, saving.

A learner supplies two things: `_view`, every label's standing for a context, and `_absorb`, what
it takes from the answer. The rest is here: what comes in is checked before anything changes.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, TypedDict

import numpy as np

from semibandit._arrays import Floats, Ints
from semibandit._numba import pays
from semibandit.models.model import Arrays, Sparse, Vector, take
from semibandit.policies import file, parts
from semibandit.policies.context import read_context
from semibandit.policies.labels import Label, Labels, read_labels
from semibandit.policies.lock import Lock
from semibandit.policies.slate import Scores, Slate
from semibandit.theory.cost import Cost, Costs, check_a, constant, decreasing
from semibandit.theory.slate import GRID, cut, order, read_slots

__all__ = ["Common", "Learner", "Request", "View", "load", "many", "stacked"]

MANY = 64  # numbers from which one compiled loop is faster than numpy's many calls
LOADING = 10_000_000  # those that are worth a second for loading it, or 20 for compiling
TOGETHER = 1 << 23  # margins of contexts ranked together: more would only take memory


class Common(TypedDict, total=False):
    """What every learner takes besides its features and labels."""

    cost: Cost  # decreasing | constant | any c(i, s), or a table of rows
    a: float  # the weight of missed labels against wrong ones, 0 to 1
    normalize: bool  # scale contexts to unit norm
    bias: bool  # append a constant feature
    seed: int


@dataclass(frozen=True, eq=False)
class View:
    """Every row's margin, width and estimate, what rows are sorted by, and what they are cut by."""

    margin: Floats
    width: Floats
    estimate: Floats
    score: Floats
    prob: Floats

    @property
    def parts(self) -> tuple[Floats, ...]:
        return self.margin, self.width, self.estimate, self.score, self.prob

    def at(self, b: int) -> View:
        """Context b's, where there is a line for each of many contexts."""
        return View(*(part[b] for part in self.parts))


@dataclass(slots=True, eq=False)
class Request:
    """What `rank` was asked, its context and slots read."""

    x: Vector
    slots: int | None
    candidates: list[Label] | None
    exclude: list[Label] | None
    draw: int


class Learner(ABC):
    """Ranks labels for a context, learns from what happened.

    `rank` changes nothing and may run in many threads at once, also beside `learn`. `learn` takes
    place whole or, if it raises, not at all.
    """

    full_information: ClassVar[bool] = False  # whether `learn` wants all relevant labels
    one_slot: ClassVar[bool] = False  # whether it can show only one label
    kinds: ClassVar[dict[str, type[Learner]]] = {}

    def __init_subclass__(cls) -> None:
        Learner.kinds[cls._kind()] = cls

    @classmethod
    def _picks_plainly(cls) -> bool:
        """Whether it shows the best labels by their scores, and draws nothing for that."""
        return cls._pick is Learner._pick and cls._decide is Learner._decide

    @classmethod
    def _kind(cls) -> str:
        """The name in files: plain for ours, with its module for a learner of yours."""
        ours = cls.__module__.startswith("semibandit.")
        return cls.__name__ if ours else f"{cls.__module__}.{cls.__qualname__}"

    def __getstate__(self) -> dict[str, object]:
        """For copy and pickle: all but the lock."""
        with self._lock.reading():
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def __init__(
        self,
        n_features: int,
        labels: int | Sequence[Label],
        *,
        sparse: bool,
        cost: Cost = decreasing,
        a: float = 0.5,
        normalize: bool = True,
        bias: bool = False,
        seed: int = 0,
    ) -> None:
        self.n_features = _whole("n_features", n_features, least=1)
        self.cost = Costs(cost)
        self.a = check_a(a)
        self.normalize, self.bias = bool(normalize), bool(bias)
        self.seed = _whole("seed", seed, least=0)
        self._labels = Labels(labels)
        self._tie = self._ties(0, len(self._labels.names))
        self._t = 1
        self._changes = 0  # counts what may invalidate a look at a context
        self._sparse = sparse
        self._lock = Lock()

    # -- what a learner supplies ---------------------------------------------------------------

    @abstractmethod
    def _view(self, x: Vector, draw: int) -> View: ...

    def _views(self, xs: Sequence[Vector], draws: Sequence[int]) -> View:
        """`_view` of many contexts, a line for each."""
        return stacked([*map(self._view, xs, draws)])

    @abstractmethod
    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        """Learn that labels `rows` were relevant (sign 1) or not (sign -1), whole or not at all."""

    @abstractmethod
    def _settings(self) -> dict[str, object]:
        """The learner's own constructor arguments."""

    @abstractmethod
    def _resize(self, more: int, fresh: Ints) -> None:
        """Room for `more` rows at the end, and rows `fresh` as at the start."""

    @abstractmethod
    def _arrays(self) -> Arrays: ...

    @abstractmethod
    def _restore(self, arrays: Arrays) -> None: ...

    def _pick(self, view: View, x: Vector, slots: int | None, rows: Ints | None, draw: int) -> Ints:
        """The rows to show, best first; `rows` are those that may be. Lemma 1 on `prob`."""
        score = np.rint(view.score * GRID)
        if rows is None:
            best = order(score, self._tie, slots)
        else:
            best = rows[order(score[rows], self._tie[rows], slots)]
        return best[: cut(view.prob[best], self.a, self.cost)]

    def _decide(
        self, view: View, x: Vector, slots: int | None, rows: Ints | None, draw: int
    ) -> Slate:
        return self._slate(view, self._pick(view, x, slots, rows, draw), x, slots)

    # -- the public surface --------------------------------------------------------------------

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
        return len(self._labels)

    def rank(
        self,
        x: Any,
        slots: int | None = None,
        *,
        candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None,
        draw: int = 0,
    ) -> Slate:
        """The slate for context x: at most `slots` labels, best first; it may be shorter, or empty.

        x           n_features numbers: a list, an array, or a scipy-sparse row
        slots       the most labels to show; None sets no limit
        candidates  only these labels may be shown this time
        exclude     these may not
        draw        learners that draw at random draw anew for every other number; the same
                    learner, context, round and number give the same slate
        """
        limit = self._read_slots(slots)
        vector = self._read(x)
        draw = _whole("draw", draw, least=0)
        with self._lock.reading():
            rows = self._allowed(candidates, exclude)
            return self._decide(self._view(vector, draw), vector, limit, rows, draw)

    def rank_many(
        self,
        X: Any,
        slots: int | Sequence[int | None] | None = None,
        *,
        candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None,
        draw: int = 0,
    ) -> list[Slate]:
        """The slates that `rank` gives for each row of X: one matrix product for all.

        X      contexts: an array, a list of vectors, or a scipy-sparse matrix
        slots  one for all, or one for each

        All are ranked by one and the same state, whatever `learn` does meanwhile.
        """
        rows = [X[[i]] for i in range(X.shape[0])] if hasattr(X, "tocsr") else list(X)
        limits: list[int | None] = (
            list(slots) if isinstance(slots, Sequence | np.ndarray) else [slots] * len(rows)
        )
        if len(limits) != len(rows):
            raise ValueError(f"{len(limits)} slots for {len(rows)} contexts")
        if candidates is not None:
            candidates = list(candidates)
        if exclude is not None:
            exclude = list(exclude)
        return self._rank_all(
            [
                Request(self._read_at(i, x), self._read_slots(limit), candidates, exclude, draw)
                for i, (x, limit) in enumerate(zip(rows, limits, strict=True))
            ]
        )

    def _rank_all(self, requests: Sequence[Request]) -> list[Slate]:
        """Slates for requests that were read, all from one state."""
        slates: list[Slate] = []
        with self._lock.reading():
            some = max(1, TOGETHER // max(1, len(self._tie)))
            for first in range(0, len(requests), some):
                part = requests[first : first + some]
                views = self._views([r.x for r in part], [r.draw for r in part])
                slates += self._decide_all(views, part)
        return slates

    def _decide_all(self, views: View, requests: Sequence[Request]) -> list[Slate]:
        """`_decide` for each; for those that want nothing special, all at once."""
        plain = self._picks_plainly() and self.cost.cost in (decreasing, constant)
        quick = plain and many(views.score.size)
        free = [r.candidates is None and r.exclude is None for r in requests]
        if not quick or not any(free):
            return [self._decide_one(views.at(b), r) for b, r in enumerate(requests)]
        from semibandit.policies.together import choose_together

        rows = self._allowed(None, None)
        score, prob, tie = views.score, views.prob, self._tie
        if rows is not None:
            score, prob, tie = score.take(rows, 1), prob.take(rows, 1), tie[rows]
        slots = [r.slots for r in requests]
        best, sizes = choose_together(score, prob, tie, slots, self.a, self.cost)
        best = best if rows is None else rows[best]
        there = best + (np.arange(len(best)) * len(self._tie))[:, None]
        seen = views.margin, views.width, views.estimate, views.prob
        margin, width, estimate, prob = (part.take(there) for part in seen)
        chosen, names, door = best.tolist(), self._labels.names, self._door
        slates = []
        for b, (r, size) in enumerate(zip(requests, sizes.tolist(), strict=True)):
            if not free[b]:
                slates.append(self._decide_one(views.at(b), r))
                continue
            labels = [names[row] for row in chosen[b][:size]]
            here = margin[b, :size], width[b, :size], estimate[b, :size], prob[b, :size]
            slates.append(Slate(labels, *here, r.slots, r.x, door, t=self._t))
        return slates

    def _decide_one(self, view: View, r: Request) -> Slate:
        return self._decide(view, r.x, r.slots, self._allowed(r.candidates, r.exclude), r.draw)

    def scores(self, x: Any, *, draw: int = 0) -> Scores:
        """Every label's margin, width, estimate and prob for context x, shown or not."""
        vector, draw = self._read(x), _whole("draw", draw, least=0)
        with self._lock.reading():
            view, active = self._view(vector, draw), self._labels.active
            keep = slice(None) if active is None else active
            return Scores(
                self._labels.known,
                view.margin[keep],
                view.width[keep],
                view.estimate[keep],
                view.prob[keep],
            )

    def learn(
        self, slate: Slate, clicked: Iterable[Label], examined: Iterable[Label] | None = None
    ) -> None:
        """Learn from the answer to a slate: which of its labels were relevant.

        clicked   the shown labels that turned out relevant; the others count as not relevant
        examined  where given, the shown labels the user looked at: only these are learned from

        Feedback may come late and out of order: it is learned with the state of that moment.
        Labels retired in the meantime are passed over (one that was added again under the same
        name learns). Learning from the same slate twice is allowed and counts twice; keep it out
        where it would be an accident.
        """
        yes = read_labels(clicked, "clicked")
        told = None if examined is None else read_labels(examined, "examined")
        with self._lock.writing():
            self._check_slate(slate)
            rows, signs = self._answer(slate.labels, yes, told)
            self._absorb(slate, rows, signs)
            self._t += 1
            self._changes += 1

    def add_labels(self, labels: int | Sequence[Label]) -> list[Label]:
        """Add labels by name (or, where labels are numbered, how many); what was learned stays.

        Returns the new labels. A new label starts as unknown as at the beginning.
        """
        with self._lock.writing():
            names = self._labels.added(labels)
            fresh = self._labels.free[: len(names)]
            more = len(names) - len(fresh)
            tie = np.concatenate([self._tie, np.zeros(more)])
            self._resize(more, np.array(fresh, dtype=np.intp))
            ever = self._labels.ever
            rows = self._labels.add(names)
            tie[rows] = self._ties(ever, len(rows))
            self._tie = tie
            self._changes += 1
        return names

    def retire_labels(self, labels: Iterable[Label]) -> None:
        """Never show these labels again; what was learned about the others stays untouched."""
        with self._lock.writing():
            rows = self._labels.rows(labels, "labels")
            self._resize(0, rows)
            self._labels.retire(rows)
            self._changes += 1

    def shown(
        self,
        x: Any,
        labels: Iterable[Label],
        slots: int | None = None,
        *,
        propensity: float | None = None,
        leader: Label | None = None,
    ) -> Slate:
        """A slate for `learn` from what a log says was shown: the context and the labels.

        It learns as the slate that `rank` gave would. Of learners that draw with a probability
        they need again (Banditron), give the slate's `propensity` and `leader`, too. What the
        labels' margins and widths were is not known any more: they are nan.
        """
        names = read_labels(labels, "labels")
        unknown = np.full(len(names), np.nan)
        return Slate(
            names,
            unknown,
            unknown,
            unknown,
            unknown,
            self._read_slots(slots),
            self._read(x),
            self._door,
            propensity,
            leader,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole learner to one file; an existing file is replaced at one stroke."""
        file.write(path, *self._snapshot())  # outside of the lock: ranking and learning go on

    def _snapshot(self) -> tuple[dict[str, Any], Arrays]:
        """What a file holds: a header and copies of all arrays, of one moment."""
        with self._lock.reading():
            header = {**self._config(), "t": self._t, "labels": self._labels.to_json()}
            arrays = {"tie": self._tie.copy()}
            arrays |= {name: array.copy() for name, array in self._arrays().items()}
        return header, arrays

    def _config(self) -> dict[str, Any]:
        """What the learner was made with, but its labels, for JSON."""
        common = {
            "cost": self.cost,
            "a": self.a,
            "normalize": self.normalize,
            "bias": self.bias,
            "seed": self.seed,
        }
        return {
            "learner": self._kind(),
            "n_features": self.n_features,
            "settings": parts.encode(self._settings()),
            "common": parts.encode(common),
        }

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(n_features={self.n_features}, labels={self.n_labels}, t={self._t})"

    # -- shared steps --------------------------------------------------------------------------

    @property
    def _d(self) -> int:
        """The features the model sees."""
        return self.n_features + self.bias

    def _read(self, x: Any) -> Vector:
        return read_context(
            x, self.n_features, bias=self.bias, normalize=self.normalize, sparse=self._sparse
        )

    def _read_all(self, X: Sequence[Floats]) -> Sequence[Vector]:
        """`_read` for each of these contexts, which are arrays and of the right length.

        To the bit, where the learner draws: its draws follow from the bits of x.
        """
        return [self._read(x) for x in X]

    def _wrong(self, requests: Sequence[Request], contexts: Sequence[Floats]) -> list[str | None]:
        """Of each why it cannot be ranked, if it cannot."""
        found: list[str | None] = []
        with self._lock.reading():
            for request, context in zip(requests, contexts, strict=True):
                try:
                    self._read(context)
                    self._allowed(request.candidates, request.exclude)
                    found.append(None)
                except ValueError as why:
                    found.append(str(why))
        return found

    def _read_at(self, i: int, x: Any) -> Vector:
        try:
            return self._read(x)
        except ValueError as why:
            raise ValueError(f"row {i} of X: {why}") from None

    def _read_slots(self, slots: int | None) -> int | None:
        limit = read_slots(slots)
        if self.one_slot and limit not in (None, 1):
            raise ValueError(f"slots = {slots!r}, but {type(self).__name__} shows one label")
        return 1 if self.one_slot else limit

    def _allowed(
        self, candidates: Iterable[Label] | None, exclude: Iterable[Label] | None
    ) -> Ints | None:
        """The rows that may be shown; None for all."""
        rows: Ints | None = None
        if candidates is not None:
            rows = np.sort(self._labels.rows(candidates, "candidates"))
        elif self._labels.active is not None:
            rows = np.flatnonzero(self._labels.active)
        if exclude is not None:
            free = np.ones(len(self._tie), dtype=np.bool_)
            free[self._labels.rows(exclude, "exclude")] = False
            rows = np.flatnonzero(free) if rows is None else rows[free[rows]]
        return rows

    def _slate(self, view: View, rows: Ints, x: Vector, slots: int | None) -> Slate:
        names = self._labels.names
        return Slate(
            [names[row] for row in rows.tolist()],
            view.margin[rows],
            view.width[rows],
            view.estimate[rows],
            view.prob[rows],
            slots,
            x,
            self._door,
            t=self._t,
        )

    @property
    def _door(self) -> str:
        """How contexts are read: slates of a learner that reads them otherwise do not fit."""
        bias = " with a bias" if self.bias else ""
        return f"{self.n_features} features{bias}{'' if self.normalize else ' as they are'}"

    def _check_slate(self, slate: Slate) -> None:
        if not isinstance(slate, Slate):
            raise ValueError(f"learn takes the slate that rank gave, got {type(slate).__name__}")
        if slate.door != self._door:
            raise ValueError(
                f"this slate is for {slate.door}, this learner takes {self._door}: "
                "it was ranked by another learner"
            )
        self._check_known(slate.labels, "the slate")

    def _check_known(self, labels: list[Label], what: str) -> None:
        for label in labels:
            if not self._labels.was_known(label):
                raise ValueError(f"{what} names {label!r}, which is not a label of this learner")

    def _answer(
        self, shown: list[Label], yes: list[Label], told: list[Label] | None
    ) -> tuple[Ints, Floats]:
        """The rows to learn from, and their signs: 1 relevant, -1 not."""
        if self.full_information:
            if told is not None:
                raise ValueError(
                    f"{type(self).__name__} learns from all labels: leave out examined"
                )
            self._check_known(yes, "clicked")
            rows = self._labels.rows_of_known()
            signs = np.full(len(self._tie), -1.0)
            signs[[row for row in map(self._labels.row, yes) if row is not None]] = 1.0
            return rows, signs[rows]
        seen = shown if told is None else told
        there, relevant = set(shown), set(yes)
        for what, labels in (("clicked", yes), ("examined", seen)):
            for label in labels:
                if label not in there:
                    raise ValueError(f"{what} has {label!r}, which was not shown: {shown}")
        unseen = relevant - set(seen)
        if unseen:
            raise ValueError(f"{unseen.pop()!r} was clicked, but is not among the examined labels")
        pairs = [(self._labels.row(label), 1.0 if label in relevant else -1.0) for label in seen]
        known = [(row, sign) for row, sign in pairs if row is not None]
        return np.array([row for row, _ in known], dtype=np.intp), np.array([s for _, s in known])

    def _random(self, x: Vector, draw: int) -> np.random.Generator:
        """The draws for this context, round and draw number: a function of them, nothing hidden."""
        index = x.index if isinstance(x, Sparse) else np.flatnonzero(x)
        value = x.value if isinstance(x, Sparse) else x[index]
        key = index[value != 0].tobytes() + value[value != 0].tobytes()  # sparse or not, the same
        digest = hashlib.blake2b(key, digest_size=16).digest()
        words = np.frombuffer(digest, dtype=np.uint32).tolist()
        return np.random.default_rng([self.seed, self._t, draw, *words])

    def _ties(self, first: int, n: int) -> Floats:
        """A fixed random order among equals, for labels number first, first + 1, ..."""
        return np.random.default_rng([self.seed, 1, first]).random(n)


def load(path: str | os.PathLike[str] | BinaryIO, **yours: object) -> Learner:
    """The learner in a file written by `save`; it goes on as if it had never stopped.

    A cost, loss, width or kernel of your own is code, and code is not saved: give it again by its
    keyword, `load("model.npz", cost=my_cost)`. It is checked to give the values it gave.
    `path` may also be an open binary file.
    """
    if isinstance(path, str | os.PathLike):
        name = os.fspath(path)
        header, arrays = file.read(path)
    else:
        name = "the snapshot"
        header, arrays = file.unpack(path, name)
    try:
        cls = Learner.kinds.get(header["learner"])
        if cls is None:
            raise ValueError(f"it holds a {header['learner']}; import that class first")
        settings = parts.decode({**header["settings"], **header["common"]}, yours)
        names = header["labels"]["names"]
        rows = names if isinstance(names, int) else len(names)
        learner = cls(header["n_features"], rows, **settings)
        learner._labels = Labels.from_json(header["labels"])
        learner._tie = take(arrays, "tie", (rows,))
        learner._t = int(header["t"])
        learner._restore(arrays)
    except (KeyError, TypeError, AssertionError, IndexError) as why:
        raise ValueError(f"{name} is damaged: {why!r}") from None
    except ValueError as why:
        raise ValueError(f"{name}: {why}") from None
    return learner


def many(numbers: int, loading: int | None = LOADING) -> bool:
    """Whether so many, one for each context and label or feature, are worth a compiled loop."""
    return pays(numbers, "policies.together", MANY, loading)


def stacked(views: Sequence[View]) -> View:
    """Views of single contexts, a line for each."""
    return View(*(np.array(part) for part in zip(*(view.parts for view in views), strict=True)))


def _whole(name: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} = {value!r}, but it must be a whole number of at least {least}")
    return int(value)
