"""A learner on a device beside the same learner in float64: do they show the same?"""

from dataclasses import dataclass

import numpy as np

import semibandit as sb
from semibandit.models.gpu.precision import error_of

CLICKS = 0.35


@dataclass
class Beside:
    """How many rounds were played, and in how many slates differed; `near` of them in near-ties."""

    rounds: int = 0
    differ: int = 0
    near: int = 0
    worst: float = 0.0  # the largest difference of a score
    undecided: int = 0

    @property
    def wrong(self) -> int:
        return self.differ - self.near


def pair(d, labels, device, **options):
    """The learner in float64, and the same on a device."""
    options = {"scale": "unit", "bias": False} | options
    return (
        sb.SlateUCB(d, labels, model=sb.Full(), **options),
        sb.SlateUCB(d, labels, model=sb.Full(device=device), **options),
    )


def contexts(T, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def answer(slate, t):
    """Labels of the slate that are clicked: some, depending on the label and the context."""
    taste = [np.sin(1000.0 * (hash(str(label)) % 997) * slate.x[0] + t) for label in slate.labels]
    return [label for label, one in zip(slate.labels, taste, strict=True) if one > 1 - 2 * CLICKS]


def differ_nearly(cpu, gpu, one, two, x):
    """Whether two slates differ in labels alone whose scores float32 cannot tell apart."""
    scores = cpu.scores(x)
    score = dict(zip(scores.labels, (scores.margin + scores.width).tolist(), strict=True))
    prob = dict(zip(scores.labels, scores.prob.tolist(), strict=True))
    error = error_of(cpu.loss.R)
    if one.probe is not None and two.probe is not None and one.probe != two.probe:
        return abs(score[one.probe] - score[two.probe]) < 2 * error
    if len(one) != len(two):  # cut at another place: J of both sizes must be as good as equal
        short, long = sorted((one.labels, two.labels), key=len)
        gain = [prob[label] for label in long[len(short) :]]
        return short == long[: len(short)] and abs(sum(gain) - len(gain) * 0.5) < 1e-3
    pairs = zip(one.labels, two.labels, strict=True)
    return all(a == b or abs(score[a] - score[b]) < error for a, b in pairs)


def play_beside(cpu, gpu, X, slots, *, each=lambda t, cpu, gpu: {}, learn=None):
    """Rank with both, and let both learn the slate of the one in float64.

    `each` is called before every round, and may change both; it returns keywords for `rank`.
    """
    found, learn = Beside(), learn or _learn
    for t, x in enumerate(X):
        how = each(t, cpu, gpu)
        one, two = cpu.rank(x, slots, **how), gpu.rank(x, slots, **how)
        found.rounds += 1
        if one.labels != two.labels or one.probe != two.probe:
            found.differ += 1
            found.near += differ_nearly(cpu, gpu, one, two, x)
        else:
            gap = np.abs(one.margin + one.width - two.margin - two.width)
            found.worst = max(found.worst, float(gap.max(initial=0.0)))
        learn(t, cpu, gpu, one)
    found.undecided = gpu._state.undecided
    return found


def _learn(t, cpu, gpu, slate):
    clicked = answer(slate, t)
    cpu.learn(slate, clicked)
    gpu.learn(slate, clicked)
