"""A width of the theorems says where nothing is proven of it, and nowhere else."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import semibandit as sb
from reference import FIGURE_2
from semibandit.errors import UnprovenWidth

WIDTHS = [sb.KnownNorm(1.0), sb.UnknownNorm()]


def own_kernel(X, Y):
    return X @ Y.T


class OwnModel:
    """Some model of the user's own, which does not say how it keeps A."""

    sparse = False

    def start(self, n_labels, n_features):
        return sb.Full().start(n_labels, n_features)


@pytest.mark.parametrize("width", WIDTHS, ids=repr)
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"model": sb.Diagonal()}, r"the matrices of Diagonal\(\) are not A_i = I \+ Σ x xᵀ"),
        ({"model": sb.Dual(budget=50)}, "budget=50 forgets support points"),
        ({"model": sb.Dual(own_kernel)}, r"nothing says that k\(x, x\) <= 1"),
        ({"model": OwnModel()}, "has no `unproven`"),
        ({"forget": 1000}, "forget=1000 makes A_i smaller again"),
        ({"examination": [1, 0.5]}, "what is learned depends on what was clicked"),
        ({"examination": "up to the last click"}, "what is learned depends on what was clicked"),
    ],
)
def test_a_setting_for_which_nothing_is_proven_warns_when_it_is_made(width, settings, why):
    with pytest.warns(UnprovenWidth, match=f"width = .*, but Lemma 7 does not say .*{why}"):
        bandit = sb.SlateUCB(2, 3, width=width, **settings)
    assert why.replace("\\", "") in bandit.unproven


@pytest.mark.parametrize("width", WIDTHS, ids=repr)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        FIGURE_2,
        {"model": sb.Full("float32")},
        {"model": sb.Dual()},
        {"model": sb.Dual(sb.rbf(0.5))},
        {"model": sb.Dual(sb.polynomial(3, 0.5))},
        {"probe": 0.5, "at_least": 1},
    ],
)
def test_where_lemma_7_holds_nobody_is_warned(width, settings):
    bandit = sb.SlateUCB(2, 3, width=width, **settings)
    bandit.learn(bandit.rank([30.0, 4.0]), [0])
    assert bandit.unproven is None


def test_a_practical_width_promises_nothing_and_warns_of_nothing():
    bandit = sb.SlateUCB(2, 3, model=sb.Diagonal(), forget=10, scale="none")
    bandit.rank([30.0, 4.0])
    assert bandit.unproven == "Scaled(alpha=0.25) is no confidence bound"


ASK = {
    "rank": lambda bandit, x: bandit.rank(x),
    "rank_many": lambda bandit, x: bandit.rank_many([x, x]),
    "learn": lambda bandit, x: bandit.learn(bandit.rank(x), [1]),
    "replay": lambda bandit, x: sb.replay(bandit, np.array([x]), np.ones((1, 3)), progress=False),
    "replay, sparse": lambda bandit, x: sb.replay(
        bandit, csr_array([x]), np.ones((1, 3)), progress=False
    ),
}


@pytest.mark.parametrize("how", ASK)
def test_unscaled_contexts_warn_once_one_is_longer_than_1(how):
    bandit = sb.SlateUCB(2, 3, width=sb.KnownNorm(1.0), scale="none", bias=False)
    ASK[how](bandit, [0.6, 0.8])
    assert bandit.unproven is None
    bandit = pickle.loads(pickle.dumps(bandit))
    with pytest.warns(UnprovenWidth, match="a context is longer than 1") as caught:
        ASK[how](bandit, [0.6, 0.9])
    assert len(caught) == 1
    assert bandit.unproven == "a context was longer than 1"
    ASK[how](bandit, [6.0, 9.0])  # once is enough


def test_a_gaussian_kernel_takes_contexts_of_any_length():
    bandit = sb.SlateUCB(2, 3, model=sb.Dual(sb.rbf()), width=sb.KnownNorm(1.0), scale="none")
    bandit.learn(bandit.rank([6.0, 9.0]), [1])
    assert bandit.unproven is None


@pytest.mark.filterwarnings("ignore::semibandit.errors.UnprovenWidth")
def test_a_diagonal_width_can_be_half_the_error_in_a_direction_never_seen():
    seen, other, u = np.array([1.0, 1.0]), np.array([1.0, -1.0]), np.array([0.0, -1.0])
    T = 30_000
    relevant = np.random.default_rng(0).random((T, 1)) < sb.Square().prob(u @ seen / np.sqrt(2))
    scores = {}
    for model in (sb.Full(), sb.Diagonal()):
        bandit = sb.SlateUCB(2, 1, model=model, a=1.0, width=sb.KnownNorm(1.0), **FIGURE_2)
        sb.replay(bandit, np.repeat(seen[None], T, axis=0), relevant, progress=False)
        scores[type(model)] = bandit.scores(other)
    off = {name: abs(u @ other / np.sqrt(2) - one.margin[0]) for name, one in scores.items()}
    assert off[sb.Full] < scores[sb.Full].width[0] == 2.0  # it knows that it knows nothing
    assert off[sb.Diagonal] > 0.7 > 0.4 > scores[sb.Diagonal].width[0]
