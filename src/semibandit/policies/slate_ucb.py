"""Figure 2 of the paper: upper-confidence ranking of labels from feedback on what was shown."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError, UnprovenWidth
from semibandit.models.full import Full, FullState
from semibandit.models.model import (
    Arrays,
    DeterminantState,
    ForgettingState,
    Look,
    Model,
    Sparse,
    State,
    Vector,
    why_unproven,
)
from semibandit.models.partial import PartialState
from semibandit.models.sharded.model import ShardedModel
from semibandit.policies.batch import worth_compiling
from semibandit.policies.best_labels import BestLabels
from semibandit.policies.choice import Choice
from semibandit.policies.examination import (
    at_positions,
    examination_words,
    looked_at,
    read_examination,
    up_to_last_click,
)
from semibandit.policies.fast_rule import (
    PROBE_DEVIATIONS,
    FastRule,
    LearningRule,
    can_compile_loss,
    can_compile_state,
    defines,
    redefined,
)
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.forgetting import read_half_life
from semibandit.policies.fused_learning import learned_in_one_call
from semibandit.policies.labels import Label
from semibandit.policies.looks import is_partial, looks_of, partial_state
from semibandit.policies.randomness import coins, coins_of, position_coins
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View, Views
from semibandit.theory.cost import Cost, decreasing
from semibandit.theory.slate import SCORE_GRID
from semibandit.theory.surrogate import Square, Surrogate
from semibandit.theory.width import (
    LogDet,
    Scaled,
    Width,
    is_confidence_width,
    is_spread_width,
    reads_log_det,
)

__all__ = ["SecondOrder", "SlateUCB"]

# What a class may define anew and still be learned by compiled loops: it only decides.
DECIDING = frozenset(
    {
        *("_best_spread", "_choose", "_decide", "_distribution", "_judge", "_judged", "_pick"),
        *("_probe", "_probes", "_spread", "_view", "draws", "fast_rule", "learning_rule"),
        *("rank", "rank_many", "scores", "unproven"),
    }
)


class SecondOrder(BestLabels):
    """Weights and matrices per label, learned as in Figure 2; how it explores is open."""

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label],
        model: Model, loss: Surrogate, cost: Cost, a: float, scale: str, bias: bool,
        seed: int, *, project: str = "learned", probe: float = 0.0, at_least: int = 0,
        forget: float | None = None, examination: Sequence[float] | str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(loss, Surrogate):
            raise InputError(f"loss must be a Surrogate such as Square(), got {loss!r}")
        if isinstance(model, type) or not hasattr(model, "start"):
            raise InputError(f"model must be Full(), Diagonal() or Dual(...), got {model!r}")
        if project not in ("learned", "all"):
            raise InputError(f"project = {project!r}, but it must be 'learned' or 'all'")
        if not is_number(probe) or not 0 <= probe <= 1:
            raise InputError(f"probe = {probe!r}, but it is a share of the rounds, from 0 to 1")
        self.examination = read_examination(examination)
        self.model, self.loss, self.project, self.probe = model, loss, project, float(probe)
        super().__init__(
            n_features, labels, cost, a, scale, bias, seed, sparse=model.sparse, at_least=at_least
        )
        self._state: State = self._start(len(self._labels.names))
        if isinstance(model, ShardedModel):  # where labels are is no part of what was learned
            self.model = model.model
        self.forget = self._set_half_life(forget)

    def _start(self, n_labels: int) -> State:
        return self.model.start(n_labels, self.n_inputs)

    def _set_half_life(self, forget: float | None) -> float | None:
        """Have the state forget with this half-life, and return it."""
        half_life = read_half_life(forget)
        if half_life is None:
            return None
        if not isinstance(self._state, ForgettingState):
            raise InputError(f"forget = {forget}, but the model {self.model!r} cannot forget")
        self._state.set_half_life(half_life)
        return half_life

    def count_rounds(self, rounds: int) -> None:
        super().count_rounds(rounds)
        if self.forget is not None:
            cast(ForgettingState, self._state).advance(rounds)

    @property
    def undecided(self) -> int:
        """How often float32, on a device, could not tell two of the best labels apart."""
        return int(getattr(self._state, "undecided", 0))

    def _margins(self, x: Vector, rows: Ints) -> tuple[Look, Ints]:
        """What learning these rows needs to see of x, and the places of these rows in it.

        If these rows alone are projected, a state that can looks at them alone. Margins are
        computed anew: what is learned does not depend on how the slate was ranked.
        """
        if self._learns_alone:
            state = cast(PartialState, self._state)
            return state.margins_at(x, rows), np.arange(len(rows))
        return self._state.margins(x), rows

    @property
    def _learns_alone(self) -> bool:
        """Whether `learn` touches no rows but those that learn."""
        return self.project == "learned" and is_partial(type(self._state))

    def _view(self, x: Vector, request: Request) -> View:
        return self._judged(self._state.look(x), request, None)

    def _view_of(self, x: Vector, request: Request, rows: Ints | None) -> View:
        state = self._partial_state(rows)
        if state is None:
            return super()._view_of(x, request, rows)
        assert rows is not None
        return self._judged(state.look_at(x, rows), request, rows)

    def _views_of(
        self, xs: Sequence[Vector], requests: Sequence[Request], rows: Sequence[Ints | None]
    ) -> Views:
        if defines(self, SecondOrder, "_view", "_view_of"):
            return super()._views_of(xs, requests, rows)
        margin, norm2, ptr = looks_of(self._state, xs, rows, len(self._tie))
        rule = self.fast_rule()
        if rule is not None and rule.loss is not None and worth_compiling(len(margin)):
            from semibandit.policies.batch_compiled import judge_labels

            return Views(judge_labels(self._spread(self._t), rule.loss, margin, norm2), ptr, rows)
        views = []
        for b, (x, request) in enumerate(zip(xs, requests, strict=True)):
            part = slice(*ptr[b : b + 2].tolist())
            views.append(self._judged(Look(x, margin[part], norm2[part]), request, rows[b]))
        return Views.joined(views)

    def _partial_state(self, rows: Ints | None) -> PartialState | None:
        """The state, if it is to look at these rows alone; None if it looks at all."""
        usual = not defines(self, SecondOrder, "_view")
        return partial_state(self._state, rows, len(self._tie)) if usual else None

    @property
    def _grid(self) -> float:
        return float(getattr(self._state, "grid", SCORE_GRID))

    def _judged(self, look: Look, request: Request, rows: Ints | None) -> View:
        """The view of a look at these rows, with the norms."""
        return self._judge(look, request, rows).of(look.norm2, rows)

    def _judge(self, look: Look, request: Request, rows: Ints | None = None) -> View:
        """Go by the estimates alone; learners that explore override this.

        `rows` are those that the look is of; None for all.
        """
        margin = np.clip(look.margin, -self.loss.R, self.loss.R)
        prob = self.loss.prob(margin)
        return View(margin, np.zeros_like(margin), prob, margin, prob)

    def _probe(self, view: View, x: Vector, picked: Ints) -> int:
        """The place that could be best, by the margin and `PROBE_DEVIATIONS` deviations."""
        assert view.norm2 is not None
        deviation = np.sqrt(np.maximum(view.norm2, 0.0) / self.loss.c_L2)
        score = np.rint((view.margin + PROBE_DEVIATIONS * deviation) * self._grid)
        score[picked] = -np.inf
        best = np.flatnonzero(score == score.max())
        return int(best[np.argmin(self._ties(view)[best])])

    def _examined(self, slate: Slate, clicked: Sequence[Label]) -> list[Label] | None:
        """The labels that were looked at by `examination`: clicked ones, and some of the others.

        Which ones follows from the seed, the round and the context as it was given.
        """
        theta, shown = self.examination, slate.labels
        if theta is None or isinstance(theta, str):
            return None if theta is None else up_to_last_click(shown, clicked)
        known = [(k, row) for k, row in enumerate(self._labels.find(shown)) if row is not None]
        at, rows = np.array(known, dtype=np.intp).reshape(-1, 2).T
        (look, places), R = self._margins(slate.x, rows), self.loss.R
        margin = np.zeros(len(shown))  # labels that were retired meanwhile learn in no case
        margin[at] = np.clip(look.margin[places], -R, R)
        estimate = Surrogate.prob(self.loss, margin)  # by the slopes: the same bits everywhere
        given = slate.context
        rows_of_one = given if isinstance(given, Sparse) else given[None]
        coins = position_coins(self.seed, self._t, rows_of_one, len(shown))[0]
        seen = coins < looked_at(at_positions(theta, len(shown)), estimate)
        hits = set(clicked)
        return [label for k, label in enumerate(shown) if seen[k] or label in hits]

    def _probes(
        self, views: Views, xs: Sequence[Vector], choices: Sequence[Choice]
    ) -> list[int | None]:
        plain = not defines(self, SecondOrder, "_probe") and views.flat.norm2 is not None
        if not self.probe or not plain or not worth_compiling(len(views.flat)):
            return super()._probes(views, xs, choices)
        from semibandit.policies.batch_compiled import find_probes

        return find_probes(views, self.loss.c_L2, self._tie, self._grid, choices)

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        """Steps 2 and 5 of Figure 2: project labels onto D, then move those that were seen.

        Paper: Figure 2.
        """
        if learned_in_one_call(self, slate.x, rows, signs):
            return
        R, (look, places) = self.loss.R, self._margins(slate.x, rows)
        margin = np.clip(look.margin, -R, R)
        steps = signs * self.loss.slope(signs * margin[places]) / self.loss.c_L2
        self._step(look, margin, rows, steps)

    def _step(self, look: Look, margin: Floats, rows: Ints, steps: Floats) -> None:
        """Project onto D, where margins are `margin`, and move the rows that were seen."""
        change = margin - look.margin
        if self._learns_alone:
            cast(PartialState, self._state).step_at(look, rows, change, steps)
            return
        moved = np.flatnonzero(change)
        if self.project == "learned":
            moved = np.intersect1d(moved, rows)
        self._state.step(look, moved, change[moved], rows, steps)

    def _spread(self, t: int) -> float:
        """ε / sqrt(x·A⁻¹x) in round t: nothing is explored here."""
        return 0.0

    def _rule(self, *, scores: bool) -> FastRule:
        """The learner's fast rule; `scores` says whether margins and widths make its scores."""
        compiled = scores and can_compile_loss(self.loss)
        loss = self.loss if compiled else None
        probes = self.probe > 0 and self.a < 1  # with a = 1 no slot is ever free
        return FastRule(
            self.a, self.cost, loss, self._spread, self._state, self._tie, self._labels,
            self.at_least, self.project == "all", self._coins if probes else None, self._grid,
            learns_all_shown=self.examination is None,
        )  # fmt: skip

    def learning_rule(self) -> LearningRule | None:
        known = can_compile_loss(self.loss) and can_compile_state(self._state)
        if redefined(self, SecondOrder, apart_from=DECIDING) or not known:
            return None
        if self.project == "all" or self.forget is not None or type(self._state) is not FullState:
            return None
        return LearningRule(self.loss, self._state, self.examination)

    def _coins(self, X: Any) -> Bools:
        """Whether a label may be probed in each of the next rounds, whose contexts are given."""
        return coins(self.seed, self._t, 0, X) < self.probe

    def _coins_of(self, requests: Sequence[Request]) -> Sequence[bool]:
        if not self.probe:
            return [False] * len(requests)
        tossed = coins_of(self.seed, self._t, [(one.draw, one.given) for one in requests])
        return [one < self.probe for one in tossed]

    @property
    def _probing(self) -> float:
        return self.probe

    def _settings(self) -> dict[str, object]:
        names = ("model", "loss", "project", "at_least", "forget")
        settings: dict[str, object] = {name: getattr(self, name) for name in names}
        if self.examination is not None:  # files without it can be read by older versions
            settings["examination"] = examination_words(self.examination)
        return settings

    def _resize(self, more: int, fresh: Ints) -> None:
        if more:
            self._state.add(more)
        if len(fresh):
            self._state.reset(fresh)

    def _arrays(self) -> Arrays:
        return {f"model.{name}": array for name, array in self._state.arrays().items()}

    def _restore(self, arrays: Arrays) -> None:
        inner = {name.removeprefix("model."): array for name, array in arrays.items()}
        self._state.restore(inner)


