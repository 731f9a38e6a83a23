"""The contract: rank is pure, learn is atomic, labels live, bad input changes nothing."""

import copy
import pickle
import threading

import numpy as np
import pytest
from learners import ALL, D, K, contexts, drive
from scipy import sparse

import semibandit as sb
from semibandit.errors import InputError
from semibandit.models.model import dense
from semibandit.policies.slate import check_slate


def state_of(learner):
    arrays = {name: array.copy() for name, array in learner._arrays().items()}
    return learner.t, learner.labels, arrays


def assert_same(one, two):
    assert one[:2] == two[:2]
    assert one[2].keys() == two[2].keys()
    for name in one[2]:
        np.testing.assert_array_equal(one[2][name], two[2][name])


@pytest.mark.parametrize("make", ALL)
def test_rank_changes_nothing(make):
    learner = make()
    drive(learner, 20)
    before = state_of(learner)
    first = [learner.rank(x) for x in contexts(10)]
    again = [learner.rank(x) for x in contexts(10)]
    assert [s.labels for s in first] == [s.labels for s in again]
    assert_same(state_of(learner), before)


@pytest.mark.parametrize("make", ALL)
def test_rank_many_is_rank_for_each(make, monkeypatch):
    monkeypatch.setattr("semibandit.policies.batch.TOGETHER", 4 * K)  # several products
    learner = make()
    drive(learner, 30)
    X = contexts(10)
    slots = [1] * 10 if learner.one_slot else [None, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    limit = {"candidates": [0, 2, 3, 5], "exclude": [3], "draw": 4}
    for many, x, slot in zip(learner.rank_many(X, slots, **limit), X, slots, strict=True):
        one = learner.rank(x, slot, **limit)
        assert many.labels == one.labels
        assert many.slots == one.slots
        np.testing.assert_allclose(many.prob, one.prob, atol=1e-12)
        check_slate(many, learner.context_format)
    whole = [slate.labels for slate in learner.rank_many(sparse.csr_array(X))]
    assert whole == [learner.rank(sparse.csr_array(x[None, :])).labels for x in X]
    assert learner.rank_many([]) == []


def test_rank_many_says_which_row_is_wrong():
    learner = sb.SlateUCB(D, K)
    X = contexts(3)
    X[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"row 1 of X: context\[2\] is nan"):
        learner.rank_many(X)
    with pytest.raises(ValueError, match="2 slots for 3 contexts"):
        learner.rank_many(contexts(3), [1, 2])


@pytest.mark.parametrize("make", ALL)
def test_the_same_seed_gives_the_same_game(make):
    assert drive(make(), 60) == drive(make(), 60)


@pytest.mark.parametrize("make", ALL)
def test_rank_in_many_threads_gives_what_one_thread_gives(make):
    learner = make()
    drive(learner, 20)
    X = contexts(64)
    expected = [learner.rank(x).labels for x in X]
    found: list = [None] * len(X)

    def work(first):
        for i in range(first, len(X), 8):
            found[i] = learner.rank(X[i]).labels

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("make", ALL)
def test_a_copy_goes_its_own_way(make):
    learner, twin = make(), make()
    drive(learner, 20)
    drive(twin, 20)
    other = copy.deepcopy(learner)
    drive(other, 20, first=50)
    assert drive(learner, 20, first=20) == drive(twin, 20, first=20)
    again = pickle.loads(pickle.dumps(learner))
    assert drive(again, 10, first=40) == drive(learner, 10, first=40)


BAD_CONTEXTS = [
    ([1.0] * (D + 1), "context has 5 features, this model was built for 4"),
    ([1.0, np.nan, 0, 0], r"context\[1\] is nan"),
    ([1.0, 0, 0, np.inf], r"context\[3\] is inf"),
    ([0.0] * D, "context is all zeros"),
    (np.ones((2, D)), r"one vector, got an array of shape \(2, 4\)"),
    (["a", "b", "c", "d"], "context must be a list of numbers"),
    (None, "context must be"),
    ("1234", "context must be"),
    ([1j, 0, 0, 0], "context must be a list of numbers"),
    ([[1], [2, 3], 4, 5], "context must be a list of numbers"),
    (5.0, "context must be one vector"),
    (sparse.csr_array(np.ones((2, D))), "one row"),
    (sparse.csr_array((1, D)), "context is all zeros"),
    (sparse.csr_array([[0, np.nan, 0, 0]]), r"context\[1\] is nan"),
]


@pytest.mark.parametrize(("x", "message"), BAD_CONTEXTS)
@pytest.mark.parametrize("make", ALL)
def test_bad_contexts_are_refused(make, x, message):
    learner = make(scale="unit", bias=False)
    with pytest.raises(ValueError, match=message):
        learner.rank(x)
    with pytest.raises(ValueError, match=message):
        learner.scores(x)


BAD_CALLS = [
    (lambda b: b.rank(np.ones(D), -1), "slots"),
    (lambda b: b.rank(np.ones(D), 1.0), "slots"),
    (lambda b: b.rank(np.ones(D), True), "slots"),
    (lambda b: b.rank(np.ones(D), "2"), "slots"),
    (lambda b: b.rank(np.ones(D), candidates=[99]), "candidates names 99"),
    (lambda b: b.rank(np.ones(D), candidates=["x"]), "candidates names 'x'"),
    (lambda b: b.rank(np.ones(D), candidates=[1, 2, 1]), "candidates names 1 twice"),
    (lambda b: b.rank(np.ones(D), candidates=3), "candidates must be a list"),
    (lambda b: b.rank(np.ones(D), exclude=[-1]), "exclude names -1"),
    (lambda b: b.rank(np.ones(D), exclude=[1.5]), "exclude has 1.5"),
    (lambda b: b.rank(np.ones(D), draw=-1), "draw = -1"),
    (lambda b: b.learn("slate", []), "learn takes the slate that rank gave"),
    (lambda b: b.learn(b.rank(np.ones(D)), 3), "clicked must be a list"),
    (lambda b: b.learn(b.rank(np.ones(D)), "abc"), "clicked must be a list"),
    (lambda b: b.learn(b.rank(np.ones(D)), [True]), "true/false flags"),
    (lambda b: b.learn(b.rank(np.ones(D)), [0.5]), "clicked has 0.5"),
    (lambda b: b.learn(b.rank(np.ones(D)), [99]), "99"),
    (lambda b: b.learn(sb.SlateUCB(D + 1, K).rank(np.ones(D + 1)), []), "features"),
    (
        lambda b: b.learn(type(b)(D, 99, a=1.0).rank(np.ones(D), candidates=[98]), []),
        "not a label of",
    ),
    (lambda b: b.learn(type(b)(D, list("ab"), a=1.0).rank(np.ones(D)), []), "not a label of this"),
    (lambda b: b.learn(type(b)(D - 1, K, bias=True).rank(np.ones(D - 1)), []), "another learner"),
    (lambda b: b.learn(type(b)(D, K, scale="none").rank(np.ones(D)), []), "another learner"),
    (lambda b: b.add_labels(["x"]), "numbers its labels"),
    (lambda b: b.add_labels(-1), "numbers its labels"),
    (lambda b: b.retire_labels([99]), "labels names 99"),
    (lambda b: b.retire_labels([1, 1]), "labels names 1 twice"),
]


@pytest.mark.parametrize("call", range(len(BAD_CALLS)))
@pytest.mark.parametrize("make", ALL)
def test_bad_calls_are_refused_and_change_nothing(make, call):
    learner = make()
    drive(learner, 10)
    before = state_of(learner)
    act, message = BAD_CALLS[call]
    with pytest.raises(ValueError, match=message):
        act(learner)
    assert_same(state_of(learner), before)


def test_clicks_on_what_was_not_shown_are_refused():
    bandit = sb.SlateUCB(D, K)
    slate = bandit.rank(np.ones(D), 2)
    other = next(i for i in range(K) if i not in slate.labels)
    with pytest.raises(ValueError, match=rf"clicked has {other}, which was not shown"):
        bandit.learn(slate, [other])
    with pytest.raises(ValueError, match=rf"examined has {other}, which was not shown"):
        bandit.learn(slate, [], examined=[other])
    with pytest.raises(ValueError, match="was clicked, but is not among the examined"):
        bandit.learn(slate, slate.labels[:1], examined=slate.labels[1:])
    with pytest.raises(ValueError, match="twice"):
        bandit.learn(slate, slate.labels[:1] * 2)
    assert bandit.t == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_features": 0}, "n_features = 0"),
        ({"n_features": 2.5}, "n_features = 2.5"),
        ({"labels": -1}, "labels = -1"),
        ({"labels": ["a", "a"]}, "labels names 'a' twice"),
        ({"labels": "abc"}, "labels must be a list"),
        ({"labels": [None]}, "labels has None"),
        ({"seed": -1}, "seed = -1"),
        ({"loss": "square"}, "loss must be a Surrogate"),
        ({"model": "full"}, "model must be Full"),
        ({"width": 1.0}, "width must be Scaled"),
        ({"width": sb.Scaled}, "width must be Scaled"),
        ({"model": sb.Full}, "model must be Full"),
        ({"labels": {"a", "b"}}, "labels must have an order"),
        ({"labels": np.array(5.0)}, "labels must be a list"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.SlateUCB(**{"n_features": D, "labels": K} | arguments)


def test_an_unknown_setting_is_refused():
    with pytest.raises(TypeError, match="alfa"):
        sb.SlateUCB(D, K, alfa=0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb.EpsilonGreedy(D, K, epsilon=1.5), "epsilon = 1.5"),
        (lambda: sb.Thompson(D, K, alpha=-1), "alpha = -1"),
        (lambda: sb.Banditron(D, K, gamma=0), "gamma = 0"),
        (lambda: sb.Confidit(D, K, alpha=0), "alpha = 0"),
        (lambda: sb.Confidit(D, K, loss=sb.Logistic(1.0)), "Confidit has no parameter 'loss'"),
        (lambda: sb.OBR(D, K, model=sb.Full()), "OBR has no parameter 'model'"),
        (lambda: sb.Confidit(D, K).rank(np.ones(D), 2), "Confidit shows one label"),
        (lambda: sb.Banditron(D, K).rank(np.ones(D), 0), "Banditron shows one label"),
        (lambda: sb.EpsilonGreedy(D, K, epsilon="0.1"), "epsilon = '0.1'"),
        (lambda: sb.Banditron(D, K, gamma=None), "gamma = None"),
        (lambda: sb.Dual(sb.rbf), "such as rbf"),
        (lambda: sb.rbf("1"), "gamma = '1'"),
        (
            lambda: sb.Banditron(D, K).learn(sb.SlateUCB(D, K).rank(np.ones(D), 1), []),
            "no propensity",
        ),
        (lambda: sb.SlateUCB(D, K, width=lambda n, **_: 1.0).rank(np.ones(D)), "a finite width"),
        (lambda: sb.OBR(D, K).learn(sb.OBR(D, K).rank(np.ones(D)), [], []), "leave out examined"),
    ],
)
def test_bad_settings_of_baselines_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


