"""Who decides the visits of a service, in words, and whether that has changed since the last ones.

The randomisation and the holdout are chosen anew at every start; a start that leaves them out by
mistake must not go unnoticed.
"""

from __future__ import annotations

from dataclasses import dataclass

from semibandit.store.event import Decision
from semibandit.store.store import Store

__all__ = ["Deciders"]

READ = 1000  # events at the end of the log, among which there is a decision


@dataclass(frozen=True)
class Deciders:
    """Who decides: the policy that draws around the learner, and the holdout.

    Parameters
    ----------
    policy : str or None
        The policy in words, such as "mixed:0.05"; None if the learner decides by itself.
    holdout : str or None
        The holdout's policy and share, such as "uniform:0.02"; None if there is none.

    Examples
    --------
    >>> print(Deciders("mixed:0.05", None))
    slates are drawn by mixed:0.05, and there is no holdout
    >>> Deciders(None, None).warning(Deciders(None, "uniform:0.02")).split(": give")[0]
    'the last decisions had a holdout uniform:0.02; now there is none'
    """

    policy: str | None
    holdout: str | None

    @classmethod
    def of_last(cls, store: Store) -> Deciders | None:
        """Who made the last decision of the log; None if the end of the log has none."""
        found = None
        for _, event in store.events(max(0, store.last - READ), kinds=["decision"]):
            assert isinstance(event, Decision)
            found = cls(event.policy, event.comparison)
        return found

    @property
    def others(self) -> bool:
        """Whether there is someone besides the learner."""
        return self.policy is not None or self.holdout is not None

    def __str__(self) -> str:
        who = "the learner decides by itself"
        if self.policy is not None:
            who = f"slates are drawn by {self.policy}"
        other = "no holdout" if self.holdout is None else f"a holdout {self.holdout}"
        return f"{who}, and there is {other}"

    def warning(self, before: Deciders) -> str | None:
        """What to say if something that was there before is missing now, or is another one."""
        had, now, options = [], [], []
        if before.policy not in (None, self.policy):
            had.append(f"were drawn by {before.policy}")
            now.append(f"they are drawn by {self.policy}" if self.policy else "they are not")
            options.append("--randomise")
        if before.holdout not in (None, self.holdout):
            had.append(f"had a holdout {before.holdout}")
            now.append(f"it is {self.holdout}" if self.holdout else "there is none")
            options.append("--holdout")
        if not had:
            return None
        return (
            f"the last decisions {' and '.join(had)}; now {' and '.join(now)}: "
            f"give {' and '.join(options)} again if that was not meant"
        )
