import numpy as np
import pytest
from slate_worlds import ListedSlates, World

from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.probabilities import read_distributions
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.weights import impossible, logged_propensities, weights
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

ITEMS = ["a", "b", "c", "d"]


def visit(shown, logging=None, *, clicked=None, slate=None, prefix=None, item=None, first=0):
    """A visit whose propensities follow from `logging`, unless they are given."""
    return LoggedVisit(
        Request(np.empty(0), len(shown), None, None, 0), list(shown),
        np.zeros(len(shown), dtype=bool) if clicked is None else np.array(clicked, dtype=bool),
        slate, prefix, item, logging, "", first_position=first,
    )  # fmt: skip


def test_weights_are_ratios_padded_by_position():
    log = Mixture([(0.5, FixedSlate(["a"])), (0.5, UniformSlates(4, 2))])
    chunk = Chunk.of([visit(["a"], log), visit(["b", "c"], log)], ITEMS, codes := Codes(), 3)
    targets = read_distributions([FixedSlate(["a"]), FixedSlate(["b", "c", "d"])], codes, ITEMS)
    w = weights(chunk, targets, logged_propensities(chunk))
    assert w.slate == pytest.approx([2, 0])
    assert w.prefix == pytest.approx(np.array([[1 / 0.625, 0, 0], [8, 24, 0]]))
    assert w.item == pytest.approx(np.array([[1 / 0.625, 0, 0], [8, 8, 0]]))
    assert w.expected == pytest.approx(np.array([[1, 0, 0], [1, 1, 1]]))


def test_the_log_says_propensities_itself_or_by_its_distribution():
    log = Mixture([(0.5, FixedSlate(["a"])), (0.5, UniformSlates(4, 2))])
    visits = [
        visit(["b", "c"], log, slate=0.5, prefix=np.array([0.6, 0.5])),  # not those of `log`
        visit(["b", "c"], None, item=np.array([0.1, 0.2])),
        visit([], None),
    ]
    chunk = Chunk.of(visits, ITEMS, codes := Codes())
    found = logged_propensities(chunk)
    assert found.slate[0] == 0.5
    assert found.prefix[0].tolist() == [0.6, 0.5]
    assert found.item[0] == pytest.approx([0.125, 0.125])
    assert np.isnan(found.slate[1:]).all()
    assert np.isnan(found.prefix[1]).all()
    w = weights(chunk, read_distributions([UniformSlates(4, 2)] * 3, codes, ITEMS), found)
    assert w.known["slate"].tolist() == [True, False, False]
    assert w.known["prefix"].tolist() == [True, False, False]
    assert w.known["item"].tolist()[:2] == [True, True]
    assert w.slate[1] == 0


def test_visits_with_probability_0_for_what_was_shown():
    chunk = Chunk.of(
        [
            visit(["a"], slate=0.0, prefix=np.array([0.5]), item=np.array([0.5])),
            visit(["a", "b"], slate=0.1, prefix=np.array([0.5, 0.0]), item=np.array([0.5, 0.5])),
            visit(["a"], item=np.array([0.0])),
            visit(["a"], item=np.array([0.5])),
            visit(["a"], FixedSlate(["b"])),
        ],
        ITEMS,
        Codes(),
    )
    assert impossible(chunk, logged_propensities(chunk)).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("target", [UniformSlates(4, 3), ListedSlates({("a", "d", "c"): 1.0})])
def test_single_items_at_their_positions(target):
    visits = [visit(["c"], item=np.array([0.5]), first=2), visit(["a"], item=np.array([0.25]))]
    chunk = Chunk.of(visits, ITEMS, codes := Codes())
    w = weights(chunk, read_distributions([target] * 2, codes, ITEMS), logged_propensities(chunk))
    uniform = isinstance(target, UniformSlates)
    assert w.item == pytest.approx(
        np.array([[0, 0, 0.5], [1, 0, 0]]) if uniform else np.array([[0, 0, 2], [4, 0, 0]])
    )
    assert w.expected.tolist() == [[0, 0, 1], [1, 0, 0]]  # each visit is one position


def test_mean_weights_are_1_over_all_slates():
    world = World()
    b, labels = world.by_slate(world.log), [world.names(s) for s in world.slates]
    for c in range(world.contexts):
        chunk = Chunk.of([visit(s, world.log[c]) for s in labels], world.items, codes := Codes())
        e = read_distributions([world.target[c]] * len(labels), codes, world.items)
        w = weights(chunk, e, logged_propensities(chunk))
        assert b[c] @ w.slate == pytest.approx(1)
        assert b[c] @ w.prefix == pytest.approx(np.ones(world.S))
        assert b[c] @ w.item == pytest.approx(np.ones(world.S))