class Exploding(sb.Surrogate):
    """The square loss, until it is told to fail."""

    def __init__(self):
        self.fuse = False
        super().__init__(g=lambda m: 1 - m, R=1.0)

    def slope(self, margin):
        if self.fuse:
            raise RuntimeError("boom")
        return super().slope(margin)


@pytest.mark.parametrize("model", [sb.Full(), sb.Diagonal(), sb.Dual(sb.linear)], ids=repr)
def test_learn_that_fails_half_way_has_changed_nothing(model):
    loss = Exploding()
    learner = sb.SlateUCB(D, K, model=model, loss=loss)
    drive(learner, 15)
    slate, before = learner.rank(np.ones(D), 3), state_of(learner)
    loss.fuse = True
    with pytest.raises(RuntimeError, match="boom"):
        learner.learn(slate, slate.labels[:1])
    loss.fuse = False
    assert_same(state_of(learner), before)
    learner.learn(slate, slate.labels[:1])
    assert learner.t == 17


def test_a_kernel_that_fails_in_learn_has_changed_nothing():
    fuse = []

    def kernel(X, Y):
        if fuse:
            raise RuntimeError("boom")
        return X @ Y.T

    learner = sb.SlateUCB(D, K, model=sb.Dual(kernel, budget=3))
    drive(learner, 15)
    slate, before = learner.rank(np.ones(D), 3), state_of(learner)
    fuse.append(1)
    with pytest.raises(RuntimeError, match="boom"):
        learner.learn(slate, slate.labels[:1])
    assert_same(state_of(learner), before)


