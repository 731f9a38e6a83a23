import numpy as np
import pytest
from scipy import sparse

import semibandit as sb

T, D, K = 120, 5, 7


def data(seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((T, D)), (random.random((T, K)) < 0.3).astype(np.uint8)


LEARNERS = {
    "ucb": lambda labels=K: sb.SlateUCB(D, labels, width=sb.Scaled(0.5), scale="unit"),
    "obr": lambda labels=K: sb.OBR(D, labels),
    "random": lambda labels=K: sb.Random(D, labels),
    "banditron": lambda labels=K: sb.Banditron(D, labels),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_replay_is_the_loop(name):
    X, Y = data()
    ours, plain = LEARNERS[name](), LEARNERS[name]()
    slots = 1 if plain.one_slot else 3
    trace = sb.replay(ours, X, Y, slots)
    for t in range(T):
        slate = plain.rank(X[t], slots)
        relevant = set(np.flatnonzero(Y[t]).tolist())
        told = relevant if plain.full_information else [i for i in slate.labels if i in relevant]
        plain.learn(slate, told)
        assert trace.slates[t, : trace.sizes[t]].tolist() == slate.labels
        assert np.all(trace.slates[t, trace.sizes[t] :] == -1)
        shown = slate.labels
        assert trace.losses("ac")[t] == pytest.approx(sb.loss_ac(relevant, shown))
        assert trace.losses("hamming")[t] == sb.hamming(relevant, shown)
        assert trace.losses("rank")[t] == sb.loss_rank(relevant, shown, K)
        assert trace.losses("p_rank")[t] == sb.loss_p_rank(relevant, shown, slots)
    np.testing.assert_allclose(ours.scores(X[0]).margin, plain.scores(X[0]).margin, atol=1e-9)
    assert ours.t == plain.t
    assert trace.averages("ac")[-1] == pytest.approx(trace.losses("ac").mean())
    hits = sum(len({*trace.slates[t]} & {*np.flatnonzero(Y[t])}) for t in range(T))
    assert trace.precision == pytest.approx(hits / trace.sizes.sum())
    assert trace.recall == pytest.approx(hits / Y.sum())


def test_it_goes_on_from_where_the_learner_is_and_takes_sparse_rows_and_names():
    X, Y = data()
    whole, parts = (LEARNERS["ucb"](list("abcdefg")) for _ in range(2))
    one = sb.replay(whole, X, Y, 3)
    first = sb.replay(parts, sparse.csr_array(X[:50]), sparse.csr_array(Y[:50]), 3)
    rest = sb.replay(parts, X[50:].tolist(), Y[50:].astype(bool), [3] * 70)
    np.testing.assert_array_equal(
        one.losses("ac"), np.concatenate([first.losses("ac"), rest.losses("ac")])
    )
    assert whole.t == parts.t == T + 1


def test_replay_refuses_what_does_not_fit():
    X, Y = data()
    for x, y, slots, message in (
        (X, Y[:, :5], 3, r"Y has shape \(120, 5\).*expected \(120, 7\)"),
        (X[:9], Y, 3, r"expected \(9, 7\)"),
        (X, Y, [1, 2], "slots has 2 entries for 120 rounds"),
        (X, Y * 2, 3, "row 0 of Y holds 2; relevant labels are 1"),
        (X[0], Y, 3, "X must have a row per round"),
        (X, Y, -3, "slots = -3"),
    ):
        with pytest.raises(sb.InputError, match=message):
            sb.replay(LEARNERS["ucb"](), x, y, slots)
    with pytest.raises(sb.InputError, match="one of ac, hamming, rank, p_rank"):
        sb.replay(LEARNERS["ucb"](), X, Y).losses("0/1")


def test_a_progress_bar_is_shown_where_asked_for(capsys):
    X, Y = data()
    sb.replay(LEARNERS["ucb"](), X, Y, 3, progress=True)
    assert "SlateUCB" in capsys.readouterr().err
    sb.replay(LEARNERS["ucb"](), X, Y, 3)
    assert capsys.readouterr().err == ""
