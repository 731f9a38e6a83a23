"""Feedback in groups: the same learner to the bit, however events are divided into groups.

The plain twin of the compiled loop is `learn`, slate by slate.
"""

import copy

import numpy as np
import pytest
from learners import bits

import semibandit as sb
from semibandit.models import dense
from semibandit.policies import feedback_batch
from semibandit.policies.feedback_batch import can_compile
from semibandit.store.event import Decision, Feedback, LabelChange
from semibandit.store.rebuild import learn_event, learn_events

D, LABELS = 12, [f"label {i}" for i in range(9)]
NAMES = {f"number {i}": "number" for i in range(8)} | {"device": "category:9", "tags": "set:6"}

COMPILED = {
    "square": lambda: sb.SlateUCB(D, LABELS),
    "logistic": lambda: sb.SlateUCB(D, LABELS, loss=sb.Logistic(2.0)),
    "float32": lambda: sb.SlateUCB(D, LABELS, model=sb.Full("float32")),
    "unit": lambda: sb.SlateUCB(D, LABELS, scale="unit", bias=False),
    "none": lambda: sb.SlateUCB(D, LABELS, scale="none"),
    "greedy": lambda: sb.Greedy(D, LABELS),
    "Thompson": lambda: sb.Thompson(D, LABELS, seed=4),
    "at least": lambda: sb.SlateUCB(D, LABELS, at_least=2),
    "numbered": lambda: sb.SlateUCB(D, len(LABELS)),
    "examination": lambda: sb.SlateUCB(D, LABELS, examination=(0.9, 0.5, 0.2), seed=3),
    "logistic examination": lambda: sb.Greedy(
        D, LABELS, loss=sb.Logistic(2.0), examination=(1.0, 0.3)
    ),
    "last click": lambda: sb.SlateUCB(D, LABELS, examination="up to the last click"),
    "names": lambda: sb.SlateUCB(sb.Features(**NAMES), LABELS),
}
ONE_BY_ONE = {
    "few features": lambda: sb.SlateUCB(4, LABELS),
    "examination one by one": lambda: sb.Thompson(4, LABELS, examination=(1.0, 0.4)),
    "project all": lambda: sb.SlateUCB(D, LABELS, project="all"),
    "forget": lambda: sb.SlateUCB(D, LABELS, forget=40.0),
    "diagonal": lambda: sb.SlateUCB(D, LABELS, model=sb.Diagonal()),
    "dual": lambda: sb.SlateUCB(D, LABELS, model=sb.Dual(sb.rbf(0.5))),
    "hashed": lambda: sb.SlateUCB(sb.Hashed(16), LABELS),
    "Confidit": lambda: sb.Confidit(D, LABELS, seed=1),
    "Banditron": lambda: sb.Banditron(D, LABELS, seed=1),
}
LEARNERS = COMPILED | ONE_BY_ONE


def context(learner, random):
    """A context as it would be asked for; some names are left out, and some values are new."""
    if learner.features is None:
        return random.standard_normal(learner.n_features) * 3 + 100
    kinds = {name: random.standard_normal() for name in NAMES if name.startswith("number")}
    kinds |= {"device": f"device {random.integers(9)}", "tags": [f"t{random.integers(6)}"]}
    if not isinstance(learner.features, sb.Features):
        return {name: value for name, value in kinds.items() if name != "tags"}
    return {name: value for name, value in kinds.items() if random.random() < 0.8}


def decide(learner, t, random):
    asked, slots = context(learner, random), 1 if learner.one_slot else int(random.integers(2, 6))
    slate = learner.rank(asked, slots, draw=t)
    given = slate.given
    if not isinstance(given, np.ndarray):
        given = np.bincount(given.index, given.value, minlength=given.size)
    seen = slate.x if learner.scaling_learns and isinstance(slate.x, np.ndarray) else None
    if isinstance(learner.features, sb.Hashed):
        seen = None
    named = None if isinstance(asked, np.ndarray) else asked
    width = [0.0] * len(slate)
    return Decision(
        f"d{t}", 0.0, given, slots, None, None, slate.labels, width, width, width, learner.t, t,
        slate.propensity, slate.leader, slate.probe, seen, named, slate.new,
    )  # fmt: skip


def strange(decision, kind):
    """Feedback that a learner refuses, each time the log is learned."""
    change = {
        "label": {"labels": ["nobody"]},
        "twice": {"labels": ["label 1", "label 1"]},
        "context": {"context": decision.context[:-1]},
        "infinite": {"context": np.full_like(decision.context, np.inf)},
        "flag": {"labels": [True]},
    }[kind]
    values = {key: getattr(decision, key) for key in Decision.__dataclass_fields__} | change
    return Feedback(decision.id, 0.0, []), Decision(**values)


