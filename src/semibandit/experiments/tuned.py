"""What tuning found: the best setting, and how to make its learner."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from semibandit.evaluation.off_policy.result import Estimate, Evaluation
from semibandit.experiments.setting import Setting
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.learner_spec import LearnerSpec

__all__ = ["Tuned"]


@dataclass(frozen=True)
class Tuned:
    """What `tune` found.

    Attributes
    ----------
    best : Setting
        The setting with the least loss.
    loss : float
        Its average loss ℓ_{a,c} per round, the mean over seeds.
    tried : list of (Setting, float)
        Every setting that was tried, with its loss.
    estimator : str, optional
        If it was tuned on a log, the estimator of the value: the loss is minus that.
    evaluation : Evaluation, optional
        If it was tuned on a log, all that was found of the best setting.
    refused : list of (Setting, str)
        Settings that the log says nothing of, with the reason.
    present : Estimate, optional
        If it was tuned on a log, the value of the log's own settings, begun anew.
    difference : Estimate, optional
        How much more the best setting would have earned than the log's own, with an interval over
        the same visits.

    Examples
    --------
    >>> import semibandit as sb
    >>> X, Y = [[1, 0], [0, 1]] * 20, [[1, 0], [0, 1]] * 20
    >>> found = sb.tune(X, Y, alphas=(0.1,), losses=("square",), slot_limits=(), jobs=1)
    >>> found.learner(n_features=2, labels=2).width
    Scaled(alpha=0.1)
    """

    best: Setting
    loss: float
    tried: list[tuple[Setting, float]]
    estimator: str | None = None
    evaluation: Evaluation | None = None
    refused: list[tuple[Setting, str]] = field(default_factory=list)
    present: Estimate | None = None
    difference: Estimate | None = None

    def learner(self, n_features: int | NamedFeatures, labels: int | Sequence[Label]) -> Learner:
        """A new learner with the best setting. Rank with `slots=tuned.best.slots`."""
        return self.best.build(n_features, labels)

    def curves(self, slots: int | None) -> dict[str, dict[float, float]]:
        """The loss by alpha, for each surrogate and bias that was tried with so many slots."""
        curves: dict[str, dict[float, float]] = {}
        for setting, loss in self.tried:
            if setting.slots == slots:
                name = f"{setting.loss}{' + bias' if setting.bias else ''}"
                curves.setdefault(name, {})[float(setting.width.partition(":")[2])] = loss
        return curves

    def code(self, n_features: object = "n_features", labels: object = "labels") -> str:
        """The Python expression that makes the best learner, with what is not the default."""
        best, default = (_keywords(setting) for setting in (self.best, Setting("")))
        shown = {"width", "loss", "bias"} | {key for key in best if best[key] != default[key]}
        keywords = ", ".join(f"{key}={value}" for key, value in best.items() if key in shown)
        return f"sb.SlateUCB({n_features}, {labels}, {keywords})"

    def options(self) -> str:
        """The best setting as `semibandit serve` and `replay` take it, without defaults.

        The weight a is always there, because its default is not the same for both.
        """
        default, best = LearnerSpec().json(), self.best.json()
        words = []
        for field_ in fields(LearnerSpec):
            key, value = field_.name, best.get(field_.name)
            if key == "bias":
                words.append("--bias" if value else "--no-bias")
            elif key in ("width", "loss", "a") or value != default.get(key):
                words.append(f"--{key.replace('_', '-')} {value}")
        return " ".join(words)

    def verdict(self) -> str:
        """Whether the best setting is better than the log's own by more than noise, in words."""
        caution = (
            f"The best of {len(self.tried)} looks better than it is: judge it again on visits that "
            "were not used to choose it."
        )
        one = self.difference
        if one is None or one.value is None or one.low is None or one.high is None:
            return f"Whether it is better than the log's own settings is not known. {caution}"
        if one.value == one.low == one.high == 0:
            return f"These are the log's own settings. {caution}"
        told = f"{one.value:+.4f} [{one.low:+.4f}, {one.high:+.4f}] per visit"
        if one.low > 0:
            return f"It would have earned more than the log's own settings: {told}. {caution}"
        return f"It differs from the log's own settings by no more than noise: {told}. {caution}"

    def __str__(self) -> str:
        tried = f"the best of {len(self.tried)} settings"
        if self.estimator is not None:
            value = f"value {-self.loss:.4f} by {self.estimator}, {tried}"
            return f"{self.code()}: {value}. {self.verdict()}"
        return f"{self.code()}, slots={self.best.slots}: average loss {self.loss:.4f}, {tried}"


def _keywords(setting: Setting) -> dict[str, str]:
    """The keywords that make a setting's learner, as Python."""
    learner: Any = setting.build(1, 1)  # its parts are objects, whose repr is nearly Python
    cost = learner.cost.cost
    return {
        "width": _python(learner.width),
        "loss": _python(learner.loss),
        "bias": repr(setting.bias),
        "model": _python(learner.model),
        "cost": f"sb.{cost.__name__}" if callable(cost) else repr([row.tolist() for row in cost]),
        "a": repr(setting.a),
        "scale": repr(setting.scale),
        "project": repr(setting.project),
        "probe": repr(setting.probe),
        "at_least": repr(setting.at_least),
        "forget": repr(setting.forget),
        "examination": repr(learner.examination),
    }


def _python(part: object) -> str:
    """A part of a learner as Python, with the names that users import."""
    text = re.sub(r"\b(Rbf|Polynomial)\(", lambda name: name[0].lower(), repr(part))
    return re.sub(r"\b(\w+\(|linear\b)", r"sb.\1", text.replace("Linear()", "linear"))
