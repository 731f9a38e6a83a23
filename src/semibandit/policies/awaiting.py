"""Feedback that comes late: contexts that were ranked count for the scale before they are learned.

Otherwise all contexts would be average ones as long as nothing is learned, and what is shown for
them would teach nothing but which labels are popular.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit.models.model import Sparse
from semibandit.policies.lock import Lock
from semibandit.policies.scaling import Scaling
from semibandit.policies.slate import Slate

__all__ = ["Awaiting"]


class Awaiting:
    """How a learner takes account of slates that are shown and not yet answered.

    None of it is part of what it learns, or of its file.
    """

    _ahead: Scaling | None = None  # has counted the contexts that were expected, too
    _scaling: Scaling
    _lock: Lock

    def expect(self, slates: Slate | Sequence[Slate]) -> None:
        """Say that slates have been shown whose feedback comes later.

        There is no need for it if every slate is learned before the next one is ranked. If
        feedback comes late, learning begins many times sooner if the next contexts are scaled by
        these ones, too, and if every visit has its own `draw`: of labels that are equal so far
        others are then shown each time. What was learned does not change. The service does both
        by itself.

        Parameters
        ----------
        slates : Slate or sequence of Slate
            What has been shown, in the order in which it was ranked.

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
        if not self._scaling.learns:
            return
        some = [slates] if isinstance(slates, Slate) else slates
        given = [slate.given for slate in some if slate.given is not None]
        with self._lock.reading():
            ahead = self._rank_scaling.copy()  # others may be using it
        if given and not any(isinstance(x, Sparse) for x in given):
            ahead.add_rows(np.array(given))
        else:
            for x in given:
                ahead.add(x)
        self._ahead = ahead

    @property
    def _rank_scaling(self) -> Scaling:
        """The scaling that has counted more contexts: those learned, or those shown, too."""
        ahead = self._ahead
        return self._scaling if ahead is None or ahead.n <= self._scaling.n else ahead