@pytest.mark.parametrize("make", ALL)
def test_candidates_and_exclude_restrict_the_slate(make):
    learner = make()
    drive(learner, 20)
    for x in contexts(30, seed=2):
        assert set(learner.rank(x, candidates=[1, 4]).labels) <= {1, 4}
        assert set(learner.rank(x, exclude=[0, 2]).labels).isdisjoint({0, 2})
        assert set(learner.rank(x, candidates=[1, 4], exclude=[4]).labels) <= {1}
        assert learner.rank(x, candidates=[]).labels == []


def test_ranking_fills_the_slots():
    bandit = sb.SlateUCB(D, K, a=1.0, width=sb.Scaled(0.1))
    for x in contexts(200):
        slate = bandit.rank(x, 4)
        assert len(slate) == 4
        bandit.learn(slate, [])


def test_contexts_in_many_forms_are_the_same_context():
    x = [0.0, 3.0, 0.0, 4.0]
    forms = [x, tuple(x), np.array(x), np.array([x]), sparse.csr_array([x]), sparse.coo_array([x])]
    forms += [np.array(x, dtype=np.float32), [0, 3, 0, 4], np.array([0, 3, 0, 4])]
    forms += [sparse.csr_matrix([x]), np.array(x) * 1e300, np.array(x) * 1e-300]
    for model in (sb.Full(), sb.Diagonal()):
        for bias in (False, True):
            bandit = sb.SlateUCB(D, K, model=model, bias=bias, scale="unit")
            drive(bandit, 30)
            expected = bandit.scores(x).margin
            for form in forms[: None if not bias else -2]:
                np.testing.assert_allclose(bandit.scores(form).margin, expected, atol=1e-12)


