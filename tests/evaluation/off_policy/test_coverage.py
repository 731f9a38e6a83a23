import numpy as np
import pytest
from slate_worlds import ListedSlates, World

from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.coverage import Coverage
from semibandit.evaluation.off_policy.reward import read_reward
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

ITEMS, UNIFORM = ["a", "b", "c"], UniformSlates(3, 2)
MIXED = Mixture([(0.5, FixedSlate(["a"])), (0.5, UNIFORM)])
KINDS = ("slate", "prefix", "item")


def coverage_of(log, target, visits=2560):
    empty = np.empty(0)
    one = LoggedVisit(Request(empty, 2, None, None, 0), [], empty, None, None, None, log, "")
    found = Coverage()
    for _ in range(visits // 64):
        found.add(Chunk.of([one] * 64, ITEMS, Codes()), [target] * 64)
    return found


def missing(log, target):
    found = coverage_of(log, target)
    return [found.missing_share(kind) for kind in KINDS]


def test_the_share_of_the_targets_slates_that_the_log_never_shows():
    assert missing(MIXED, UNIFORM) == [0, 0, 0]
    assert missing(MIXED, FixedSlate(["b"])) == [1, 0, 0]
    assert missing(FixedSlate(["a", "b"]), FixedSlate(["a", "c"])) == [1, 0.5, 0.5]
    assert missing(FixedSlate(["a", "b"]), FixedSlate(["c", "b"])) == [1, 1, 0.5]
    listed = ListedSlates({("a", "b"): 1.0})
    assert missing(listed, FixedSlate(["c", "b"])) == [1, 1, 0.5]
    assert missing(listed, listed) == [0, 0, 0]
    assert missing(None, UNIFORM) == [None, None, None]


def test_a_log_cannot_show_labels_that_it_does_not_have():
    half = Mixture([(0.5, FixedSlate(["a", "new"])), (0.5, UNIFORM)])
    slates, prefixes, items = missing(UNIFORM, half)
    assert slates == pytest.approx(0.5, abs=0.2)
    assert prefixes == items == slates / 2
    assert missing(MIXED, FixedSlate(["new", "a"])) == [1, 1, 0.5]


@pytest.mark.parametrize("target", [UNIFORM, FixedSlate(["b", "a"]), MIXED])
def test_the_effective_share_is_that_of_the_exact_weights(target):
    found = coverage_of(MIXED, target, 128_000)
    slates = [["a"], *([i, j] for i in ITEMS for j in ITEMS if i != j)]
    b = np.array([MIXED.slate_propensity(s) for s in slates])
    second = dict.fromkeys(KINDS, 0.0)
    for slate, chance in zip(slates, b, strict=True):
        second["slate"] += chance * (target.slate_propensity(slate) / chance) ** 2
        for kind in ("prefix", "item"):
            e, log = (getattr(one, f"{kind}_propensity")(slate) for one in (target, MIXED))
            second[kind] += chance * np.sum((e / log) ** 2)
    labels = target.lengths(2).sum()
    assert found.effective_share("slate") == pytest.approx(1 / second["slate"], rel=0.05)
    assert found.effective_share("prefix") == pytest.approx(labels / second["prefix"], rel=0.05)
    assert found.effective_share("item") == pytest.approx(labels / second["item"], rel=0.05)


def test_not_known_if_the_log_does_not_say_or_it_takes_long():
    assert coverage_of(None, UNIFORM).effective_share("slate") is None
    assert coverage_of(UNIFORM, UNIFORM).effective_share("pseudo-inverse") is None
    listed = coverage_of(ListedSlates({("a", "b"): 1.0}), FixedSlate(["a", "b"]))
    assert listed.effective_share("item") is None
    assert listed.effective_share("prefix") == 1.0


def test_the_effective_size_does_not_depend_on_which_large_weights_happened():
    """Otherwise logs at the edge would pass only if their estimate is too low."""
    world, sizes = World(contexts=1), []
    for seed in (1, 2):
        visits, targets = world.visits(np.random.default_rng(seed), 500, "independent")
        sums = Accumulator(read_reward("clicks"))
        sums.add(visits, targets, world.items)
        checks = sums.evaluation("target", {}).checks
        sizes.append({c.weights: c.value for c in checks if c.name == "effective sample size"})
    for kind in KINDS:
        assert sizes[0][kind] == sizes[1][kind], kind
    assert sizes[0]["pseudo-inverse"] != sizes[1]["pseudo-inverse"]


def test_long_slates_have_the_weights_of_their_distributions():
    items = list(range(12))
    fixed = FixedSlate(items[:9], 10, 0.3)
    log = Mixture([(0.6, FixedSlate([*items[:8], 11])), (0.4, UniformSlates(12, 10))])
    target = Mixture([(0.7, fixed), (0.3, UniformSlates(12, 10))])
    empty, found, again = np.empty(0), Coverage(seed=3), np.random.default_rng(3)
    one = LoggedVisit(Request(empty, 10, None, None, 0), [], empty, None, None, None, log, "")
    found.add(Chunk.of([one] * 3200, items, Codes()), [target] * 3200)
    drawn = [target.sample(again, items) for _ in range(100)]
    for kind in KINDS:
        e, b = (
            np.concatenate([np.atleast_1d(getattr(d, f"{kind}_propensity")(s)) for s in drawn])
            for d in (target, log)
        )
        w = e[b > 0] / b[b > 0]
        assert found.missing_share(kind) == np.mean(b <= 0)
        assert found.largest_weight(kind) == w.max()
        assert found.effective_share(kind) == pytest.approx(len(b) / w.sum(), rel=1e-12)
