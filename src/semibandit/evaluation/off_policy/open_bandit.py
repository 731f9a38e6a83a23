"""The logs of the Open Bandit Dataset as visits: single items, each at its position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from semibandit.data.open_bandit import CAMPAIGNS, read_open_bandit
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.read_visits import VisitLog
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request

__all__ = ["POSITIONS", "OpenBanditVisits", "visits_of_open_bandit"]

POSITIONS = 3  # of a slate in that store


class OpenBanditVisits(VisitLog):
    """The visits of one of the logs, as `read_visits` gives those of a service.

    There is nothing to learn along it: slates are not known, and the log is of no learner of ours.
    """

    has_lessons = False

    def learner(self) -> Learner:
        """Refuse: the log is not that of a learner."""
        raise InputError(
            f"{self.log} is not the log of a service: it has no learner to begin anew or change. "
            "The policies that can be judged on it are uniform, logged, and a learner's file or "
            "object whose labels are the numbers of the items"
        )

    def labels(self) -> list[Label]:
        return list(range(CAMPAIGNS[self.log.lower().rpartition("/")[2]]))

    def __iter__(self) -> Iterator[VisitChunk]:
        visits, items = visits_of_open_bandit(self.log)
        used = [visit for visit in visits if self.since <= visit.at < self.until]
        self.used = len(used)
        for first in range(0, len(used), self.size):
            some = used[first : first + self.size]
            yield VisitChunk(
                visits=some, items=[items] * len(some), lesson_of=[None] * len(some),
                events=len(some), answers=len(some),
            )  # fmt: skip


def visits_of_open_bandit(name: str) -> tuple[list[LoggedVisit], list[Label]]:
    """The visits of one of the logs, and the items that could be shown in each of them.

    Parameters
    ----------
    name : str
        "open-bandit/bts/all", as `read_open_bandit` takes it; it is downloaded once.

    Returns
    -------
    visits : list of LoggedVisit
        One for each item that was shown. Only the probabilities of items at positions are known;
        the context is the visitor's affinity to each item.
    items : list of labels
        The numbers of all items.

    Raises
    ------
    InputError
        If there is no log of this name.
    FileError, DownloadError
        If the data set cannot be downloaded, or is damaged.
    """
    log = read_open_bandit(name)
    contexts = log.affinity.astype(np.float64)
    items, positions, at = log.item.tolist(), log.position.tolist(), log.at.tolist()
    visits = [
        LoggedVisit(
            Request(contexts[i], POSITIONS, None, None, i), [items[i]], log.clicked[i : i + 1],
            None, None, log.propensity[i : i + 1], None, group="", seq=i + 1, at=at[i],
            first_position=positions[i],
        )
        for i in range(len(log))
    ]  # fmt: skip
    return visits, list(range(log.n_items))
