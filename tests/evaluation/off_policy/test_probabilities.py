import numpy as np
import pytest
from slate_worlds import ListedSlates

from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.probabilities import read_distributions
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

ITEMS = ["a", "b", "c", "d"]


def visit(shown):
    request = Request(np.empty(0), len(shown), None, None, 0)
    clicked = np.zeros(len(shown), dtype=bool)
    return LoggedVisit(request, list(shown), clicked, None, None, None, None, "")


def some_distributions():
    """Slates of many lengths, with probes and with mixtures in mixtures."""
    probing = FixedSlate(["c", "a"], "d", 0.25)
    return [
        FixedSlate(["a", "b"]),
        FixedSlate([]),
        probing,
        FixedSlate([], "b", 0.5),
        UniformSlates(4, 3),
        UniformSlates(4, 0),
        Mixture([(0.7, FixedSlate(["b", "a", "d"])), (0.3, UniformSlates(4, 4))]),
        Mixture([(0.5, Mixture([(0.5, probing), (0.5, UniformSlates(4, 2))])), (0.5, probing)]),
        ListedSlates({("a", "b"): 0.5, ("c",): 0.25, (): 0.25}),
        Mixture([(0.5, ListedSlates({("d", "c", "b"): 1.0})), (0.5, UniformSlates(4, 3))]),
    ]


def test_probabilities_of_many_visits_are_those_of_each():
    slates = [[], ["a"], ["a", "b"], ["c", "a", "d"], ["b", "a", "d", "c"], ["c"], ["d", "c", "b"]]
    pairs = [(slate, one) for slate in slates for one in some_distributions()]
    chunk = Chunk.of([visit(slate) for slate, _ in pairs], ITEMS, codes := Codes())
    bulk = read_distributions([one for _, one in pairs], codes, ITEMS)
    found, lengths = bulk.propensities(chunk), bulk.lengths(4)
    for row, (slate, one) in enumerate(pairs):
        n = len(slate)
        assert found.slate[row] == pytest.approx(one.slate_propensity(slate)), (slate, one)
        assert found.prefix[row, :n] == pytest.approx(one.prefix_propensity(slate)), (slate, one)
        assert found.item[row, :n] == pytest.approx(one.item_propensity(slate)), (slate, one)
        assert not found.prefix[row, n:].any()
        assert not found.item[row, n:].any()
        assert lengths[row] == pytest.approx(one.lengths(4)), one


def test_a_uniform_target_does_not_show_labels_that_it_does_not_have():
    chunk = Chunk.of([visit(["a", "old"]), visit(["a", "b"])], ["a", "b", "c"], codes := Codes())
    found = read_distributions([UniformSlates(3, 2)] * 2, codes, ["a", "b", "c"]).propensities(
        chunk
    )
    assert found.slate == pytest.approx([0, 1 / 6])
    assert found.prefix == pytest.approx(np.array([[1 / 3, 0], [1 / 3, 1 / 6]]))
    assert found.item == pytest.approx(np.array([[1 / 3, 0], [1 / 3, 1 / 3]]))
