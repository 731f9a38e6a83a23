"""Labels: the users' names for what can be shown, and the model's rows behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from semibandit._util.arrays import Bools, Ints
from semibandit._util.checks import is_number, is_whole, shortened
from semibandit.errors import FileError, InputError, LabelExists, UnknownLabel

if TYPE_CHECKING:
    from semibandit.policies.slate import Slate

__all__ = ["PLAIN", "CandidateSet", "Label", "Labels", "read_count", "read_labels", "unknown"]

Label: TypeAlias = int | str
PLAIN = {int, str}  # the types of labels that need no second look


class Labels:
    """Which label has which row of the model.

    Rows of retired labels are reused for labels that come later. Labels given as a count are
    numbered 0, 1, 2, ...; a number is never used twice. A name may be: then it is another label.

    Examples
    --------
    >>> labels = Labels(["sea", "sun"])
    >>> labels.rows(["sun"], "candidates")
    array([1])
    >>> labels.rows(["moon"], "candidates")
    Traceback (most recent call last):
        ...
    semibandit.errors.UnknownLabel: candidates names 'moon', which is not a label of this learner
    """

    def __init__(self, labels: int | Sequence[Label]) -> None:
        self.named = not _is_count(labels)
        if isinstance(labels, int | np.integer):
            if labels < 0 or isinstance(labels, bool):
                raise InputError(f"labels = {labels!r}, but a learner cannot have so many labels")
            names: list[Label] = list(range(int(labels)))
        else:
            if isinstance(labels, set | frozenset | dict):
                raise InputError("labels must have an order: give a list, not a set")
            names = read_labels(labels, "labels")
        self.names: list[Label | None] = list(names)  # by row; None if the row is free
        self.ever = len(names)  # how many labels there have been
        self.retired: set[Label] = set()
        self.again: dict[Label, int] = {}  # names used again: how many labels there were before
        self.free: list[int] = []  # rows without a label
        self._active: Bools | None = None
        self._free_rows = np.empty(0, dtype=np.intp)
        self._row: dict[Label, int] | None = None if not self.named else _numbered(names)

    def __len__(self) -> int:
        return len(self.names) - len(self.free)

    @property
    def known(self) -> list[Label]:
        """The labels that can be shown, by row."""
        if not self.free:
            return cast(list[Label], self.names.copy())  # quickly: there may be millions
        return [name for name in self.names if name is not None]

    @property
    def active(self) -> Bools | None:
        """Which rows hold a label; None when all do."""
        return self._active

    def row(self, label: Label) -> int | None:
        """The label's row, or None if it has none."""
        if self._row is not None:
            return self._row.get(label)
        if isinstance(label, int) and 0 <= label < len(self.names):
            return label
        return None

    def row_shown(self, label: Label, slate: Slate) -> int | None:
        """The row of a label of a slate; None if the one that was shown has been retired."""
        ever = slate.labels_ever
        other = ever is not None and label in self.again and ever <= self.again[label]
        return None if other or label in slate.retired else self.row(label)

    @property
    def changes(self) -> int:
        """How many labels have come and gone: a number that grows whenever labels change."""
        return 2 * self.ever - len(self)

    def find(self, labels: list[Label]) -> list[int | None]:
        """`row` of each of these labels."""
        if self._row is not None:
            return [*map(self._row.get, labels)]
        n = len(self.names)  # a label is its row
        if set(map(type, labels)) == {int} and min(labels) >= 0 and max(labels) < n:  # type: ignore[operator]
            return [*labels]  # type: ignore[list-item]
        return [*map(self.row, labels)]

    def rows(self, labels: Iterable[Label], what: str) -> Ints:
        """The rows of these labels, in their order, or an error that calls them `what`."""
        names = read_labels(labels, what)
        found = self.find(names)
        if None in found:
            raise unknown(what, names[found.index(None)])
        return np.array(found, dtype=np.intp)

    def at(self, rows: Ints | None, places: Ints) -> list[Label]:
        """The labels at these places of some rows; None for all rows."""
        names = self.names
        found = places if rows is None else rows[places]
        return [names[row] for row in found.tolist()]

    def one_at(self, rows: Ints | None, place: int) -> Label:
        """The label at one place of some rows; None for all rows."""
        return cast(Label, self.names[place if rows is None else rows[place]])

    def rows_of_known(self) -> Ints:
        """The rows that hold a label, in the order of `known`."""
        active = self.active
        return np.arange(len(self.names)) if active is None else np.flatnonzero(active)

    def check_known(self, labels: Iterable[Label], what: str) -> None:
        """Raise `UnknownLabel` for a label that is not there and never was."""
        for label in labels:
            if self.row(label) is None and label not in self.retired:
                raise unknown(what, label)

    def allowed(
        self, candidates: Iterable[Label] | None, exclude: Iterable[Label] | None
    ) -> Ints | None:
        """The rows that may be shown; None for all."""
        rows: Ints | None = None
        if candidates is not None:
            rows = self._sorted_rows(candidates, "candidates")
        elif self.active is not None:
            rows = np.flatnonzero(self.active)
        if exclude is None:
            return rows
        out = self._sorted_rows(exclude, "exclude")
        if rows is None:
            return np.delete(np.arange(len(self.names)), out)
        if not len(out):
            return rows
        nearest = out.take(np.searchsorted(out, rows), mode="clip")
        return np.asarray(rows[nearest != rows])

    def _sorted_rows(self, labels: Iterable[Label], what: str) -> Ints:
        if isinstance(labels, CandidateSet):
            return labels.rows_in(self, what)
        rows = self.rows(labels, what)
        rows.sort()
        return rows

    def not_allowed(self, exclude: Iterable[Label] | None) -> Ints:
        """The rows that may not be shown if these labels may not, sorted."""
        if exclude is None:
            return self._free_rows
        rows = self._sorted_rows(exclude, "exclude")
        return np.sort(np.concatenate([self._free_rows, rows])) if len(self._free_rows) else rows

    def added(self, labels: int | Sequence[Label]) -> list[Label]:
        """The names `labels` stands for, checked, not yet added."""
        if not self.named:
            if not _is_count(labels) or isinstance(labels, bool) or int(labels) < 0:  # type: ignore[arg-type]
                raise InputError(
                    f"this learner numbers its labels, so say how many to add, not {labels!r}"
                )
            return list(range(self.ever, self.ever + int(labels)))  # type: ignore[arg-type]
        if _is_count(labels):
            raise InputError(f"this learner names its labels, so give names, not {labels!r}")
        names = read_labels(labels, "labels")  # type: ignore[arg-type]
        for name in names:
            if self.row(name) is not None:
                raise LabelExists(f"the label {name!r} is there already")
        return names

    def add(self, names: list[Label]) -> Ints:
        """Give rows to new names: free ones first, then more at the end."""
        row_of = self._rows_by_name()
        reused, self.free = self.free[: len(names)], self.free[len(names) :]
        more = len(names) - len(reused)
        rows = reused + list(range(len(self.names), len(self.names) + more))
        self.names.extend([None] * more)
        for name, row in zip(names, rows, strict=True):
            self.names[row] = name
            row_of[name] = row
            if name in self.retired:
                self.retired.remove(name)
                self.again[name] = self.ever
        self.ever += len(names)
        self._active = self._find_active()
        return np.array(rows, dtype=np.intp)

    def retire(self, rows: Ints) -> None:
        """Take the labels away from these rows."""
        row_of = self._rows_by_name()
        for row in rows.tolist():
            name = self.names[row]
            assert name is not None
            self.names[row] = None
            del row_of[name]
            self.retired.add(name)
            self.again.pop(name, None)
        self.free = sorted(self.free + rows.tolist())
        self._active = self._find_active()

    def _find_active(self) -> Bools | None:
        self._free_rows = np.array(self.free, dtype=np.intp)
        if not self.free:
            return None
        active = np.ones(len(self.names), dtype=np.bool_)
        active[self.free] = False
        return active

    def _rows_by_name(self) -> dict[Label, int]:
        if self._row is None:
            self._row = _numbered(self.known)
        return self._row

    def to_json(self) -> dict[str, object]:
        """All that `from_json` needs to make the same labels again."""
        whole = not self.named and self._row is None
        return {
            "named": self.named,
            "names": len(self.names) if whole else self.names,
            "ever": self.ever,
            "retired": sorted(self.retired, key=str),
            **({"again": [*self.again.items()]} if self.again else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], rows: int) -> Labels:
        """The labels that `to_json` wrote down, for a learner with so many rows.

        Raises
        ------
        FileError
            If they are damaged, or if there are not so many.
        """
        names = data["names"]
        if not isinstance(names, int | list):
            raise FileError(f"its labels are {shortened(names)}, expected a list or how many")
        there = names if isinstance(names, int) else len(names)
        if there != rows:  # before there is room for so many
            raise FileError(f"it names {there} labels, and the array 'tie' is of {rows}")
        if isinstance(names, int):
            return cls(rows)
        self = cls([])
        active = [name for name in names if name is not None]
        again = [tuple(pair) for pair in data.get("again", ())]
        try:
            for some in (active, data["retired"], [name for name, _ in again]):
                read_labels(some, "its header")
        except InputError as why:
            raise FileError(str(why)) from None
        self.named = bool(data["named"])
        self.names = names
        self.ever = read_count("its labels ever", data["ever"], least=len(active))
        self.retired = set(data["retired"])
        self.again = {name: read_count("again", ever) for name, ever in again}
        self._row = {name: row for row, name in enumerate(names) if name is not None}
        self.free = [row for row, name in enumerate(names) if name is None]
        self._active = self._find_active()
        return self


