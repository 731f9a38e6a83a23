"""Figure 2 of the paper: upper-confidence ranking of labels from feedback on what was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from semibandit._arrays import Floats, Ints
from semibandit.models.full import Full
from semibandit.models.model import Arrays, Look, Model, State, Vector
from semibandit.policies.labels import Label
from semibandit.policies.learner import Common, Learner, View, many, stacked
from semibandit.policies.slate import Slate
from semibandit.theory.surrogate import Logistic, Square, Surrogate
from semibandit.theory.width import Scaled, Width, is_ours

__all__ = ["Options", "SecondOrder", "SlateUCB"]


class Options(Common, total=False):
    """What every second-order learner takes besides its features and labels."""

    model: Model  # Full() | Diagonal() | Dual(kernel)
    loss: Surrogate  # Square() | Logistic(R) | your own Surrogate


class SecondOrder(Learner):
    """Weights and matrices per label, learned as in Figure 2; how it explores is open."""

    def __init__(
        self, n_features: int, labels: int | Sequence[Label], **options: Unpack[Options]
    ) -> None:
        self.model = options.pop("model", Full())
        self.loss = options.pop("loss", Square())
        if not isinstance(self.loss, Surrogate):
            raise ValueError(f"loss must be a Surrogate such as Square(), got {self.loss!r}")
        if isinstance(self.model, type) or not hasattr(self.model, "start"):
            raise ValueError(f"model must be Full(), Diagonal() or Dual(...), got {self.model!r}")
        super().__init__(n_features, labels, sparse=self.model.sparse, **options)  # type: ignore[misc]  # popped
        self._state: State = self._start(len(self._labels.names))
        self._last: tuple[int, Look] | None = None

    def _start(self, n_labels: int) -> State:
        return self.model.start(n_labels, self._d)

    def _look(self, x: Vector) -> Look:
        """Margins and norms at x; those of the last look where nothing has changed since."""
        last = self._last
        if last is not None and last[0] == self._changes and last[1].x is x:
            return last[1]
        look = self._state.look(x)
        self._last = (self._changes, look)
        return look

    def _margins(self, x: Vector) -> Look:
        """What learning needs to see of x: all of the last look, or no norms."""
        last = self._last
        if last is not None and last[0] == self._changes and last[1].x is x:
            return last[1]
        return self._state.margins(x)

    def _view(self, x: Vector, draw: int) -> View:
        return self._judge(self._look(x), draw)

    def _views(self, xs: Sequence[Vector], draws: Sequence[int]) -> View:
        looks = map(Look, xs, *self._state.look_many(xs))
        return stacked([*map(self._judge, looks, draws)])

    def _judge(self, look: Look, draw: int) -> View:
        """By the estimates alone; learners that explore say how."""
        margin = np.clip(look.margin, -self.loss.R, self.loss.R)
        prob = self.loss.prob(margin)
        return View(margin, np.zeros_like(margin), prob, margin, prob)

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        """Steps 2 and 5 of Figure 2: project every label onto D, then move those that were seen."""
        R, look = self.loss.R, self._margins(slate.x)
        margin = np.clip(look.margin, -R, R)
        moved = np.flatnonzero(margin != look.margin)
        steps = signs * self.loss.slope(signs * margin[rows]) / self.loss.c_L2
        self._state.step(look, moved, (margin - look.margin)[moved], rows, steps)

    def _settings(self) -> dict[str, object]:
        return {"model": self.model, "loss": self.loss}

    def _resize(self, more: int, fresh: Ints) -> None:
        if more:
            self._state.add(more)
        if len(fresh):
            self._state.forget(fresh)

    def _arrays(self) -> Arrays:
        return {f"model.{name}": array for name, array in self._state.arrays().items()}

    def _restore(self, arrays: Arrays) -> None:
        inner = {name.removeprefix("model."): array for name, array in arrays.items()}
        self._state.restore(inner)


class SlateUCB(SecondOrder):
    """Figure 2: rank labels by p̂ = p([margin + ε]_D), cut by Lemma 1, learn from what was shown.

    >>> bandit = SlateUCB(n_features=2, labels=["tea", "coffee", "juice"], width=Scaled(0.5))
    >>> slate = bandit.rank([1.0, 0.0], slots=2)
    >>> bandit.learn(slate, clicked=slate.labels[:1])
    >>> bandit.rank([1.0, 0.0], slots=2).labels[0] == slate.labels[0]
    True
    """

    def __init__(
        self,
        n_features: int,
        labels: int | Sequence[Label],
        *,
        width: Width = Scaled(),
        **options: Unpack[Options],
    ) -> None:
        if isinstance(width, type) or not callable(width):
            raise ValueError(f"width must be Scaled(alpha) or another width, got {width!r}")
        self.width = width
        super().__init__(n_features, labels, **options)

    def _judge(self, look: Look, draw: int) -> View:
        R = self.loss.R
        margin = np.clip(look.margin, -R, R)  # step 2: Δ̂' of the projected weights
        width = self.width(
            look.norm2,
            t=self._t,
            d=self._state.dimension(self._t),
            K=self._labels.ever,
            loss=self.loss,
        )
        if np.shape(width) != margin.shape or not np.all(np.isfinite(width)):
            raise ValueError(f"{self.width!r} must give a finite width for each of the labels")
        width = np.minimum(width, 2.0 * R)  # a width of the user's own, too
        score = margin + width  # unclipped: it orders labels whose p̂ is the same
        prob = self.loss.prob(np.clip(score, -R, R))  # step 3
        return View(margin, width, self.loss.prob(margin), score, prob)

    def _read_all(self, X: Sequence[Floats]) -> Sequence[Vector]:
        kind = type(self)
        plain = kind._judge is SlateUCB._judge and kind._picks_plainly()  # nothing is drawn
        plain = plain and kind._read is Learner._read and self.normalize and not self._sparse
        if plain and many(len(X) * self.n_features, loading=None):
            from semibandit.policies.together import read_together

            found = read_together(np.array(X), self.bias)
            if found is not None:
                return list(found)
        return super()._read_all(X)

    def _views(self, xs: Sequence[Vector], draws: Sequence[int]) -> View:
        plain = type(self)._judge is SlateUCB._judge and type(self.loss) in (Square, Logistic)
        if not plain or not is_ours(self.width) or not many(len(xs) * len(self._tie)):
            return super()._views(xs, draws)
        from semibandit.policies.together import judge_together

        margin, norm2 = self._state.look_many(xs)
        return View(*judge_together(self._spread(self._t), self.loss, margin, norm2))

    def _spread(self, t: int) -> float:
        """ε / sqrt(x·A⁻¹x) in round t, where the width is ours."""
        assert is_ours(self.width)
        d, K = self._state.dimension(t), self._labels.ever
        return self.width.spread(t, d, K, self.loss)

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "width": self.width}
