"""What a policy around a learner hands on to it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from semibandit._util.arrays import Floats
from semibandit.policies.features.encoded import NewValues
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import CandidateSet, Label
from semibandit.policies.learner import Learner
from semibandit.policies.slate import Scores, Slate
from semibandit.theory.cost import Costs

__all__ = ["LearnerWrapper"]


class LearnerWrapper(ABC):
    """All of a learner but ranking and saving: the methods and properties of `.learner`."""

    learner: Learner

    def learn(
        self, slate: Slate, clicked: Iterable[Label], examined: Iterable[Label] | None = None
    ) -> None:
        """Let the learner learn from the answer to a slate; see `Learner.learn`."""
        self.learner.learn(slate, clicked, examined)

    def expect(self, slates: Slate | Iterable[Slate]) -> None:
        """Say that slates have been shown whose feedback comes later; see `Learner.expect`."""
        self.learner.expect(slates)

    def candidates(self, labels: Iterable[Label]) -> CandidateSet:
        """Prepare candidates that are used again and again; see `Learner.candidates`."""
        return self.learner.candidates(labels)

    def scores(
        self, x: Any, *, candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None, draw: int = 0,
    ) -> Scores:  # fmt: skip
        """What the learner thinks of labels; see `Learner.scores`."""
        return self.learner.scores(x, candidates=candidates, exclude=exclude, draw=draw)

    def shown(
        self, x: Any, labels: Iterable[Label], slots: int | None = None, *,
        seen: Floats | None = None, new: NewValues | None = None, retired: Iterable[Label] = (),
    ) -> Slate:  # fmt: skip
        """Make a slate for `learn` from what a log says was shown; see `Learner.shown`."""
        return self.learner.shown(x, labels, slots, seen=seen, new=new, retired=retired)

    def add_labels(self, labels: int | Sequence[Label]) -> list[Label]:
        """Add labels while running; see `Learner.add_labels`."""
        return self.learner.add_labels(labels)

    def retire_labels(self, labels: Iterable[Label]) -> None:
        """Never show these labels again; see `Learner.retire_labels`."""
        self.learner.retire_labels(labels)

    @property
    def labels(self) -> list[Label]:
        """The labels that can be shown."""
        return self.learner.labels

    @property
    def n_labels(self) -> int:
        """How many labels can be shown."""
        return self.learner.n_labels

    @property
    def t(self) -> int:
        """The present round: 1 + the number of rounds learned."""
        return self.learner.t

    @property
    def a(self) -> float:
        """The learner's weight of missed labels."""
        return self.learner.a

    @property
    def cost(self) -> Costs:
        """The learner's position costs."""
        return self.learner.cost

    @property
    def seed(self) -> int:
        """The learner's seed, which starts the draws of the policy, too."""
        return self.learner.seed

    @property
    def n_features(self) -> int:
        """How many numbers a context has."""
        return self.learner.n_features

    @property
    def features(self) -> NamedFeatures | None:
        """The named features of contexts, if the learner was made with some."""
        return self.learner.features

    @property
    def full_information(self) -> bool:
        """Whether `learn` wants all relevant labels."""
        return self.learner.full_information

    @property
    def one_slot(self) -> bool:
        """Whether the learner can show only one label."""
        return self.learner.one_slot

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self).__name__
        if name == "save":
            raise AttributeError(
                f"{kind} has nothing to save but its learner: policy.learner.save(path), and "
                f"afterwards {kind}(sb.load(path), ...) again"
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}; its learner is .learner")
