"""Feedback that comes late: contexts that were ranked count for the scale before they are learned.

Otherwise all contexts would be average ones as long as nothing is learned, and what is shown for
them would teach nothing but which labels are popular.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.models.model import Sparse
from semibandit.policies.lock import Lock
from semibandit.policies.scaling import Scaling
from semibandit.policies.slate import Slate, check_slate

__all__ = ["Awaiting"]


class Awaiting(ABC):
    """How a learner takes account of slates that are shown and not yet answered.

    None of it is part of what it learns, or of its file.
    """

    _ahead: Scaling | None = None  # has counted the contexts that were expected, too
    _scaling: Scaling
    _lock: Lock

    @property
    @abstractmethod
    def context_format(self) -> str:
        """How contexts are read, in words."""

    def expect(self, slates: Slate | Iterable[Slate]) -> None:
        """Say that slates have been shown whose feedback comes later.

        There is no need for it if every slate is learned before the next one is ranked. If
        feedback comes late, learning begins many times sooner if the next contexts are scaled by
        these ones, too, and if every visit has its own `draw`: of labels that are equal so far
        others are then shown each time. What was learned so far does not change. The service does
        both by itself, for the visits since its start.

        Parameters
        ----------
        slates : Slate or iterable of Slate
            What has been shown, in the order in which it was ranked.

        Raises
        ------
        InputError
            If it is no slate of such a learner; nothing is counted then.

        Examples
        --------
        >>> import semibandit as sb
        >>> bandit = sb.SlateUCB(n_features=2, labels=100)
        >>> shown = set()
        >>> for visit in range(20):
        ...     slate = bandit.rank([1.0, visit], slots=5, draw=visit)
        ...     bandit.expect(slate)
        ...     shown.update(slate.labels)
        >>> len(shown) > 50  # and 5 if all visits had the same draw
        True
        >>> slate.x.round(2).tolist()  # by the deviation of all 20 visits
        [0.0, 0.71, 0.71]
        """
        some = list(slates) if isinstance(slates, Iterable) else [slates]
        for slate in some:
            if not isinstance(slate, Slate):
                raise InputError(f"expect takes slates that rank gave, got {shortened(slate)}")
            check_slate(slate, self.context_format)
        given = [slate.given for slate in some if slate.given is not None]
        if not given or not self._scaling.learns:
            return
        with self._lock.writing():
            if self._rank_scaling is self._scaling:
                self._ahead = self._scaling.copy()
            assert self._ahead is not None
            if any(isinstance(x, Sparse) for x in given):
                for x in given:
                    self._ahead.add(x)
            else:
                self._ahead.add_rows(np.array(given))

    @property
    def _rank_scaling(self) -> Scaling:
        """The scaling that has counted more contexts: those learned, or those shown, too."""
        ahead = self._ahead
        return self._scaling if ahead is None or ahead.n <= self._scaling.n else ahead
