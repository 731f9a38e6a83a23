"""Learners that forget decide as one whose matrices lose weight in every round, naively."""

import copy

import numpy as np
import pytest

import semibandit as sb
from forgetting_reference import Naive
from semibandit.models.model import Look

D, K = 4, 6
LOSSES = {"square": sb.Square(), "logistic": sb.Logistic(1.3)}
MODELS = {"full": sb.Full(), "diagonal": sb.Diagonal(), "dual": sb.Dual(sb.linear)}


class NaiveOBR(sb.OBR):
    """OBR with a matrix of its own for each label."""

    def _start(self, n_labels):
        return Naive().start(n_labels, self.n_inputs)


def forgetting(learner, h):
    """The learner, with this half-life."""
    learner.forget = learner._set_half_life(h)
    return learner


def pair(model, loss, h, **more):
    """A learner and its naive twin."""
    options = {"loss": LOSSES[loss], "seed": 3, **more}
    if model == "obr":
        return [forgetting(cls(D, K, **options), h) for cls in (sb.OBR, NaiveOBR)]
    models = MODELS[model], Naive(diagonal=model == "diagonal")
    width = sb.Scaled(0.6)
    return [sb.SlateUCB(D, K, model=m, width=width, forget=h, **options) for m in models]


def answer(random, learner, x):
    """The labels that are relevant for x: scaled so that margins leave D now and then."""
    truth = np.random.default_rng(0).standard_normal((50, D)) * 2
    noisy = truth[: len(learner.labels)] @ x + 0.3 * random.standard_normal(len(learner.labels))
    return [label for label, score in zip(learner.labels, noisy, strict=True) if score > 0]


def compare(ours, naive, random, rounds):
    """Play rounds on both: the same slates, margins and widths in each."""
    shown = 0
    for _ in range(rounds):
        x = random.standard_normal(D)
        slots = int(random.integers(0, 5))
        one, two = ours.rank(x, slots), naive.rank(x, slots)
        assert one.labels == two.labels
        scores = ours.scores(x), naive.scores(x)
        np.testing.assert_allclose(scores[0].margin, scores[1].margin, atol=1e-8)
        np.testing.assert_allclose(scores[0].width, scores[1].width, atol=1e-8)
        relevant = answer(random, ours, x)
        told = relevant if ours.full_information else [i for i in one.labels if i in relevant]
        ours.learn(one, told)
        naive.learn(two, told)
        shown += len(one)
    return shown


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", [*MODELS, "obr"])
@pytest.mark.parametrize("h", [1.0, 3.3, 20.0, 64.0])
def test_every_model_decides_as_the_naive_twin(model, loss, h):
    ours, naive = pair(model, loss, h)
    shown = compare(ours, naive, np.random.default_rng(1), 300)
    assert shown > 200
    X = np.random.default_rng(2).standard_normal((9, D))
    for one, two in zip(ours.rank_many(X, 3), naive.rank_many(X, 3), strict=True):
        assert one.labels == two.labels
        np.testing.assert_allclose(one.width, two.width, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_labels_come_and_go_and_a_file_is_written_meanwhile(model, tmp_path):
    ours, naive = pair(model, "square", 8.0)
    random = np.random.default_rng(4)
    for k in range(6):
        compare(ours, naive, random, 30)
        for learner in (ours, naive):
            learner.retire_labels([learner.labels[k % 3]])
        compare(ours, naive, random, 10)
        for learner in (ours, naive):
            learner.add_labels(1 + k % 2)
        compare(ours, naive, random, 3)
        ours.save(tmp_path / "learner.npz")
        ours = sb.load(tmp_path / "learner.npz")
        assert ours.forget == 8.0
    compare(ours, naive, random, 60)


@pytest.mark.parametrize("model", MODELS)
def test_late_feedback_is_learned_at_the_clock_that_it_finds(model):
    ours, naive = pair(model, "square", 5.0)
    random = np.random.default_rng(5)
    waiting = []
    for _ in range(120):
        x = random.standard_normal(D)
        one, two = ours.rank(x, 3), naive.rank(x, 3)
        assert one.labels == two.labels
        waiting.append((one, two, [i for i in one.labels if i in answer(random, ours, x)]))
        if len(waiting) == 7:
            for late in reversed(waiting):
                ours.learn(late[0], late[2])
                naive.learn(late[1], late[2])
            waiting.clear()


@pytest.mark.parametrize("model", MODELS)
def test_a_changed_world_is_learned_sooner(model):
    x = np.ones(D)
    learners = [sb.SlateUCB(D, 1, model=MODELS[model], a=1.0, forget=h) for h in (None, 15)]
    for learner in learners:
        for _ in range(150):
            learner.learn(learner.rank(x), [0])
        for _ in range(30):
            learner.learn(learner.rank(x), [])
    never, forgets = (learner.scores(x).margin[0] for learner in learners)
    assert forgets < min(-0.3, never - 0.4)


def test_forgetting_survives_a_copy():
    ours, _ = pair("full", "square", 4.0)
    random = np.random.default_rng(6)
    ours.learn(ours.rank(np.ones(D), 3), [])
    other = copy.deepcopy(ours)
    compare(ours, other, random, 40)


@pytest.mark.parametrize(
    "forget", [0, -1, 0.0, float("nan"), float("inf"), 10**400, True, "3", [3]]
)
def test_a_half_life_must_be_a_positive_number(forget):
    with pytest.raises(
        sb.InputError, match=r"forget = .*must be a half-life in rounds, at least 1"
    ):
        sb.SlateUCB(D, K, forget=forget)


def test_who_gives_the_weight_that_is_kept_is_told_its_half_life():
    with pytest.raises(
        sb.InputError, match=r"forget = 0\.99.* 0\.99 of its weight a round has one of 69$"
    ):
        sb.SlateUCB(D, K, forget=0.99)


class Fixed:
    """A model of the user's own that cannot forget, and knows nothing."""

    sparse = False

    def start(self, n_labels, n_features):
        return FixedState(n_labels)


class FixedState:
    def __init__(self, n_labels):
        self.n = n_labels

    def look(self, x):
        return Look(x, np.zeros(self.n), np.ones(self.n))

    margins = look

    def look_many(self, xs):
        return np.zeros((len(xs), self.n)), np.ones((len(xs), self.n))

    def step(self, look, moved, change, shown, steps):
        pass

    def dimension(self, t):
        return 1

    def add(self, n):
        self.n += n

    def reset(self, rows):
        pass

    def arrays(self):
        return {}

    def restore(self, arrays):
        pass


def test_a_model_of_your_own_need_not_forget():
    bandit = sb.SlateUCB(D, K, model=Fixed())
    bandit.learn(bandit.rank(np.ones(D), 2), [])
    assert bandit.t == 2
    with pytest.raises(sb.InputError, match=r"forget = 30, but the model .*Fixed.* cannot forget"):
        sb.SlateUCB(D, K, model=Fixed(), forget=30)
