"""The regret lab: exact regret in worlds whose truth is known, against the paper's bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.evaluation.play import play
from semibandit.evaluation.replay import replay
from semibandit.evaluation.trace import Trace, log_spaced
from semibandit.experiments.paper.newton_step import NewtonStep
from semibandit.experiments.paper.plans import FIGURE_2
from semibandit.experiments.setting import Setting
from semibandit.policies.learner import Learner
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.spec import parse
from semibandit.theory import bounds
from semibandit.theory.losses import LossKind
from semibandit.worlds.adversarial import Adversarial
from semibandit.worlds.synthetic import Synthetic

__all__ = [
    "PICTURES",
    "expected_losses",
    "lab_runs",
    "play_random_game",
    "play_run",
    "slope",
]

MARKS = 120
LONG = 600  # times the rounds of the others
SHORT_SIZE, LONG_SIZE = (4, 8), (2, 4)  # features and labels
SLOTS = 3  # of rounds that are not long; where they vary, up to twice as many
RANKING = {"a": 1.0, "kind": "p_rank"}

# The lab's pictures and the lines in each: parts of a setting, the world (`correlation` of its
# labels; an `adversary` chooses contexts and slots; `varying` slots), the loss that regret is
# measured in (`kind`), the theorem that bounds it (`bound`), and how many rounds (`long`, `most`).
PICTURES: dict[str, dict[str, dict[str, Any]]] = {
    "theorems": {
        "KnownNorm(U), Theorem 1": {"width": "known", "bound": "theorem1", "long": True},
        "UnknownNorm, Theorem 2": {"width": "unknown", "bound": "theorem2", "long": True},
        "KnownNorm(U), correlated labels": {"width": "known", "correlation": 0.5, "long": True},
        "Scaled(1)": {"long": True},
    },
    "ranking": {
        "KnownNorm(U), Theorem 3": {
            "width": "known", **RANKING, "bound": "theorem3", "long": True, "slots": 2,
        },
        "Scaled(1)": {**RANKING, "long": True, "slots": 2},
        "KnownNorm(U), adversary": {
            "width": "known", **RANKING, "bound": "theorem3", "adversary": True,
        },
        "Scaled(1), adversary": {**RANKING, "adversary": True},
    },
    "learners": {
        "Scaled(1)": {},
        "Scaled(1), A grows by ∇∇ᵀ": {"gradient": True},
        "Scaled(1), correlated labels": {"correlation": 0.5},
        "Greedy": {"learner": "Greedy"},
        "Random": {"learner": "Random"},
    },
    "models": {
        "full": {},
        "diagonal": {"model": "diagonal"},
        "dual, rbf": {"model": "rbf:0.5", "most": 500},  # O(N²) a round
        "full, S varying": {"varying": True},
    },
    "adversary": {
        "KnownNorm(U), Theorem 1": {"width": "known", "bound": "theorem1", "adversary": True},
        "Scaled(1)": {"adversary": True},
        "Greedy": {"learner": "Greedy", "adversary": True},
        "Random": {"learner": "Random", "adversary": True},
    },
}  # fmt: skip


def lab_runs(rounds: int, seeds: int) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The runs of `play_run` by (picture, line, seed)."""
    return {
        (picture, line, seed): {"picture": picture, "line": line, "seed": seed, "rounds": rounds}
        for picture, lines in PICTURES.items()
        for line in lines
        for seed in range(seeds)
    }


