"""Candidates: what is shown is what a masked look at all labels would show."""

import copy
import pickle

import numpy as np
import pytest
from learners import ALL, D

import semibandit as sb
from semibandit.policies.batch import rank_requests
from semibandit.policies.randomised import rank_with_distributions
from semibandit.policies.read_requests import read_request

NAMES = [f"label {i}" for i in range(14)]
PARTIAL = ("look_at", "margins_at", "look_at_many", "step_at")


class WholeState:
    """A state that can only be looked at as a whole: the twin of partial looks."""

    def __init__(self, state):
        self.__dict__["inner"] = state

    def __getattr__(self, name):
        if name in PARTIAL or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __deepcopy__(self, memo):
        return WholeState(copy.deepcopy(self.inner, memo))

    def set_half_life(self, half_life):
        self.inner.set_half_life(half_life)

    def advance(self, rounds):
        self.inner.advance(rounds)


def masked(learner):
    """A copy that looks at all labels and takes those that may be shown."""
    twin = copy.deepcopy(learner)
    if hasattr(twin, "_state"):
        twin._state = WholeState(twin._state)
    return twin


def limits(names, random):
    """Candidates and excluded labels of a request; often few, sometimes none at all."""
    n = len(names)
    only = random.permutation(n)[: random.choice([0, 1, 3, n // 2, n])]
    out = random.permutation(n)[: random.choice([1, 4])]
    some = [names[i] for i in only] if random.random() < 0.8 else None
    return some, [names[i] for i in out] if random.random() < 0.3 else None


def same(one, two, atol=1e-9):
    assert (one.labels, one.probe, one.leader) == (two.labels, two.probe, two.leader)
    for key in ("margin", "width", "estimate", "prob"):
        np.testing.assert_allclose(getattr(one, key), getattr(two, key), rtol=0, atol=atol)


def play(learner, twin, rounds, seed):
    """Rounds with candidates, late feedback and labels that come and go, checked one by one."""
    random, waiting = np.random.default_rng(seed), []
    for t in range(rounds):
        x, names = random.standard_normal(D), learner.labels
        slots = 1 if learner.one_slot else int(random.integers(learner.at_least, 5))
        only, out = limits(names, random)
        asked = {"candidates": only, "exclude": out, "draw": t}
        slates = [one.rank(x, slots, **asked) for one in (learner, twin)]
        same(*slates)
        pool = names if learner.full_information else slates[0].labels
        waiting.append((slates, [label for label in pool if random.random() < 0.4]))
        if t % 3:
            for (one, two), clicked in waiting:
                learner.learn(one, clicked)
                twin.learn(two, clicked)
            waiting = []
        if t == rounds // 2:
            for one in (learner, twin):
                one.retire_labels(names[2:5])
                one.add_labels(["new", "newer"])


@pytest.mark.parametrize("make", ALL)
def test_with_candidates_the_slates_are_those_of_a_masked_look_at_all_labels(make):
    learner = make(labels=NAMES)
    if getattr(learner, "probe", 0):
        learner.probe = 0.5
    play(learner, masked(learner), 40, seed=1)


OPTIONS = {
    "figure 2": {"project": "all", "scale": "unit", "bias": False},
    "forgets": {"forget": 6.0},
    "examined": {"examination": (0.9, 0.5)},
    "diagonal": {"forget": 6.0, "model": sb.Diagonal(), "a": 0.9},
    "dual": {"forget": 6.0, "model": sb.Dual(sb.rbf(1.0))},
    "logistic": {"loss": sb.Logistic(2.0), "at_least": 2},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("make", [sb.SlateUCB, sb.Thompson, sb.EpsilonGreedy])
def test_with_candidates_whatever_the_learner_is_made_of(make, options):
    learner = make(D, NAMES, seed=2, **options)
    play(learner, masked(learner), 40, seed=2)


def played(make, rounds=25, **options):
    """A learner that has played with candidates, and its masked twin."""
    learner = make(labels=NAMES, **options)
    twin = masked(learner)
    play(learner, twin, rounds, seed=3)
    return learner, twin


GROUPS = {
    "SlateUCB": lambda **o: sb.SlateUCB(D, probe=0.5, **o),
    "Logistic": lambda **o: sb.SlateUCB(D, loss=sb.Logistic(2.0), at_least=1, **o),
    "forgets": lambda **o: sb.SlateUCB(D, forget=8.0, probe=0.5, **o),
    "diagonal": lambda **o: sb.SlateUCB(D, model=sb.Diagonal(), cost=sb.constant, **o),
    "table": lambda **o: sb.SlateUCB(D, cost=lambda i, s: 0.3, probe=0.5, **o),
    "Greedy": lambda **o: sb.Greedy(D, a=0.8, **o),
    "Thompson": lambda **o: sb.Thompson(D, probe=0.5, **o),
    "EpsilonGreedy": lambda **o: sb.EpsilonGreedy(D, epsilon=0.4, **o),
    "Confidit": lambda **o: sb.Confidit(D, **o),
    "OBR": lambda **o: sb.OBR(D, **o),
    "Banditron": lambda **o: sb.Banditron(D, gamma=0.5, **o),
    "Random": lambda **o: sb.Random(D, **o),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("make", GROUPS.values(), ids=GROUPS)
def test_many_contexts_each_with_its_own_candidates(make, compiled, monkeypatch):
    if compiled:
        use_numba(monkeypatch)
    learner, twin = played(make)
    random = np.random.default_rng(8)
    X, names = random.standard_normal((30, D)), learner.labels
    only, out = zip(*(limits(names, random) for _ in X), strict=True)
    slots = (
        1 if learner.one_slot else [int(s) for s in random.integers(learner.at_least, 5, len(X))]
    )
    each = [slots] * len(X) if learner.one_slot else slots
    for one, other in ((only, out), ([*only], None), (None, [*out])):
        found = learner.rank_many(X, each, candidates=one, exclude=other)
        for b, slate in enumerate(found):
            asked = {"candidates": one and one[b], "exclude": other and other[b]}
            same(slate, twin.rank(X[b], each[b], **asked))
    for slate, x in zip(learner.rank_many(X, 1, candidates=names[3:6]), X, strict=True):
        same(slate, twin.rank(x, 1, candidates=names[3:6]))


def use_numba(monkeypatch):
    """Ask numba for any amount of work."""
    for module in ("policies.batch", "models.partial_looks"):
        monkeypatch.setattr(f"semibandit.{module}.LEAST", 0)
        monkeypatch.setattr(f"semibandit.{module}.TO_LOAD", 0)


POLICIES = {
    "itself": lambda learner: learner,
    "mixed": lambda learner: sb.Mixed(learner, 0.5),
    "plackett-luce": lambda learner: sb.PlackettLuce(learner, 0.3),
}


@pytest.mark.parametrize("around", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("name", ["SlateUCB", "Thompson", "EpsilonGreedy", "forgets"])
def test_groups_of_a_service_and_policies_around_a_learner(name, around):
    learner, twin = played(GROUPS[name])
    random, policy, other = np.random.default_rng(5), around(learner), around(twin)
    requests = []
    for b in range(24):
        only, out = limits(learner.labels, random)
        requests.append(read_request(learner, random.standard_normal(D), 3, only, out, b))
    found = rank_with_distributions(policy, requests)
    if policy is learner:
        for one, two in zip(rank_requests(learner, requests), found, strict=True):
            same(one, two)
    for slate, r in zip(found, requests, strict=True):
        (alone,) = rank_with_distributions(other, [r])
        same(slate, alone)
        for key in ("slate_propensity", "prefix_propensity", "item_propensity"):
            np.testing.assert_allclose(getattr(slate, key), getattr(alone, key), atol=1e-9)
        drawn = policy.rank(
            r.given, r.slots, candidates=r.candidates, exclude=r.exclude, draw=r.draw
        )
        same(slate, drawn)


@pytest.mark.parametrize("compiled", [False, True])
def test_only_candidates_are_looked_at_and_only_shown_labels_are_learned(compiled, monkeypatch):
    """The weights and matrices of all others are nan: whoever read them would raise."""
    if compiled:
        use_numba(monkeypatch)
    learner, _ = played(GROUPS["SlateUCB"], rounds=200)
    state, names = learner._state, learner.labels
    few = names[4:8]
    rows = state.row_of[learner._labels.rows(few, "few")]
    others = np.setdiff1d(np.arange(state.n), rows)
    state.w[others] = np.nan
    state.dense.A_inv[np.isin(state.dense.row_of[: len(state.dense.A_inv)], others)] = np.nan
    assert state.dense.n == state.n
    X = np.random.default_rng(0).standard_normal((9, D))
    for slate in learner.rank_many(X, 3, candidates=few):
        assert set(slate.labels) <= set(few)
        learner.learn(slate, slate.labels[:1])
    for x in X:
        learner.learn(learner.rank(x, 3, candidates=few), few[:0])
    for slate in learner.rank_many(X, 3, candidates=[few[:2], few[1:]] * 4 + [few]):
        assert np.isfinite(slate.prob).all()
    assert np.isfinite(learner.scores(X[0], candidates=few).prob).all()
    assert np.isnan(state.w[others]).all()
    with pytest.raises(sb.InputError, match="finite"):
        learner.rank(X[0])


def test_a_prepared_set_means_what_its_labels_mean():
    learner = sb.SlateUCB(D, ["tea", "milk", "juice", "water"], seed=3)
    policy, x = sb.Mixed(learner, 0.0), np.ones(D)
    some = policy.candidates(name for name in ("juice", "tea"))
    assert [*some] == ["juice", "tea"]
    for one in (learner, policy):
        assert set(one.rank(x, candidates=some).labels) <= {"juice", "tea"}
        assert one.rank(x, candidates=some).labels == one.rank(x, candidates=[*some]).labels
        assert not set(one.rank(x, exclude=some).labels) & {"juice", "tea"}
        found = one.rank_many([x, x], candidates=[some, None])
        assert found[0].labels == one.rank(x, candidates=some).labels
        assert found[1].labels == one.rank(x).labels
    learner.retire_labels(["tea"])
    for given in (some, [*some]):
        with pytest.raises(sb.UnknownLabel, match="candidates names 'tea', which is not a label"):
            learner.rank(x, candidates=given)
    learner.add_labels(["milkshake", "tea"])  # tea has another row now
    assert learner.rank(x, candidates=some).labels == learner.rank(x, candidates=[*some]).labels
    other = sb.SlateUCB(D, ["tea", "juice"])
    assert len(other.rank(x, 1, candidates=some)) == 1
    with pytest.raises(sb.UnknownLabel, match="names 'moon'"):
        learner.candidates(["moon"])
    with pytest.raises(sb.InputError, match="names 'tea' twice"):
        learner.candidates(["tea", "tea"])
    assert len(learner.rank(x, candidates=learner.candidates([]))) == 0


def test_a_prepared_set_is_pickled_without_the_labels_of_its_learner():
    learner, x = sb.SlateUCB(D, 1000), np.ones(D)
    some = learner.candidates([3, 999])
    written = pickle.dumps(some)
    assert len(written) < 200
    for one in (pickle.loads(written), copy.deepcopy(some)):
        assert learner.rank(x, candidates=one).labels == learner.rank(x, candidates=some).labels


def test_wrong_candidates_of_many_contexts():
    learner, X = sb.SlateUCB(D, 5), np.ones((2, D))
    for wrong, why in [
        ([[1], [2], [3]], "candidates has labels for 3 contexts, but X has 2"),
        ([[1], [9]], "names 9, which is not a label"),
        ([[1], [2, 2]], r"candidates\[1\] names 2 twice"),
        ([[1], 2], r"candidates has \[1\]; a label is"),
        ([[1], [[2]]], r"candidates\[1\] has \[2\]; a label is"),
        ([[True, False], [True, True]], "not true/false flags"),
        ("tea", "must be a list of labels"),
    ]:
        with pytest.raises(sb.InputError, match=why):
            learner.rank_many(X, candidates=wrong)
    assert [s.labels for s in learner.rank_many(X, candidates=[])] == [[], []]
    assert [s.labels for s in learner.rank_many(X, 1, candidates=np.array([[3], [4]]))] == [
        [3],
        [4],
    ]
    with pytest.raises(sb.InputError, match="exclude has labels for 1 contexts"):
        learner.rank_many(X, exclude=[[1]])


@pytest.mark.parametrize("names", [30, [f"label {i}" for i in range(30)]], ids=["numbers", "names"])
def test_labels_are_found_in_bulk_whatever_they_come_as(names):
    learner = sb.SlateUCB(D, names, a=1.0)
    few, x = learner.labels[7:12], np.ones(D)
    shown = set(learner.rank(x, candidates=few).labels)
    assert shown == set(few)
    for given in (
        tuple(few),
        set(few),
        iter(few),
        np.array(few),
        dict.fromkeys(few).keys(),
        np.array(few)[::-1],
    ):
        assert set(learner.rank(x, candidates=given).labels) == shown
    for wrong in (-1, 30, "label 99", 2**70, "7"):
        with pytest.raises(sb.UnknownLabel, match=f"candidates names {wrong!r}, which is not"):
            learner.rank(x, candidates=[*few, wrong])
    with pytest.raises(sb.InputError, match="not true/false flags"):
        learner.rank(x, candidates=[True])
    with pytest.raises(sb.InputError, match="a label is a whole number or a string"):
        learner.rank(x, candidates=[*few, 1.0])
