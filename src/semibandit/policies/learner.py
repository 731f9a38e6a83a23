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
from typing import Any, ClassVar

import numpy as np

from semibandit._arrays import Floats, Ints
from semibandit.models.model import Arrays, Sparse, Vector, take
from semibandit.policies import file, parts
from semibandit.policies.context import read_context
from semibandit.policies.labels import Label, Labels, read_labels
from semibandit.policies.lock import Lock
from semibandit.policies.slate import Scores, Slate
from semibandit.theory.cost import Cost, Costs, check_a, decreasing
from semibandit.theory.slate import cut, order, read_slots

__all__ = ["Learner", "View", "load"]


@dataclass(frozen=True, eq=False)
class View:
    """Every row's margin, width and estimate, what rows are sorted by, and what they are cut by."""

    margin: Floats
    width: Floats
    estimate: Floats
    score: Floats
    prob: Floats


class Learner(ABC):
    """Ranks labels for a context, learns from what happened.

    `rank` changes nothing and may run in many threads at once, also beside `learn`. `learn` takes
    place whole or, if it raises, not at all.
    """

    full_information: ClassVar[bool] = False  # whether `learn` wants all relevant labels
    one_slot: ClassVar[bool] = False  # whether it can show only one label
    kinds: ClassVar[dict[str, type[Learner]]] = {}

    def __init_subclass__(cls) -> None:
        Learner.kinds[cls.__name__] = cls

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
        if rows is None:
            best = order(view.score, self._tie, slots)
        else:
            best = rows[order(view.score[rows], self._tie[rows], slots)]
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

    def scores(self, x: Any, *, draw: int = 0) -> Scores:
        """Every label's margin, width, estimate and prob for context x, shown or not."""
        vector = self._read(x)
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
        Labels retired in the meantime are passed over. Learning from the same slate twice is
        allowed and counts twice; keep it out where it would be an accident.
        """
        shown = self._check_slate(slate)
        yes = read_labels(clicked, "clicked")
        pool = yes if self.full_information else shown
        seen = pool if examined is None else read_labels(examined, "examined")
        self._check_answer(shown, yes, seen, examined is not None)
        with self._lock.writing():
            if self.full_information:
                self._check_known(yes, "clicked")
                seen = self._labels.known
            known = [(self._labels.row(label), label) for label in seen]
            relevant = set(yes)
            rows = np.array([row for row, _ in known if row is not None], dtype=np.intp)
            signs = np.array(
                [1.0 if label in relevant else -1.0 for row, label in known if row is not None]
            )
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
            rows, _ = self._labels.add(names)
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole learner to one file; an existing file is replaced at one stroke."""
        with self._lock.reading():
            header = {
                "learner": type(self).__name__,
                "n_features": self.n_features,
                "t": self._t,
                "labels": self._labels.to_json(),
                "settings": parts.encode(self._settings()),
                "common": parts.encode(
                    {
                        "cost": self.cost,
                        "a": self.a,
                        "normalize": self.normalize,
                        "bias": self.bias,
                        "seed": self.seed,
                    }
                ),
            }
            file.write(path, header, {"tie": self._tie, **self._arrays()})

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

    def _read_slots(self, slots: int | None) -> int | None:
        if self.one_slot and slots is not None and slots != 1:
            raise ValueError(f"slots = {slots!r}, but {type(self).__name__} shows one label")
        return 1 if self.one_slot else read_slots(slots)

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
            without = self._labels.rows(exclude, "exclude")
            rows = np.setdiff1d(np.arange(len(self._tie)) if rows is None else rows, without)
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
        )

    def _check_slate(self, slate: Slate) -> list[Label]:
        if not isinstance(slate, Slate):
            raise ValueError(f"learn takes the slate that rank gave, got {type(slate).__name__}")
        size = slate.x.size if isinstance(slate.x, Sparse) else len(slate.x)
        if size != self._d:
            raise ValueError(
                f"this slate is for {size} features, this learner has {self._d}"
                f"{' with the bias' if self.bias else ''}: it was ranked by another learner"
            )
        self._check_known(slate.labels, "the slate")
        return slate.labels

    def _check_known(self, labels: list[Label], what: str) -> None:
        for label in labels:
            if not self._labels.was_known(label):
                raise ValueError(f"{what} names {label!r}, which is not a label of this learner")

    def _check_answer(
        self, shown: list[Label], yes: list[Label], seen: list[Label], told: bool
    ) -> None:
        if self.full_information:
            if told:
                raise ValueError(
                    f"{type(self).__name__} learns from all labels: leave out examined"
                )
            return
        there = set(shown)
        for what, labels in (("clicked", yes), ("examined", seen)):
            for label in labels:
                if label not in there:
                    raise ValueError(f"{what} has {label!r}, which was not shown: {shown}")
        for label in yes if told else ():
            if label not in seen:
                raise ValueError(f"{label!r} was clicked, but is not among the examined labels")

    def _random(self, x: Vector, draw: int) -> np.random.Generator:
        """The draws for this context, round and draw number: a function of them, nothing hidden."""
        key = np.concatenate([x.index, x.value]) if isinstance(x, Sparse) else x
        digest = hashlib.blake2b(key.tobytes(), digest_size=16).digest()
        words = np.frombuffer(digest, dtype=np.uint32).tolist()
        return np.random.default_rng([self.seed, self._t, draw, *words])

    def _ties(self, first: int, n: int) -> Floats:
        """A fixed random order among equals, for labels number first, first + 1, ..."""
        return np.random.default_rng([self.seed, first]).random(n)


def load(path: str | os.PathLike[str], **yours: object) -> Learner:
    """The learner in a file written by `save`; it goes on as if it had never stopped.

    A cost, loss, width or kernel of your own is code, and code is not saved: give it again by its
    keyword, `load("model.npz", cost=my_cost)`. It is checked to give the values it gave.
    """
    header, arrays = file.read(path)
    try:
        cls = Learner.kinds[header["learner"]]
        settings = parts.decode({**header["settings"], **header["common"]}, yours)
        names = header["labels"]["names"]
        rows = names if isinstance(names, int) else len(names)
        learner = cls(header["n_features"], rows, **settings)
        learner._labels = Labels.from_json(header["labels"])
        learner._tie = take(arrays, "tie", (rows,))
        learner._t = int(header["t"])
        learner._restore(arrays)
    except (KeyError, TypeError) as why:
        raise ValueError(f"{os.fspath(path)} is damaged: {why!r}") from None
    return learner


def _whole(name: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} = {value!r}, but it must be a whole number of at least {least}")
    return int(value)