class SlateUCB(SecondOrder):
    """Figure 2: rank labels by p̂ = p([margin + ε]_D), cut by Lemma 1, learn from what was shown.

    Paper: Figure 2.

    Parameters
    ----------
    n_features : int, Features or Hashed
        How many numbers a context has; or the named features of contexts that are dictionaries,
        `sb.Features(hour="number", device="category")`, or `sb.Hashed(256)` for any names.
    labels : int or sequence of labels
        What can be shown: names (strings or whole numbers), or how many.
    model : Model
        How weights and matrices are kept: `Full()` is the paper's, `Diagonal()` for thousands of
        features, `Dual(kernel)` for relevance that is not linear in the context.
    loss : Surrogate
        The link from margins to probabilities: `Square()`, `Logistic(R)`, or your own `Surrogate`.
    width : Width
        How much to explore: `Scaled(alpha)` in practice; `KnownNorm(U)` and `UnknownNorm()` are
        the theorems' own, and `LogDet(U)` theirs for kernels; they warn (`UnprovenWidth`) where
        nothing is proven of them. Any function of the form of `Width` will do.
    cost : function or table
        What a wrong label costs in which position: `decreasing`, `constant`, any function c(i, s)
        of position and slate size, or a table of rows.
    a : float
        The weight of missed labels against wrong ones, from 0 to 1. Towards 1 slates get longer;
        1 is pure ranking, which fills every slot.
    scale : {"standard", "unit", "none"}
        How contexts are scaled. "standard": each feature by its mean and deviation in the contexts
        learned so far, then to unit length; "unit": to unit length as they are, as the paper
        assumes; "none": not at all.
    bias : bool
        Whether a constant feature is appended. Leave it unless your contexts have one.
    project : {"learned", "all"}
        Whose weights are projected onto D when a round is learned: those of the labels that learn
        from it, or those of all labels, as in Figure 2.
    probe : float
        In this share of the rounds with a free slot, one more label is shown at the end of the
        slate, to be tried: otherwise a label that was given up too soon would never come back.
    at_least : int
        How many labels to show at least, whatever the loss says, if there are so many.
    forget : float, optional
        A half-life in rounds, at least 1, for tastes that change: feedback loses half its weight in
        so many rounds. By default nothing is forgotten.
    examination : sequence of float or "up to the last click", optional
        How likely the label at each position is looked at, as `position_bias` estimates it: a label
        that was not clicked is then learned from only as often as it was looked at. The last number
        holds for further positions. "up to the last click" takes the labels down to the last click
        as looked at, all of them if nothing was clicked. By default all labels shown are.
    seed : int
        Orders labels that are equal, and starts all random draws.

    Examples
    --------
    >>> bandit = SlateUCB(n_features=2, labels=["tea", "coffee", "juice"], width=Scaled(0.5))
    >>> slate = bandit.rank([1.0, 0.0], slots=2)
    >>> bandit.learn(slate, clicked=slate.labels[:1])
    >>> bandit.rank([1.0, 0.0], slots=2).labels[0] == slate.labels[0]
    True
    """

    _longer = False  # whether a context was longer than 1

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        model: Model = Full(),
        loss: Surrogate = Square(), width: Width | LogDet = Scaled(), cost: Cost = decreasing,
        a: float = 0.5, scale: str = "standard", bias: bool = True, project: str = "learned",
        probe: float = 0.1, at_least: int = 0, forget: float | None = None,
        examination: Sequence[float] | str | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        if isinstance(width, type) or not callable(width):
            raise InputError(f"width must be Scaled(alpha) or another width, got {width!r}")
        self.width = width
        super().__init__(
            n_features, labels, model, loss, cost, a, scale, bias, seed,
            project=project, probe=probe, at_least=at_least, forget=forget,
            examination=examination,
        )  # fmt: skip
        if reads_log_det(width):
            self._determinants()
        if not is_confidence_width(width):
            return
        if (why := self.unproven) is not None:
            warn_unproven(width, why)
        elif scale == "none" and width.unit_length and not getattr(model, "any_length", False):
            self._scaling.on_longer = self._warn_longer

    @property
    def unproven(self) -> str | None:
        """Why the widths need not cover the truth (Lemma 7), in words; None if they do.

        It knows the settings and the contexts since the learner was made or loaded, not the world:
        that labels follow eq. (2) is yours to say.

        Examples
        --------
        >>> import semibandit as sb
        >>> sb.SlateUCB(2, 3, width=sb.KnownNorm(1.0)).unproven
        >>> sb.SlateUCB(2, 3).unproven
        'Scaled(alpha=0.25) is no confidence bound'
        """
        if not is_confidence_width(self.width):
            return f"{self.width!r} is no confidence bound"
        if (why := why_unproven(self.model, unit_length=self.width.unit_length)) is not None:
            return why
        if self.forget is not None:
            return f"forget={self.forget:g} makes A_i smaller again"
        if self.examination is not None:
            return "with examination, what is learned depends on what was clicked"
        return "a context was longer than 1" if self._longer else None

    def _determinants(self) -> DeterminantState:
        """The state, if it knows ln|A_i|."""
        if not hasattr(self._state, "log_det"):
            name = type(self._state).__name__
            raise InputError(
                f"width = {self.width!r} needs ln|A_i|, which a {name} does not give; take Full() "
                "or Dual(kernel), undivided and not on a device"
            )
        return cast(DeterminantState, self._state)

    def _warn_longer(self) -> None:
        """Warn of a context that is longer than 1, once."""
        self._scaling.on_longer, self._longer = None, True
        warn_unproven(self.width, "a context is longer than 1; scale='unit' makes them of length 1")

    def _judge(self, look: Look, request: Request, rows: Ints | None = None) -> View:
        R = self.loss.R
        margin = np.clip(look.margin, -R, R)  # step 2: Δ̂' of the projected weights
        d, K = self._state.dimension(self._t), self._labels.ever
        if reads_log_det(self.width):
            log_det = self._determinants().log_det(rows)
            width = self.width(look.norm2, t=self._t, d=d, K=K, loss=self.loss, log_det=log_det)
        else:
            plain = cast(Width, self.width)
            width = plain(look.norm2, t=self._t, d=d, K=K, loss=self.loss)
        if np.shape(width) != margin.shape or not np.all(np.isfinite(width)):
            raise InputError(f"{self.width!r} must give a finite width for each of the labels")
        width = np.minimum(width, 2.0 * R)  # a width of the user's own, too
        score = margin + width  # unclipped: it orders labels whose p̂ is the same
        prob = self.loss.prob(np.clip(score, -R, R))  # step 3
        return View(margin, width, self.loss.prob(margin), score, prob)

    def fast_rule(self) -> FastRule | None:
        if redefined(self, SlateUCB):
            return None
        return self._rule(scores=is_spread_width(self.width))

    def _best_spread(self) -> float | None:
        usual = is_spread_width(self.width) and not redefined(self, SlateUCB)
        return self._spread(self._t) if usual else None

    def _spread(self, t: int) -> float:
        assert is_spread_width(self.width)
        return self.width.spread(t, self._state.dimension(t), self._labels.ever, self.loss)

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "width": self.width, "probe": self.probe}


def warn_unproven(width: object, why: str) -> None:
    """Warn that a width of the theorems is used where nothing is proven."""
    warnings.warn(
        f"width = {width!r}, but Lemma 7 does not say that it covers the truth here: {why}",
        UnprovenWidth,
        stacklevel=3,
    )
