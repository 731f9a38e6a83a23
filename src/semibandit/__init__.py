"""semibandit: learn which items to show, in which order and how many, from what was shown.

    import semibandit as sb

    bandit = sb.SlateUCB(n_features=3, labels=["sea", "sun", "snow"])
    slate = bandit.rank([0.2, 0.5, 0.1], slots=2)
    bandit.learn(slate, clicked=slate.labels[:1])

After Gentile and Orabona, "On Multilabel Classification and Ranking with Partial Feedback".
"""

from semibandit.client import Client, ServedSlate
from semibandit.data.dataset import Dataset
from semibandit.data.read import read_dataset
from semibandit.errors import InputError, SemibanditError
from semibandit.evaluation.play import Play, play
from semibandit.evaluation.replay import replay
from semibandit.evaluation.trace import Trace
from semibandit.models.diagonal import Diagonal
from semibandit.models.dual import Dual
from semibandit.models.full import Full
from semibandit.models.kernel import linear, polynomial, rbf
from semibandit.policies.banditron import Banditron
from semibandit.policies.confidit import Confidit
from semibandit.policies.greedy import EpsilonGreedy, Greedy
from semibandit.policies.learner import Learner
from semibandit.policies.obr import OBR
from semibandit.policies.persistence import load
from semibandit.policies.random import Random
from semibandit.policies.slate import Scores, Slate
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.thompson import Thompson
from semibandit.theory import bounds
from semibandit.theory.cost import constant, decreasing
from semibandit.theory.losses import expected_loss, hamming, loss_ac, loss_p_rank, loss_rank
from semibandit.theory.slate import best_ranking, best_slate
from semibandit.theory.surrogate import Logistic, Square, Surrogate
from semibandit.theory.width import KnownNorm, Scaled, UnknownNorm
from semibandit.worlds.adversarial import Adversarial
from semibandit.worlds.synthetic import Synthetic

__version__ = "0.1.0"

__all__ = [
    "OBR",
    "Adversarial",
    "Banditron",
    "Client",
    "Confidit",
    "Dataset",
    "Diagonal",
    "Dual",
    "EpsilonGreedy",
    "Full",
    "Greedy",
    "InputError",
    "KnownNorm",
    "Learner",
    "Logistic",
    "Play",
    "Random",
    "Scaled",
    "Scores",
    "SemibanditError",
    "ServedSlate",
    "Slate",
    "SlateUCB",
    "Square",
    "Surrogate",
    "Synthetic",
    "Thompson",
    "Trace",
    "UnknownNorm",
    "best_ranking",
    "best_slate",
    "bounds",
    "constant",
    "decreasing",
    "expected_loss",
    "hamming",
    "linear",
    "load",
    "loss_ac",
    "loss_p_rank",
    "loss_rank",
    "play",
    "polynomial",
    "rbf",
    "read_dataset",
    "replay",
]