def play(make, rounds=150, seed=0):
    """A service's life: late feedback, labels that come and go, events that are refused."""
    learner, random, waiting, log = make(), np.random.default_rng(seed), [], []

    def learn(event, decision):
        log.append((event, decision))
        return learn_event(learner, event, decision)

    for t in range(rounds):
        waiting.append(decide(learner, t, random))
        while len(waiting) > 6 or (waiting and random.random() < 0.5):
            old = waiting.pop(int(random.integers(len(waiting))))
            examined = old.labels[: random.integers(len(old.labels) + 1)]
            seen = old.labels if random.random() < 0.7 else examined
            clicked = [label for label in seen if random.random() < 0.3]
            learn(Feedback(old.id, 0.0, clicked, None if seen is old.labels else seen), old)
        if t in (30, 90):
            assert learn(LabelChange(0.0, retire=learner.labels[1:3]), None)
        if t in (50, 100, 145):
            more = 2 if learner.numbered else [f"new {t}", "label 1" if t == 50 else f"x {t}"]
            assert learn(LabelChange(0.0, add=more), None)
        if t % 40 == 7:
            for kind in ("label", "twice", "context", "infinite", "flag"):
                assert not learn(*strange(decide(learner, t, random), kind))
    return learner, log


def learned_in_groups(learner, log, size):
    """The learner after the log in groups, and what was said of each event."""
    left, found = list(log), []
    while left:
        some = learn_events(learner, left[: size()])
        assert some
        del left[: len(some)]
        found += some
    return learner, found


@pytest.mark.parametrize("kind", LEARNERS)
def test_in_groups_and_one_by_one_are_the_same_to_the_bit(kind, monkeypatch):
    for module in (dense, feedback_batch):  # some rows are compensated before the end
        monkeypatch.setattr(module, "COMPENSATED_FROM", 25)
    make = LEARNERS[kind]
    assert can_compile(make()) == (kind in COMPILED)
    learner, log = play(make)
    random = np.random.default_rng(1)
    for size in (lambda: 64, lambda: 1, lambda: int(random.integers(1, 9))):
        again, found = learned_in_groups(make(), log, size)
        assert bits(again) == bits(learner)
        assert found.count(False) == 4 * 5
    if kind in COMPILED:
        assert learner._state.dense.n_errors
        assert (learner._state.low_rank.newest_of[: learner._state.n] >= 0).any()


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_learner_from_a_file_goes_on_to_the_bit(kind, tmp_path):
    learner, log = play(LEARNERS[kind], rounds=80)
    half = learned_in_groups(LEARNERS[kind](), log[:50], lambda: 7)[0]
    half.save(tmp_path / "half.npz")
    again = learned_in_groups(sb.load(tmp_path / "half.npz"), log[50:], lambda: 5)[0]
    assert bits(again) == bits(learner)


@pytest.mark.parametrize("kind", COMPILED)
def test_it_learns_what_learn_learns_to_the_bit(kind, monkeypatch):
    for module in (dense, feedback_batch):
        monkeypatch.setattr(module, "COMPENSATED_FROM", 25)
    learner, log = play(COMPILED[kind])
    with monkeypatch.context() as patch:
        patch.setattr(feedback_batch, "has_numba", lambda: False)
        plain = learned_in_groups(COMPILED[kind](), log, lambda: 9)[0]
    assert bits(plain) == bits(learner)
    for label in range(len(LABELS)):
        inverse = learner._state.inverse(label)
        np.testing.assert_array_equal(inverse, inverse.T)


def test_a_learner_with_its_own_way_to_learn_is_asked_itself():
    class Own(sb.SlateUCB):
        def _absorb(self, slate, rows, signs):
            raise RuntimeError("its own")

    learner, random = Own(D, LABELS), np.random.default_rng(0)
    decision = decide(learner, 0, random)
    with pytest.raises(RuntimeError, match="its own"):
        learn_event(learner, Feedback("d0", 0.0, []), decision)
    loss = type("Own", (sb.Square,), {})()
    assert not can_compile(sb.SlateUCB(D, LABELS, loss=loss))


def test_labels_that_change_meanwhile_are_read_again(monkeypatch):
    learner, log = play(COMPILED["square"], rounds=40)
    want = copy.deepcopy(learner)
    event, decision = next(one for one in log if isinstance(one[0], Feedback))
    gone = [label for label in decision.labels if label in learner.labels][:1]
    want.retire_labels(gone)
    learn_event(want, event, decision)
    read, calls = feedback_batch._read, []

    def interrupted(*given):
        found = read(*given)
        if not calls:
            learner.retire_labels(gone)
        calls.append(found)
        return found

    monkeypatch.setattr(feedback_batch, "_read", interrupted)
    learn_event(learner, event, decision)
    assert len(calls) == 2
    assert bits(learner) == bits(want)


@pytest.mark.parametrize("size", [4, D])
def test_a_tiny_context_is_learned(size):
    learner = sb.SlateUCB(size, LABELS, scale="none", bias=False)
    x = np.full(size, 1e-200)
    decision = Decision("d", 0.0, x, 1, None, None, LABELS[:1], [0.5], [0.5], [0.5], 1, 0)
    assert learn_event(learner, Feedback("d", 0.0, LABELS[:1]), decision)
    assert np.isfinite(learner._state.w[0]).all()