class CandidateSet(Sequence[Label]):
    """Labels that may be shown, as `Learner.candidates` makes it.

    It stands for the list of its labels wherever labels are given, and means what that list would
    mean: if one of them has been retired since, ranking raises `UnknownLabel`; if it was added
    again, it is a candidate again.

    Parameters
    ----------
    labels : iterable of labels
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

    def __init__(self, labels: Iterable[Label]) -> None:
        self.labels = tuple(read_labels(labels, "candidates"))
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


def read_labels(labels: Iterable[Label], what: str) -> list[Label]:
    """The labels as a list of int and str, each once, or an error that says which is wrong."""
    flat = not isinstance(labels, np.ndarray) or labels.ndim == 1
    listed = isinstance(labels, Iterable) and not isinstance(labels, str | bytes | Mapping)
    if not (listed and flat):
        hint = _as_list(labels) if isinstance(labels, Mapping) else ""
        raise InputError(f"{what} must be a list of labels, got {shortened(labels)}{hint}")
    names: list[Label] = list(labels)
    if not PLAIN.issuperset(map(type, names)):
        names = [_read_label(label, what) for label in names]
    if len(set(names)) < len(names):
        seen: set[Label] = set()
        twice = next(n for n in names if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise InputError(f"{what} names {twice!r} twice")
    return names


def _as_list(labels: Mapping[Any, object]) -> str:
    """A suggestion for a mapping of labels to rewards or flags: a label is listed, or it is not."""
    if not all(isinstance(value, bool | np.bool_) or is_number(value) for value in labels.values()):
        return ""
    return f"; did you mean {shortened([label for label, value in labels.items() if value])}?"


def _read_label(label: object, what: str) -> Label:
    """A label that is not plainly int or str, such as a number or text of numpy's."""
    if isinstance(label, bool | np.bool_):
        raise InputError(f"{what} must list labels, not true/false flags")
    if isinstance(label, np.integer):
        return int(label)
    if not isinstance(label, int | str):
        raise InputError(f"{what} has {label!r}; a label is a whole number or a string")
    return str(label) if isinstance(label, np.str_) else label


def read_count(what: str, value: object, *, least: int = 0) -> int:
    """A count of a file; `FileError` if it is none, or larger than any that can be."""
    if not is_whole(value) or not least <= value < 2**62:  # type: ignore[operator]
        raise FileError(
            f"{what} = {shortened(value)}, but it must be a whole number from {least} to below 2⁶²"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def unknown(what: str, label: Label) -> UnknownLabel:
    """The error for a label that the learner does not have."""
    return UnknownLabel(f"{what} names {label!r}, which is not a label of this learner")


def _is_count(labels: object) -> bool:
    return isinstance(labels, int | np.integer)


def _numbered(names: Sequence[Label]) -> dict[Label, int]:
    return {name: row for row, name in enumerate(names)}
