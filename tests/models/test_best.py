"""The search for the best labels: exact, whatever the bounds are."""

from __future__ import annotations

import numpy as np
import pytest

from semibandit._util.ordering import turned
from semibandit.models import best, compiled_best
from semibandit.models.full import Full
from semibandit.models.partial import Aim, BestState, prefers_best

NO_LABELS = np.empty(0, dtype=np.intp)
GRID = 1e9


@pytest.fixture(params=["compiled", "numpy"])
def way(request, monkeypatch):
    monkeypatch.setattr(best, "COMPILED", 0)
    if request.param == "numpy":
        monkeypatch.setattr(best, "use_compiled", lambda *_, **__: False)
    assert compiled_best.find_best  # it is loaded
    return request.param


def state_with_margins(margins, d=4):
    """A state in which label i has this margin at (1, 0, 0, ...)."""
    state = Full().start(len(margins), d)
    x = np.eye(d)[0]
    for label in range(len(margins)):
        look = state.margins(x)
        state.step(look, NO_LABELS, np.empty(0), np.array([label]), np.zeros(1))
    state.w[:, 0] = margins
    return state, x


def best_of(state, x, aim):
    """The best labels, best first."""
    found = state.best(x, aim)
    look = found.look
    width = np.minimum(aim.spread * np.sqrt(look.norm2), aim.widest)
    score = np.rint((np.clip(look.margin, -aim.R, aim.R) + width) * aim.grid)
    tie = turned(aim.tie[found.labels], aim.turn)
    return found.labels[np.lexsort((tie, -score))[: aim.most]].tolist()


def test_ties_on_the_grid_that_the_bound_alone_would_lose(way):
    """Scores of 0.6, 0.9 and 1.4 steps of the grid are all 1: the tie decides, not the bound."""
    steps = np.array([0.9, 0.6, 1.4, 0.4, -3.0])
    state, x = state_with_margins(0.5 + steps / GRID)
    tie = np.array([0.3, 0.1, 0.2, 0.0, 0.0])
    aim = Aim(1, 1.0, 0.0, tie, NO_LABELS, GRID)
    assert best_of(state, x, aim) == [1]
    assert best_of(state, x, aim._replace(most=2)) == [1, 2]
    assert best_of(state, x, aim._replace(most=4)) == [1, 2, 0, 3]
    assert best_of(state, x, aim._replace(without=np.array([1]))) == [2]
    assert best_of(state, x, aim._replace(turn=0.25)) == [0]
    assert best_of(state, x, aim._replace(turn=0.15, most=4)) == [2, 0, 1, 3]


def test_untouched_labels_tie_with_touched_ones(way):
    state, x = state_with_margins(np.array([1e-10, -1e-10, -2e-9]))
    state.add(3)
    tie = np.array([0.5, 0.2, 0.0, 0.4, 0.1, 0.3])
    aim = Aim(5, 1.0, 0.0, tie, NO_LABELS, GRID)
    assert best_of(state, x, aim) == [4, 1, 5, 3, 0]
    assert best_of(state, x, aim._replace(without=np.array([1, 4]), most=2)) == [5, 3]
    assert best_of(state, x, aim._replace(turn=0.35)) == [3, 0, 4, 1, 5]


def test_labels_that_are_reset_are_found_again(way):
    state, x = state_with_margins(np.array([0.3, 0.2, -0.1]))
    aim = Aim(2, 1.0, 0.0, np.array([0.2, 0.1, 0.0]), NO_LABELS, GRID)
    assert best_of(state, x, aim) == [0, 1]
    state.reset(np.array([0]))
    assert best_of(state, x, aim) == [1, 0]
    state.reset(np.array([1, 2]))
    assert best_of(state, x, aim) == [2, 1]


def warm(K=400, d=16, rounds=60, seed=0, alike=False):
    random = np.random.default_rng(seed)
    state = Full().start(K, d)
    X = random.standard_normal((rounds, d))
    X[:, -1] = 3.0
    X /= np.linalg.norm(X, axis=1)[:, None]
    for x in X:
        shown = np.arange(K)
        steps = np.ones(K) if alike else random.standard_normal(K)
        state.step(state.margins(x), NO_LABELS, np.empty(0), shown, steps)
    return state, X


@pytest.mark.parametrize("cap", [None, np.inf])
@pytest.mark.parametrize("spread", [0.0, 0.3, 20.0])
def test_the_very_labels_of_a_full_look(way, spread, cap, monkeypatch):
    monkeypatch.setattr(best, "OVERHEAD", 0)
    state, X = warm()
    tie = np.random.default_rng(1).random(400)
    out = np.arange(0, 400, 7)
    shares = []
    for x in X:
        aim = Aim(8, 1.0, spread, tie, out, GRID, cap)
        prefers_best(state, 1, 8)
        found = state.best(x, aim)
        look = state.look(x)
        width = np.minimum(spread * np.sqrt(look.norm2), aim.widest)
        score = np.rint((np.clip(look.margin, -1, 1) + width) * GRID)
        score[out] = -np.inf
        assert best_of(state, x, aim) == np.lexsort((tie, -score))[:8].tolist()
        assert np.all(np.diff(found.labels) > 0)
        assert not np.isin(found.labels, out).any()
        np.testing.assert_allclose(found.look.margin, look.margin[found.labels], atol=1e-12)
        np.testing.assert_allclose(found.look.norm2, look.norm2[found.labels], atol=1e-12)
        shares.append(found.looked / 400)
    if spread == 0.3:
        assert np.mean(shares[30:]) < 0.3


def test_where_nothing_can_be_pruned_it_is_hardly_tried():
    state, X = warm(K=200, alike=True)
    assert isinstance(state, BestState)
    aim = Aim(8, 1.0, 1.0, np.arange(200.0), NO_LABELS, GRID)
    work = best.work_of(state)
    tried = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "PLAIN", work)
        for k in range(500):
            if prefers_best(state, 1, 8):
                tried += 1
                assert state.best(X[k % len(X)], aim).looked == 200
        assert 5 <= tried <= 20
        assert not prefers_best(state, 2, 8)  # many contexts are one matrix product
        assert not prefers_best(state, 1, 51)


def test_small_states_are_looked_at():
    state, _ = warm(K=20)
    assert not prefers_best(state, 1, 2)
