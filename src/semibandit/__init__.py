"""semibandit: learn which items to show, in which order and how many, from what was shown.

    import semibandit as sb

    bandit = sb.SlateUCB(n_features=3, labels=["sea", "sun", "snow"])
    slate = bandit.rank([0.2, 0.5, 0.1], slots=2)
    bandit.learn(slate, clicked=slate.labels[:1])

After Gentile and Orabona, "On Multilabel Classification and Ranking with Partial Feedback".
"""

from semibandit import errors
from semibandit._util.version import __version__ as __version__
from semibandit.client import Client, ServedSlate
from semibandit.data.dataset import Dataset
from semibandit.data.read import read_dataset
from semibandit.errors import (
    InputError,
    LabelExists,
    NotShown,
    SemibanditError,
    StoreError,
    UnknownLabel,
)
from semibandit.evaluation.bayes import Bayes
from semibandit.evaluation.off_policy.compare import Comparison, compare
from semibandit.evaluation.off_policy.evaluate import evaluate
from semibandit.evaluation.off_policy.position_bias import PositionBias, position_bias
from semibandit.evaluation.off_policy.result import Evaluation
from semibandit.evaluation.play import Play, play
from semibandit.evaluation.replay import replay
from semibandit.evaluation.replay_log import ReplayedLog, replay_log
from semibandit.evaluation.runners import engine_of
from semibandit.evaluation.trace import Trace
from semibandit.experiments.sweep import grid, sweep
from semibandit.experiments.tune import tune
from semibandit.experiments.tuned import Tuned
from semibandit.models.diagonal import Diagonal
from semibandit.models.dual import Dual
from semibandit.models.full import Full
from semibandit.models.kernel import linear, polynomial, rbf
from semibandit.models.model import Model, State
from semibandit.models.sharded.placement import Shards
from semibandit.policies.banditron import Banditron
from semibandit.policies.confidit import Confidit
from semibandit.policies.features.features import Features
from semibandit.policies.features.hashed import Hashed
from semibandit.policies.greedy import EpsilonGreedy, Greedy
from semibandit.policies.labels import CandidateSet
from semibandit.policies.learner import Learner
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.policies.mixed import Mixed
from semibandit.policies.obr import OBR
from semibandit.policies.persistence import load
from semibandit.policies.plackett_luce import PlackettLuce
from semibandit.policies.random import Random
from semibandit.policies.sharded import Sharded
from semibandit.policies.slate import Scores, Slate
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.thompson import Thompson
from semibandit.theory import bounds
from semibandit.theory.cost import constant, decreasing
from semibandit.theory.losses import (
    expected_loss,
    hamming,
    loss_ac,
    loss_p_rank,
    loss_rank,
    loss_rank_scores,
)
from semibandit.theory.slate import best_ranking, best_slate
from semibandit.theory.surrogate import Logistic, Square, Surrogate
from semibandit.theory.width import KnownNorm, LogDet, Scaled, SpreadWidth, UnknownNorm, Width
from semibandit.worlds.adversarial import Adversarial
from semibandit.worlds.position_biased import PositionBiased
from semibandit.worlds.synthetic import Synthetic

__all__ = [
    "OBR",
    "Adversarial",
    "Banditron",
    "Bayes",
    "CandidateSet",
    "Client",
    "Comparison",
    "Confidit",
    "Dataset",
    "Diagonal",
    "Dual",
    "EpsilonGreedy",
    "Evaluation",
    "Features",
    "Full",
    "Greedy",
    "Hashed",
    "InputError",
    "KnownNorm",
    "LabelExists",
    "Learner",
    "LearnerSpec",
    "LogDet",
    "Logistic",
    "Mixed",
    "Model",
    "NotShown",
    "PlackettLuce",
    "Play",
    "PositionBias",
    "PositionBiased",
    "Random",
    "ReplayedLog",
    "Scaled",
    "Scores",
    "SemibanditError",
    "ServedSlate",
    "Sharded",
    "Shards",
    "Slate",
    "SlateUCB",
    "SpreadWidth",
    "Square",
    "State",
    "StoreError",
    "Surrogate",
    "Synthetic",
    "Thompson",
    "Trace",
    "Tuned",
    "UnknownLabel",
    "UnknownNorm",
    "Width",
    "best_ranking",
    "best_slate",
    "bounds",
    "compare",
    "constant",
    "decreasing",
    "engine_of",
    "errors",
    "evaluate",
    "expected_loss",
    "grid",
    "hamming",
    "linear",
    "load",
    "loss_ac",
    "loss_p_rank",
    "loss_rank",
    "loss_rank_scores",
    "play",
    "polynomial",
    "position_bias",
    "rbf",
    "read_dataset",
    "replay",
    "replay_log",
    "sweep",
    "tune",
]
