"""The labels that can be shown with what became of them: searched, sorted, and a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.policies.labels import Label
from semibandit.service.engine.label_counts import LabelCounts

__all__ = ["ItemQuery", "list_items"]

Sort = Literal["shown", "clicked", "rate", "estimate", "last_shown", "label"]


@dataclass(frozen=True)
class ItemQuery:
    """Which items, in which order.

    Parameters
    ----------
    search : str
        A part of the label's text, in upper or lower case; "" finds all.
    sort : str
        What to sort by: "shown", "clicked", "rate", "estimate", "last_shown" or "label". Items
        without that number come last.
    descending : bool
        Whether the largest comes first.
    never_shown : bool
        Whether to list only those that were never shown.
    offset, limit : int
        How many to pass over, and how many to list at most.
    """

    search: str = ""
    sort: Sort = "shown"
    descending: bool = True
    never_shown: bool = False
    offset: int = 0
    limit: int = 50


def list_items(
    labels: Sequence[Label], counts: LabelCounts, query: ItemQuery
) -> tuple[int, list[dict[str, Any]]]:
    """How many items there are in all, and the page of them that was asked for.

    Examples
    --------
    >>> total, items = list_items(["tea", "coffee"], LabelCounts(), ItemQuery(search="TEA"))
    >>> total, items[0]["label"], items[0]["shown"], items[0]["rate"]
    (1, 'tea', 0, None)
    """
    table = _Table(labels, counts)
    kept = np.flatnonzero(table.decisions == 0) if query.never_shown else np.arange(len(labels))
    if query.search:
        text = query.search.casefold()
        found = [i for i in kept.tolist() if text in str(labels[i]).casefold()]
        kept = np.array(found, dtype=np.intp)
    order = kept[_order(table, query, kept)]
    page = order[query.offset : query.offset + query.limit]
    return len(order), [table.item(i) for i in page.tolist()]


class _Table:
    """The counts of these labels as columns in their order."""

    def __init__(self, labels: Sequence[Label], counts: LabelCounts) -> None:
        rows = np.array([counts.rows.get(label, -1) for label in labels], dtype=np.intp)

        def column(values: Sequence[float]) -> Floats:
            return np.array([*values, 0.0])[rows]  # -1 is the last

        self.labels = labels
        self.decisions, self.shown = column(counts.decisions), column(counts.shown)
        self.clicked, self.last_shown = column(counts.clicked), column(counts.last_shown)
        with np.errstate(invalid="ignore"):  # 0 / 0 is nan: unknown
            self.rate = self.clicked / self.shown
            self.estimate = column(counts.estimates) / self.decisions
        self.last_shown[self.decisions == 0] = np.nan

    def item(self, i: int) -> dict[str, Any]:
        """A row, as JSON can hold it."""
        counts = {name: int(getattr(self, name)[i]) for name in ("decisions", "shown", "clicked")}
        numbers = {
            name: None if np.isnan(value := getattr(self, name)[i]) else float(value)
            for name in ("rate", "estimate", "last_shown")
        }
        return {"label": self.labels[i], **counts, **numbers}


def _order(table: _Table, query: ItemQuery, kept: Any) -> Any:
    """The places of these rows in the order wanted; equal ones stay in the learner's order."""
    if query.sort == "label":
        names = [(isinstance(name, str), name) for name in (table.labels[i] for i in kept.tolist())]
        order = sorted(range(len(names)), key=names.__getitem__, reverse=query.descending)
        return np.array(order, dtype=np.intp)
    values = getattr(table, query.sort)[kept]
    return np.argsort(-values if query.descending else values, kind="stable")  # nan comes last