def test_what_is_masked_is_unknown_and_never_the_number_under_the_mask():
    hidden = np.ma.array([3.0, 9.0, 0.0, 4.0], mask=[0, 1, 0, 0])
    shown = np.ma.array([3.0, 9.0, 0.0, 4.0], mask=[0, 0, 0, 0])
    bandit, Y = sb.SlateUCB(D, K), np.eye(2, K)
    for ask in (
        bandit.rank,
        bandit.scores,
        lambda x: bandit.shown(x, [0]),
        lambda x: bandit.rank_many(np.ma.array([shown, x])),
        lambda x: sb.Client("http://127.0.0.1:9").rank(x),
        lambda x: sb.replay(bandit, np.ma.array([shown, x]), Y),
        lambda x: sb.Dataset("d", np.ma.array([shown, x]), Y),
    ):
        with pytest.raises(InputError, match=r"masked values"):
            ask(hidden)
    with pytest.raises(InputError, match="a label is a whole number"):
        bandit.learn(bandit.rank(shown), np.ma.array([0, 1], mask=[0, 1]))
    assert bandit.scores(shown).margin.tolist() == bandit.scores(shown.data).margin.tolist()
    named = sb.SlateUCB(sb.Features(a="number", b="number"), K)
    unknown = named.encode({"a": 3.0})
    assert named.read_context(np.ma.array([3, 9], mask=[0, 1])).tolist()[0] == unknown.x[0]
    for table in ({"a": [3.0, 1.0], "b": np.ma.array([9.0, 2.0], mask=[1, 0])},):
        X, _ = named.encode_contexts(table)
        assert np.isnan(X).tolist() == [[False, True], [False, False]]
    X = named.read_contexts(np.ma.array([[3, 9], [1, 2]], mask=[[0, 1], [0, 0]]))
    assert np.isnan(X).tolist() == [[False, True], [False, False]]


def test_a_slate_keeps_its_own_context():
    unit = np.array([0.6, 0.8, 0.0, 0.0])
    for x in (unit.copy(), unit[None, :].copy(), sparse.csr_array(unit[None, :])):
        for model in (sb.Full(), sb.Diagonal()):
            slate = sb.SlateUCB(D, K, model=model, scale="none", bias=False).rank(x, 2)
            values = x.data if sparse.issparse(x) else x
            before = values.copy()
            values[:] = 7.0
            np.testing.assert_array_equal(dense(slate.x), unit)
            values[:] = before


def test_bias_appends_a_constant_before_scaling_to_unit_length():
    bandit = sb.SlateUCB(2, K, scale="unit")
    np.testing.assert_allclose(bandit.rank([2.0, 2.0]).x, [2 / 3, 2 / 3, 1 / 3])
    assert bandit.rank([0.0, 0.0]).x.tolist() == [0, 0, 1]


def test_another_draw_is_another_draw():
    learner = sb.Random(D, K)
    slates = {tuple(learner.rank(np.ones(D), 3, draw=n).labels) for n in range(20)}
    assert len(slates) > 10