def play_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """Play one line of a picture; the function of the regret lab's sweep.

    Parameters
    ----------
    run : mapping
        picture, line, seed, and the rounds of lines that are not long.

    Returns
    -------
    dict
        Regret at some rounds (marks), at the end (final), its log-log slope in the last ten-fold
        of the rounds and in the one before, the share of rounds in which all intervals covered the
        truth if it was looked at, and the bound at the same rounds if there is one.
    """
    line = PICTURES[run["picture"]][run["line"]]
    T = int(run["rounds"])
    world = _world(line, int(run["seed"]))
    learner = _learner(line, world)
    kind: LossKind = line.get("kind", "ac")
    covered = None
    if line.get("long"):
        T, limit = LONG * T, line.get("slots")
        regret = _long_regret(learner, world, T, limit, kind)
    else:
        T = min(T, line.get("most", T))
        limit = 2 * SLOTS if line.get("adversary") or line.get("varying") else SLOTS
        slots = [1 + t % limit for t in range(T)] if line.get("varying") else limit
        known = isinstance(learner, SlateUCB)
        played = play(learner, world, T, slots, kind=kind, coverage=known, progress=False)
        regret = played.regret
        covered = None if played.covered is None else float(played.covered.mean())
    marks = log_spaced(T, MARKS)
    result = {
        "marks": marks.tolist(),
        "regret": regret[marks - 1].tolist(),
        "final": float(regret[-1]),
        "slope": slope(regret, T // 10, T),
        "slope_before": slope(regret, T // 100, T // 10),
        "covered": covered,
    }
    if "bound" in line:
        result["bound"] = [_bound(line["bound"], int(t), world, learner.a, limit) for t in marks]
    return result


def slope(regret: Any, first: int, last: int) -> float | None:
    """The slope of log regret against log t, fitted from round `first` to round `last`.

    1 is linear growth, 1/2 the rate of the theorems. Rounds count evenly on the logarithmic axis.
    None if there are too few rounds or no regret.
    """
    t = np.unique(np.geomspace(max(first, 1), max(last, 1), MARKS).round().astype(np.intp))
    values = np.asarray(regret)[t - 1]
    if len(t) < 2 or values[0] <= 0:
        return None
    return float(np.polyfit(np.log(t), np.log(values), 1)[0])


def expected_losses(
    kind: LossKind, prob: Floats, shown: Ints, sizes: Ints, learner: Learner, S: int
) -> Floats:
    """The expected loss of many slates at once, one of each round, with independent labels.

    Parameters
    ----------
    kind : {"ac", "p_rank"}
        The loss; a and c(i, s) are the learner's.
    prob : array of rounds × labels
        How likely each label is relevant in each round.
    shown : array of rounds × slots
        The slates, padded in any way.
    sizes : array of rounds ints
        How many labels each slate has.
    learner : Learner
        Whose a and costs count.
    S : int
        The slots.

    Returns
    -------
    array of rounds floats
        What `expected_loss` returns for each round.
    """
    losses, total = np.empty(len(prob)), prob.sum(axis=1)
    for s in np.unique(sizes).tolist():
        rounds = np.flatnonzero(sizes == s)
        p = np.take_along_axis(prob[rounds], shown[rounds, :s], axis=1)
        missed = total[rounds] - p.sum(axis=1)
        if kind == "p_rank":
            above = np.cumsum(1.0 - p, axis=1) - (1.0 - p)
            losses[rounds] = (p * above).sum(axis=1) + S * missed
        else:
            wrong = (1.0 - p) @ learner.cost.row(s) if s else 0.0
            losses[rounds] = learner.a * missed + (1.0 - learner.a) * wrong
    return losses


def _world(line: Mapping[str, Any], seed: int) -> Synthetic:
    d, K = LONG_SIZE if line.get("long") else SHORT_SIZE
    correlation = line.get("correlation", 0.0)
    if line.get("long"):
        return Synthetic(d, K, correlation=correlation, seed=seed)
    if line.get("adversary"):
        kind: LossKind = line.get("kind", "ac")
        return Adversarial(d, K, density=0.2, tries=4, slots=(1, 2 * SLOTS), kind=kind, seed=seed)
    return Synthetic(d, K, density=0.2, correlation=correlation, seed=seed)


def _learner(line: Mapping[str, Any], world: Synthetic) -> Learner:
    """The learner of a line; a width "known" knows the norm of the world's weights."""
    width = line.get("width", "scaled:1")
    width = f"known:{world.U!r}" if width == "known" else width
    if line.get("gradient"):
        return NewtonStep(
            world.n_features, world.n_labels, width=parse("width", width), seed=world.seed,
            **FIGURE_2,
        )  # fmt: skip
    parts = {name: line[name] for name in ("learner", "model", "a") if name in line}
    setting = Setting("", **FIGURE_2, **parts, width=width, seed=world.seed)
    return setting.build(world.n_features, world.n_labels)


def _long_regret(
    learner: Learner, world: Synthetic, T: int, slots: int | None, kind: LossKind
) -> Floats:
    """Regret of rounds that a compiled runner plays: contexts are uniform on the sphere."""
    random = np.random.default_rng([world.seed, 9])
    X = random.standard_normal((T, world.n_features))
    X /= np.linalg.norm(X, axis=1)[:, None]
    prob = world.loss.prob(np.clip(X @ world.u.T, -world.loss.R, world.loss.R))
    if world.correlation:
        Y = np.zeros(prob.shape, dtype=np.uint8)
        for t in range(T):
            Y[t, world.relevant(t, X[t])] = 1
    else:
        Y = (random.random(prob.shape) < prob).astype(np.uint8)
    trace = replay(learner, X, Y, slots, threads=1, progress=False)
    return np.cumsum(_regret_of(trace, learner, prob, kind))


def _regret_of(trace: Trace, learner: Learner, prob: Floats, kind: LossKind) -> Floats:
    """Each round's regret against the best slate: by Lemma 1 and Lemma 2 a prefix by p."""
    assert trace.slates is not None
    S = int(trace.slots[0])
    lost = expected_losses(kind, prob, trace.slates.astype(np.intp), trace.sizes, learner, S)
    order, lengths = np.argsort(-prob, axis=1, kind="stable"), range(S + 1)
    prefixes = [
        expected_losses(kind, prob, order, np.full(len(prob), s), learner, S) for s in lengths
    ]
    return np.asarray(lost - np.min(prefixes, axis=0))


def _bound(name: str, T: int, world: Synthetic, a: float, slots: int | None) -> float:
    given = {"T": T, "d": world.n_features, "K": world.n_labels, "U": world.U, "loss": world.loss}
    more = {} if name == "theorem3" else {"a": a}
    return float(getattr(bounds, name)(**given, slots=slots, **more))


# -- worlds drawn at random ----------------------------------------------------------------------


def play_random_game(run: Mapping[str, Any]) -> dict[str, Any]:
    """Play a world, a loss, an a and slots that are drawn at random; is the bound ever broken?

    Theorem 1 and 2 with ℓ_{a,c}, Theorem 3 with ℓ_{p-rank} and a = 1, each with its own width.
    Contexts are drawn, or chosen together with the slots by an adversary that maximises the very
    regret that is measured.

    Parameters
    ----------
    run : mapping
        `seed`, what everything is drawn with, and `rounds`, the most rounds that are drawn.

    Returns
    -------
    dict
        What was drawn; `regret`; `bound`; `closest`, the largest regret ÷ bound of any round in
        which the bound is not 0; and `broken`, the rounds in which regret was above the bound.
    """
    random = np.random.default_rng([int(run["seed"]), 200])
    theorem = ("theorem1", "theorem2", "theorem3")[int(run["seed"]) % 3]
    d, K = int(random.integers(2, 6)), int(random.integers(1, 9))
    loss = ("square", "logistic:1", "logistic:2", "logistic:4")[random.integers(4)]
    a = 1.0 if theorem == "theorem3" else float(random.choice([0.0, 0.1, 0.5, 0.9, 0.95, 1.0]))
    cost = ("decreasing", "constant")[random.integers(2)]
    slots = int(random.integers(1, K + 1))
    limit = slots if theorem == "theorem3" or random.random() < 0.7 else None
    if theorem != "theorem3" and limit == K:
        limit = None  # in all rounds
    kind: LossKind = "p_rank" if theorem == "theorem3" else "ac"
    correlation = 0.0 if theorem == "theorem3" else float(random.choice([0.0, 0.5]))
    adversary = bool(random.random() < 0.5)
    T = int(random.integers(20, int(run["rounds"]) + 1))
    surrogate = parse("loss", loss)
    given = {"loss": surrogate, "correlation": correlation, "seed": int(run["seed"])}
    world: Synthetic
    if adversary:
        chosen: Sequence[int | None] = [limit] if limit in (None, K) else sorted({1, slots})
        world = Adversarial(d, K, **given, tries=3, slots=chosen, kind=kind)
    else:
        world = Synthetic(d, K, **given)
    width = "unknown" if theorem == "theorem2" else f"known:{world.U!r}"
    setting = Setting("", **FIGURE_2, loss=loss, width=width, a=a, cost=cost, seed=world.seed)
    learner = setting.build(d, K)
    regret = play(learner, world, T, limit, kind=kind, progress=False).regret
    bound = np.array([_bound(theorem, t, world, a, limit) for t in range(1, T + 1)])
    above = regret > bound + 1e-9
    ratios = regret[bound > 0] / bound[bound > 0]
    return {
        "theorem": theorem, "d": d, "K": K, "loss": loss, "a": a, "cost": cost, "slots": limit,
        "correlation": correlation, "adversary": adversary, "rounds": T,
        "regret": float(regret[-1]), "bound": float(bound[-1]),
        "closest": float(ratios.max(initial=0.0)), "broken": int(above.sum()),
    }  # fmt: skip
