"""Shards that die: what was told is never lost, and never half of it is done."""

import numpy as np
import pytest
from mortal_workers import MortalWorkers, use_workers

import semibandit as sb
from semibandit.errors import InputError, ShardLost
from semibandit.policies.sharded import Sharded

D = 3


def played(learner, rounds, seed=0):
    """Play rounds with labels that come and go; every slate shown, and all that was learned."""
    random = np.random.default_rng(seed)
    seen = []
    for _ in range(rounds):
        slate = learner.rank(random.standard_normal(D), 3)
        seen.append(slate.labels)
        learner.learn(slate, [one for one in slate.labels if random.random() < 0.4])
        if random.random() < 0.05:
            learner.add_labels(2)
            learner.retire_labels(random.choice(learner.labels, 1).tolist())
    return seen, {name: a.tobytes() for name, a in learner._state.arrays().items()}


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (sb.Full(), {}),
        (sb.Full(), {"forget": 20.0, "project": "all"}),
        (sb.Diagonal(), {"forget": 20.0}),
        (sb.Dual(sb.rbf(1.0), budget=4), {}),
    ],
    ids=["full", "full forgetting", "diagonal", "dual"],
)
def test_whoever_dies_whenever_the_state_is_the_same_to_the_bit(model, options, monkeypatch):
    def made():
        return Sharded(
            sb.SlateUCB, D, 8, shards=3, model=model, checkpoint_every=15, seed=2, **options
        )

    use_workers(monkeypatch, MortalWorkers())
    undisturbed = played(made(), 100)
    workers = use_workers(monkeypatch, MortalWorkers(deaths=0.06, seed=4))
    assert played(made(), 100) == undisturbed
    assert workers.died > 20


def test_a_step_that_one_shard_refuses_is_learned_by_none():
    def kernel(X, Y):
        if refusing and len(X) > 1:  # within the budget of a label that has learned before
            raise InputError("not today")
        return X @ Y.T + 1.0

    refusing = False
    bandit = Sharded(
        sb.SlateUCB, D, 4, shards=2, on="here", model=sb.Dual(kernel, budget=2), a=1.0, probe=0
    )
    x = np.array([0.5, 0.1, 0.2])
    for label in (0, 0, 1):
        bandit.learn(bandit.shown(x, [label]), [label])
    before = bandit.scores(x)
    slate = bandit.shown(x, [1, 0])
    tell = bandit._state._group.tell

    def refused(changes):
        nonlocal refusing
        refusing = True
        tell(changes)

    bandit._state._group.tell = refused
    with pytest.raises(InputError, match="not today"):
        bandit.learn(slate, [0, 1])
    refusing = False
    after = bandit.scores(x)
    assert bandit.t == 4
    assert np.array_equal(after.margin, before.margin)
    assert np.array_equal(after.width, before.width)


def lost(monkeypatch, **options):
    """A learner, its twin without shards, and its workers, of which one is lost and not back."""
    workers = use_workers(monkeypatch, MortalWorkers())
    bandit = Sharded(sb.SlateUCB, D, 9, shards=3, timeout=1, seed=2, **options)
    twin = sb.SlateUCB(D, 9, seed=2)
    for one in (bandit, twin):
        played(one, 40)
    workers.kill(workers.started[1])
    workers.restoring = True
    return bandit, twin, workers


X = np.array([0.3, 0.2, 0.1])


@pytest.mark.parametrize(
    ("missing", "message"), [("raise", "has died and is being restored"), ("wait", "for 1 s")]
)
def test_rank_raises_until_the_shard_is_back(missing, message, monkeypatch):
    bandit, twin, workers = lost(monkeypatch, missing=missing)
    for ask in (lambda: bandit.rank(X, 3), lambda: bandit.rank_many([X], 3)):
        with pytest.raises(ShardLost, match=rf"shard \d of 3 {message}|shard \d of 3 has not"):
            ask()
    workers.restoring = False
    assert bandit.rank(X, 3).labels == twin.rank(X, 3).labels


def test_learning_raises_and_learns_nothing_until_the_shard_is_back(monkeypatch):
    bandit, twin, workers = lost(monkeypatch, missing="answer")
    slate = bandit.shown(X, twin.labels[:3])
    with pytest.raises(ShardLost):
        bandit.learn(slate, [])
    assert bandit.t == twin.t
    workers.restoring = False
    for one in (bandit, twin):
        one.learn(one.shown(X, twin.labels[:3]), [])
    assert np.allclose(bandit.scores(X).prob, twin.scores(X).prob)


def test_if_asked_it_answers_from_the_others_and_says_so(monkeypatch):
    bandit, twin, workers = lost(monkeypatch, missing="answer")
    gone = [label for row, label in enumerate(twin._labels.names) if row % 3 == 1]
    gone = [label for label in gone if label in twin.labels]
    for slate in (bandit.rank(X, 3), *bandit.rank_many([X, X], 3)):
        assert slate.labels == twin.rank(X, 3, exclude=gone).labels
        assert slate.missing == len(gone) > 0
    with pytest.raises(ShardLost):  # a candidate cannot be left out
        bandit.rank(X, 3, candidates=twin.labels)
    workers.restoring = False
    assert bandit.rank(X, 3).labels == twin.rank(X, 3).labels
    assert bandit.rank(X, 3).missing == 0


def test_what_is_missing_follows_from_what_was_excluded(monkeypatch):
    """Of each context: else a label would be tried that is in the slate already."""
    workers = use_workers(monkeypatch, MortalWorkers())
    bandit = Sharded(sb.SlateUCB, D, 6, shards=3, missing="answer", probe=1.0, a=0.9)
    workers.kill(workers.started[1])
    workers.restoring = True
    slates = bandit.rank_many([X, X, X], 6, exclude=[[1, 4], None, [1]])
    assert [slate.missing for slate in slates] == [0, 2, 1]
    assert [sorted(slate.labels) for slate in slates] == [[0, 2, 3, 5]] * 3


def test_a_shard_that_dies_again_and_again_is_given_up(monkeypatch):
    workers = use_workers(monkeypatch, MortalWorkers())
    bandit = Sharded(sb.SlateUCB, D, 4, shards=2)
    workers.deaths = 2.0
    with pytest.raises(ShardLost, match="shard 0 of 2 has died 5 times"):
        bandit.rank(X, 2)
    workers.deaths = 0.0
    assert len(bandit.rank(X, 2)) == 2


def test_the_log_says_which_shard_died(monkeypatch, caplog):
    workers = use_workers(monkeypatch, MortalWorkers())
    bandit = Sharded(sb.SlateUCB, D, 4, shards=2)
    workers.kill(workers.started[1])
    bandit.rank([1.0, 2.0, 3.0], 2)
    assert caplog.messages == ["shard 1 of 2 is started anew, and told all that it knew"]
