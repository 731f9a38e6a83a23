"""The contract of all learners: `rank` decides, `learn` takes in what happened.

What a learner is made of and has to supply is in `base.py`. What comes in here is checked before
anything changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import whole_number
from semibandit.errors import InputError
from semibandit.policies import batch, persistence
from semibandit.policies.base import LearnerBase
from semibandit.policies.context import read_new, read_seen
from semibandit.policies.examination import read_examined
from semibandit.policies.fast_rule import defines
from semibandit.policies.features.encoded import NewValues
from semibandit.policies.feedback import all_signs, shown_signs
from semibandit.policies.labels import CandidateSet, Label, read_labels
from semibandit.policies.randomness import tie_order
from semibandit.policies.read_requests import Limits, read_limits, read_requests
from semibandit.policies.request import Request
from semibandit.policies.slate import Scores, Slate, check_slate

__all__ = ["Learner"]


class Learner(LearnerBase):
    """Ranks labels for a context, and learns from what happened.

    `rank` changes nothing and may run in many threads at once, also beside `learn`. `learn` takes
    place whole or, if it raises, not at all.

    This is what all learners have in common: make a `SlateUCB`, or one of the others. Your own is a
    subclass that supplies the hooks of `LearnerBase`: `_view`, `_absorb` and those about saving.

    Examples
    --------
    >>> import semibandit as sb
    >>> bandit = sb.SlateUCB(n_features=2, labels=["tea", "coffee"])
    >>> isinstance(bandit, Learner), bandit.labels
    (True, ['tea', 'coffee'])
    """

    def rank(
        self, x: Any, slots: int | None = None, *, candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None, draw: int = 0,
    ) -> Slate:  # fmt: skip
        """Decide which labels to show for a context, in which order and how many.

        Parameters
        ----------
        x : sequence of float, array, scipy-sparse row, or mapping
            The context: `n_features` finite numbers. If the learner was made with named features,
            {name: value}; a feature that is left out is unknown.
        slots : int, optional
            The most labels to show. By default there is no limit but the loss.
        candidates : iterable of labels, optional
            Only these labels may be shown this time. By default all may. The others are not looked
            at, so a few candidates of many labels cost what the few cost. A set that is used again
            and again can be prepared: see `candidates`.
        exclude : iterable of labels, optional
            These labels may not be shown this time.
        draw : int
            Learners that draw at random draw anew for every other number, and the order among
            labels that are equal so far begins elsewhere: give each visit its own number if
            feedback comes late. The same learner, context, round and number give the same slate,
            as long as nothing is expected meanwhile (see `expect`).

        Returns
        -------
        Slate
            The labels, best first. It may be shorter than the slots, or empty.

        Raises
        ------
        InputError
            If the context or the slots cannot be used.
        UnknownLabel
            If candidates or exclude name a label that the learner does not have.

        Examples
        --------
        >>> import semibandit as sb
        >>> bandit = sb.SlateUCB(n_features=2, labels=["tea", "coffee"])
        >>> len(bandit.rank([1.0, 0.5], slots=1))
        1
        """
        limit, draw = self.read_slots(slots), whole_number("draw", draw, least=0)
        only, without = read_limits(candidates, exclude)
        with self._lock.reading():  # meanwhile nobody takes the column of a new value
            given, new = self.encode(x)
            request = Request(given, limit, only, without, draw, new=new)
            vector = self.scaled(given, to_rank=True)
            aim = self._aims([request])[0]
            if aim is None:
                rows = self._labels.allowed(only, without)
                view = self._view_of(vector, request, rows)
                self.looks.add(len(view), len(view))
            else:
                view = self._best_views([vector], [request], [aim])[0]
            return self._decide(view.at_turn(request.turn), vector, request)

    def rank_many(
        self, X: Any, slots: int | Sequence[int | None] | None = None, *,
        candidates: Limits = None, exclude: Limits = None, draw: int = 0,
    ) -> list[Slate]:  # fmt: skip
        """Decide for many contexts at once: the slates of `rank`, by one matrix product.

        Parameters
        ----------
        X : array, sequence of contexts or scipy-sparse matrix
            A context in each row, as `rank` takes it.
        slots : int or sequence of int, optional
            The most labels to show: one number for all contexts, or one for each.
        candidates, exclude : iterable of labels, or sequence of such, optional
            As for `rank`, the same for all contexts; or a sequence with an iterable of labels, or
            None, for each of them.
        draw : int
            As for `rank`, the same for all contexts.

        Returns
        -------
        list of Slate
            One for each row of X, all ranked by one state, whatever `learn` does meanwhile.

        Raises
        ------
        InputError
            If a context or its slots cannot be used; the text names the row.
        UnknownLabel
            If candidates or exclude name a label that the learner does not have.

        Examples
        --------
        >>> import semibandit as sb
        >>> bandit = sb.SlateUCB(n_features=2, labels=3)
        >>> X = [[1.0, 0.0], [0.0, 1.0]]
        >>> [len(slate) for slate in bandit.rank_many(X, slots=[1, 2])]
        [1, 2]
        >>> [slate.labels for slate in bandit.rank_many(X, slots=1, candidates=[[2], [0]])]
        [[2], [0]]
        """
        requests = read_requests(self, X, slots, candidates, exclude, draw)
        if not defines(self, Learner, "rank"):
            return batch.rank_requests(self, requests)
        return [  # whoever ranks in a way of their own does so here, too
            self.rank(
                r.given if r.named is None else r.named, r.slots, candidates=r.candidates,
                exclude=r.exclude, draw=r.draw,
            )
            for r in requests
        ]  # fmt: skip

    def candidates(self, labels: Iterable[Label]) -> CandidateSet:
        """Prepare candidates that are used again and again: they are looked up once.

        Parameters
        ----------
        labels : iterable of labels
            What may be shown.

        Returns
        -------
        CandidateSet
            To be given as `candidates` or `exclude` in place of the labels, and meaning the same,
            also after labels have come or gone: one that has been retired is refused.

        Raises
        ------
        UnknownLabel
            If one of them is not a label of this learner.

        Examples
        --------
        >>> import semibandit as sb
        >>> bandit = sb.SlateUCB(n_features=2, labels=["tea", "coffee", "juice"])
        >>> cold = bandit.candidates(["juice"])
        >>> bandit.rank([1.0, 0.5], slots=1, candidates=cold).labels
        ['juice']
        """
        found = CandidateSet(labels)
        with self._lock.reading():
            found.rows_in(self._labels, "candidates")
        return found

    def scores(
        self, x: Any, *, candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None, draw: int = 0,
    ) -> Scores:  # fmt: skip
        """What the learner thinks of labels for a context, shown or not.

        Parameters
        ----------
        x, candidates, exclude, draw
            As for `rank`; by default all labels.

        Returns
        -------
        Scores
            Margin, width, estimate and prob of each label, in the order of `labels`.

        Raises
        ------
        InputError
            If the context cannot be used.
        UnknownLabel
            If candidates or exclude name a label that the learner does not have.

        Examples
        --------
        >>> import semibandit as sb
        >>> sb.SlateUCB(n_features=2, labels=["tea", "coffee"]).scores([1.0, 0.0]).estimate
        array([0.5, 0.5])
        """
        draw = whole_number("draw", draw, least=0)
        only, without = read_limits(candidates, exclude)
        with self._lock.reading():
            given, new = self.encode(x)
            rows = self._labels.allowed(only, without)
            request = Request(given, None, only, without, draw, new=new)
            view = self._view_of(self.scaled(given, to_rank=True), request, rows)
            labels = self._labels.at(rows, np.arange(len(view)))
            return Scores(labels, view.margin, view.width, view.estimate, view.prob)

    def learn(
        self, slate: Slate, clicked: Iterable[Label],
        examined: Iterable[Label] | str | None = None,
    ) -> None:  # fmt: skip
        """Learn from the answer to a slate: which of its labels were relevant.

        Feedback may come late and out of order: it is learned with the state of that moment.
        Labels retired in the meantime are passed over, also if a label of the same name was added
        since: that is another one. Learning from the same slate twice is allowed, and counts twice.

        Parameters
        ----------
        slate : Slate
            What `rank` gave, or `shown` made from a log.
        clicked : iterable of labels
            The shown labels that turned out relevant; the others count as not relevant. A learner
            with full information (OBR) wants all relevant labels, shown or not.
        examined : iterable of labels or "up to the last click", optional
            The shown labels the user looked at: only these are learned from. "up to the last click"
            are those down to the last one that was clicked, all if none was. By default those that
            the learner's `examination` says, which are all unless it was given.

        Raises
        ------
        NotShown
            If clicked or examined name a label that was not shown.
        InputError
            If the slate was ranked by a learner of another shape.

        Examples
        --------
        >>> import semibandit as sb
        >>> bandit = sb.SlateUCB(n_features=2, labels=["tea", "coffee"])
        >>> slate = bandit.rank([1.0, 0.5], slots=1)
        >>> bandit.learn(slate, clicked=slate.labels)
        >>> bandit.t
        2
        """
        relevant = read_labels(clicked, "clicked")
        if examined is not None and not isinstance(examined, str):
            examined = read_labels(examined, "examined")
        with self._lock.writing():
            check_slate(slate, self.context_format)
            self._labels.check_known(slate.labels, "the slate")
            if not self.full_information:
                seen = (
                    self._examined(slate, relevant)
                    if examined is None
                    else read_examined(examined, slate.labels, relevant)
                )
                rows, signs = shown_signs(self._labels, slate, relevant, seen)
            elif examined is None:
                rows, signs = all_signs(self._labels, relevant)
            else:
                name = type(self).__name__
                raise InputError(f"{name} learns from all labels: leave out examined")
            encoder = None if self._encoder is None else self._encoder.including(slate.new)
            self._absorb(slate, rows, signs)
            if slate.given is not None:
                self._scaling.add(slate.given)
            self._encoder = encoder
            self.count_rounds(1)

    def add_labels(self, labels: int | Sequence[Label]) -> list[Label]:
        """Add labels while running; what was learned about the others stays.

        Parameters
        ----------
        labels : sequence of labels, or int
            Their names; for a learner whose labels are numbered, how many.

        Returns
        -------
        list of labels
            The new labels. A new label starts as unknown as at the beginning.

        Raises
        ------
        LabelExists
            If one of the names is there already.
        """
        with self._lock.writing():
            names = self._labels.added(labels)
            fresh = self._labels.free[: len(names)]
            more = len(names) - len(fresh)
            tie = np.concatenate([self._tie, np.zeros(more)])
            self._resize(more, np.array(fresh, dtype=np.intp))
            ever = self._labels.ever
            rows = self._labels.add(names)
            tie[rows] = tie_order(self.seed, ever, len(rows))
            self._tie = tie
            self._changes += 1
        return names

    def retire_labels(self, labels: Iterable[Label]) -> None:
        """Never show these labels again; what was learned about the others stays.

        Parameters
        ----------
        labels : iterable of labels
            The labels to retire. Feedback on them that comes later is passed over.

        Raises
        ------
        UnknownLabel
            If one of them is not a label of this learner.
        """
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
        seen: Floats | None = None,
        new: NewValues | None = None,
        retired: Iterable[Label] = (),
    ) -> Slate:
        """Make a slate for `learn` from what a log says was shown.

        Parameters
        ----------
        x, slots
            The context and the slots of that time, as for `rank`.
        labels : iterable of labels
            What was shown, best first.
        propensity, leader
            Those of the slate, for learners that need them again (Banditron).
        seen : array, optional
            What the model saw of the context at that time, `slate.x`. By default it is scaled now;
            a context is scaled by those that were learned before.
        new : mapping, optional
            The slate's `new`, if x is the numbers that a context with names was encoded as.
        retired : iterable of labels
            Those that were retired before the answer came. They are passed over, also if labels of
            these names have been added since.

        Returns
        -------
        Slate
            It learns as the slate that `rank` gave would. What margins and widths were is not
            known any more: they are nan.
        """
        names = read_labels(labels, "labels")
        unknown = np.full(len(names), np.nan)
        limit, form = self.read_slots(slots), self.context_format
        nothing = unknown, unknown, unknown, unknown
        with self._lock.reading():
            given, found = self.encode(x)
            vector = self.scaled(given) if seen is None else read_seen(seen, self.n_inputs)
            values = read_new(new, self.known_values()) if new else found
        return Slate(
            names, *nothing, limit, vector, form, propensity, leader, given=given, new=values,
            retired=frozenset(read_labels(retired, "retired")),
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole learner to one file; an existing file is replaced at one stroke.

        `semibandit.load` reads it. Ranking and learning go on while the file is written.

        Parameters
        ----------
        path : str or path
            Where to write; by convention it ends in .npz.
        """
        persistence.snapshot_of(self).save(path)  # outside of the lock: ranking goes on

    def check_new_labels(self, labels: int | Sequence[Label]) -> None:
        """Raise what `add_labels` would raise, and change nothing."""
        self._labels.added(labels)

    def check_labels(self, labels: Iterable[Label]) -> None:
        """Raise what `retire_labels` would raise, and change nothing."""
        self._labels.rows(labels, "labels")
