"""Replays of a learner on a device and of the same learner in float64."""

import numpy as np

import semibandit as sb


def world(K, d, T, seed=0, relevant=5):
    """Contexts, and labels that are relevant by a linear taste."""
    rng = np.random.default_rng(seed)
    X, taste = rng.standard_normal((T, d)), rng.standard_normal((K, d))
    score = X @ taste.T + 0.5 * rng.standard_normal((T, K))
    Y = np.zeros((T, K), dtype=np.int8)
    np.put_along_axis(Y, np.argpartition(-score, relevant, axis=1)[:, :relevant], 1, axis=1)
    return X, Y


def pair(K, d, device, **options):
    """The learner in float64, and the same on a device."""
    return (
        sb.SlateUCB(d, K, model=sb.Full(), **options),
        sb.SlateUCB(d, K, model=sb.Full(device=device), **options),
    )


def shown(trace):
    return [slate[slate >= 0].tolist() for slate in trace.slates]


def assert_same_state(one, two, atol=1e-5):
    """Weights and matrices of two learners are the same, label by label."""
    a, b = one._state, two._state
    np.testing.assert_array_equal(a.row_of < 0, b.row_of < 0)
    touched = np.flatnonzero(a.row_of >= 0)
    for x in np.eye(a.d)[: min(a.d, 5)]:
        np.testing.assert_allclose(a.look(x).margin, b.look(x).margin, atol=atol)
    for label in touched[:: max(1, len(touched) // 40)].tolist():
        np.testing.assert_allclose(a.inverse(label), b.inverse(label), atol=atol)


class Windows:
    """Counts the rounds of the windows that are played, each of `most` at most, and how many were
    opened while the one before was played."""

    def __init__(self, monkeypatch, most=None):
        from semibandit.models.gpu.window import Window

        self.rounds, self.exact, self.ahead = [], 0, 0
        play, plan = Window.play, Window._plan

        def counted(window, block, first, exact=False):
            self.ahead += window.ahead is not None
            done = play(window, block, first, exact)
            self.rounds.append(done)
            self.exact += exact
            return done

        def planned(window, block, first, rounds):
            return plan(window, block, first, min(rounds, most or rounds))

        monkeypatch.setattr(Window, "play", counted)
        monkeypatch.setattr(Window, "_plan", planned)
