"""A set of candidates that is used again and again: looked up once, not for every `rank`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semibandit._util.arrays import Ints
from semibandit._util.checks import shortened

if TYPE_CHECKING:
    from semibandit.policies.labels import Label, Labels

__all__ = ["CandidateSet"]


class CandidateSet(Sequence["Label"]):
    """Labels that may be shown, as `Learner.candidates` makes it.

    It stands for the list of its labels wherever labels are given, and means what that list would
    mean: if one of them has been retired since, ranking raises `UnknownLabel`; if it was added
    again, it is a candidate again.

    Parameters
    ----------
    labels : sequence of labels
        The labels, each once.

    Examples
    --------
    >>> import semibandit as sb
    >>> bandit = sb.SlateUCB(n_features=2, labels=["tea", "coffee", "juice"])
    >>> hot = bandit.candidates(["tea", "coffee"])
    >>> hot
    CandidateSet(['tea', 'coffee'])
    >>> sorted(bandit.rank([1.0, 0.5], candidates=hot).labels)
    ['coffee', 'tea']
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self.labels = tuple(labels)
        self._found: tuple[Labels, int, Ints] | None = None  # for which labels, when, their rows

    def rows_in(self, labels: Labels, what: str) -> Ints:
        """The rows of these labels, sorted; they are looked up anew if labels have changed.

        Parameters
        ----------
        labels : Labels
            Those of the learner that ranks.
        what : str
            What an error calls this set.

        Raises
        ------
        UnknownLabel
            If the learner does not have one of them.
        """
        found = self._found  # read once: other threads may rank, too
        if found is None or found[0] is not labels or found[1] != labels.changes:
            found = labels, labels.changes, labels.rows(self.labels, what)
            found[2].sort()
            self._found = found
        return found[2]

    def __getitem__(self, place: Any) -> Any:
        return self.labels[place]

    def __len__(self) -> int:
        return len(self.labels)

    def __reduce__(self) -> tuple[type[CandidateSet], tuple[tuple[Label, ...]]]:
        """For copy and pickle: rows can be looked up again, in the labels of any learner."""
        return CandidateSet, (self.labels,)

    def __repr__(self) -> str:
        return f"CandidateSet({shortened([*self.labels])})"
