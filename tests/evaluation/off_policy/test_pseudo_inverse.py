from itertools import permutations

import numpy as np
import pytest
from slate_worlds import ListedSlates

from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.probabilities import read_distributions
from semibandit.evaluation.off_policy.pseudo_inverse import pseudo_inverse_weights
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

UNIFORM = UniformSlates(5, 3)


def chunk_of(slates, log, items):
    visits = [
        LoggedVisit(
            Request(np.empty(0), len(s), None, None, 0), list(s), np.zeros(len(s), dtype=bool),
            None, None, None, log, "",
        )
        for s in slates
    ]  # fmt: skip
    return Chunk.of(visits, items, Codes())


def ask(slates, log, target, n):
    chunk = chunk_of(slates, log, range(n))
    return pseudo_inverse_weights(
        chunk,
        read_distributions([log] * len(slates), chunk.codes),
        read_distributions([target] * len(slates), chunk.codes, range(n)),
    )


def by_matrix(slates, log, target, n):
    """q_eᵀ G⁺ 1_s with the matrices themselves."""
    S = len(slates[0])
    one = np.zeros((len(slates), n, S))
    for row, slate in enumerate(slates):
        one[row, list(slate), range(S)] = 1
    one = one.reshape(len(slates), -1)
    b = np.array([log.slate_propensity(s) for s in slates])
    G = np.einsum("s,si,sj->ij", b, one, one)
    return target.marginals(range(n), S).reshape(-1) @ np.linalg.pinv(G, rcond=1e-10) @ one.T


@pytest.mark.parametrize(
    ("n", "log", "target"),
    [
        (5, UNIFORM, FixedSlate([0, 1, 2])),
        (5, Mixture([(0.9, FixedSlate([0, 1, 2])), (0.1, UNIFORM)]), FixedSlate([1, 0, 4])),
        (5, Mixture([(0.9, FixedSlate([0, 1, 2])), (0.1, UNIFORM)]), UNIFORM),
        (
            5,
            Mixture([(0.5, FixedSlate([0, 1, 2])), (0.3, FixedSlate([2, 3, 0])), (0.2, UNIFORM)]),
            Mixture([(0.6, FixedSlate([4, 1, 2])), (0.2, FixedSlate([0, 1, 2])), (0.2, UNIFORM)]),
        ),
        (5, Mixture([(0.2, UNIFORM), (0.8, FixedSlate([0, 1, 2]))]),
         ListedSlates({(0, 1, 2): 0.5, (3, 1, 0): 0.25, (4, 2, 3): 0.25})),
        (4, Mixture([(0.6, UniformSlates(4, 4)), (0.4, FixedSlate([3, 1, 0, 2]))]),
         FixedSlate([0, 1, 2, 3])),  # n = S: all labels are always shown
        (3, Mixture([(0.6, UniformSlates(3, 1)), (0.4, FixedSlate([2]))]), FixedSlate([1])),
        (1, UniformSlates(1, 1), FixedSlate([0])),
    ],
)  # fmt: skip
def test_closed_form_is_the_pseudo_inverse(n, log, target):
    S = len(log.sample(np.random.default_rng(0), range(n)))
    slates = list(permutations(range(n), S))
    found, refused = ask(slates, log, target, n)
    assert refused is None
    assert found == pytest.approx(by_matrix(slates, log, target, n), abs=1e-9)


def test_visits_with_logs_of_their_own():
    logs = [
        UNIFORM,
        Mixture([(0.5, FixedSlate([0, 1, 2])), (0.5, UNIFORM)]),
        Mixture([(0.4, FixedSlate([0, 1, 2])), (0.3, FixedSlate([4, 3, 2])), (0.3, UNIFORM)]),
    ]
    target, slates = FixedSlate([1, 0, 3]), list(permutations(range(5), 3))
    shown = [(0, 1, 2), (1, 0, 3), (0, 1, 2)]
    chunk = chunk_of(shown, None, range(5))
    found, _ = pseudo_inverse_weights(
        chunk,
        read_distributions(logs, chunk.codes),
        read_distributions([target] * 3, chunk.codes, range(5)),
    )
    for row, log in enumerate(logs):
        each = by_matrix(slates, log, target, 5)[slates.index(shown[row])]
        assert found[row] == pytest.approx(each, abs=1e-9)


@pytest.mark.parametrize(
    ("slates", "log", "target", "why"),
    [
        ([(0, 1)], FixedSlate([0, 1]), FixedSlate([0, 1]), "no uniform slates"),
        ([(0, 1)], ListedSlates({(0, 1): 1.0}), FixedSlate([0, 1]), "ListedSlates"),
        ([(0, 1), (0,)], UniformSlates(4, 2), FixedSlate([0, 1]), "differ in length"),
        ([(0, 1)], UniformSlates(4, 2), FixedSlate([0]), "must always show 2 labels"),
        (
            [(0, 1)],
            Mixture([(0.5, UniformSlates(4, 2)), (0.5, FixedSlate([0]))]),
            FixedSlate([0, 1]),
            "must always show 2 labels",
        ),
        ([(0, 1)], UniformSlates(4, 2), FixedSlate([0, 1], 2, 0.1), "must always show 2 labels"),
    ],
)
def test_refused_with_the_reason(slates, log, target, why):
    assert why in ask(slates, log, target, 4)[1]
