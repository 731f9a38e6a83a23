"""A learner on a device shows what the same learner in float64 shows, whatever happens to it."""

import numpy as np
import pytest
from beside import answer, contexts, pair, play_beside

import semibandit as sb
from semibandit.models.gpu.precision import error_of

SETTINGS = [
    (2000, 500, {"width": sb.Scaled(0.5), "a": 1.0, "probe": 0.0}),
    (2000, 500, {"width": sb.Scaled(0.1), "a": 0.5}),
    (150, 1000, {"width": sb.Scaled(0.2), "a": 0.5}),
    (150, 500, {"width": sb.Scaled(0.2), "a": 0.5, "loss": sb.Logistic(2.0)}),
    (150, 300, {"width": sb.Scaled(0.2), "a": 1.0, "loss": sb.Logistic(4.0), "project": "all"}),
    (150, 400, {"width": sb.Scaled(0.2), "forget": 40.0}),
    (150, 300, {"width": sb.UnknownNorm(), "a": 0.9, "scale": "standard", "bias": True}),
    (150, 200, {"width": sb.Scaled(0.2), "examination": (1.0, 0.7, 0.5)}),
]


@pytest.mark.parametrize(("labels", "rounds", "options"), SETTINGS)
def test_slates_are_those_of_float64(device, labels, rounds, options):
    found = play_beside(*pair(32, labels, device, **options), contexts(rounds, 32), 10)
    assert found.wrong == 0
    assert found.near <= found.undecided
    assert found.worst < error_of(options.get("loss", sb.Square()).R)


def test_labels_come_and_go_with_candidates_and_late_feedback(device):
    late = []

    def each(t, cpu, gpu):
        if t % 40 == 20:
            for one in (cpu, gpu):
                one.retire_labels(one.labels[3:6])
        if t % 50 == 30:
            names = [f"new {t} {i}" for i in range(4)]
            for one in (cpu, gpu):
                one.add_labels(names)
        if t % 5 == 1:
            return {"candidates": cpu.labels[: 40 if t % 2 else 4]}
        return {"exclude": cpu.labels[1:4]} if t % 5 == 2 else {}

    def learn(t, cpu, gpu, slate):
        late.append((slate, answer(slate, t)))
        if t % 3 == 2:  # the answers of three rounds, the last one first
            while late:
                slate, clicked = late.pop()
                cpu.learn(slate, clicked)
                gpu.learn(slate, clicked)

    names = [f"label {i}" for i in range(60)]
    cpu, gpu = pair(12, names, device, width=sb.Scaled(0.3))
    found = play_beside(cpu, gpu, contexts(300, 12), 5, each=each, learn=learn)
    assert found.wrong == 0
    assert gpu._state.n < len(gpu.labels) + 20  # memory follows the labels that are there


def test_many_contexts_and_all_scores(device):
    cpu, gpu = pair(8, 50, device)
    X = contexts(120, 8)
    play_beside(cpu, gpu, X, 4)
    one, two = cpu.rank_many(X[:20], 4), gpu.rank_many(X[:20], 4)
    assert [slate.labels for slate in one] == [slate.labels for slate in two]
    np.testing.assert_allclose(cpu.scores(X[0]).margin, gpu.scores(X[0]).margin, atol=1e-6)
    np.testing.assert_allclose(cpu.scores(X[0]).width, gpu.scores(X[0]).width, atol=1e-6)


def test_a_learner_that_explores_otherwise(device):
    X = contexts(60, 8)
    for cls in (sb.Greedy, sb.EpsilonGreedy, sb.Thompson):
        cpu, gpu = (cls(8, 20, model=model) for model in (sb.Full(), sb.Full(device=device)))
        for x in X:
            one, two = cpu.rank(x, 3), gpu.rank(x, 3)
            assert one.labels == two.labels
            clicked = one.labels[:1]
            cpu.learn(one, clicked)
            gpu.learn(one, clicked)


def test_undecided_are_those_that_float32_cannot_tell_apart(device):
    bandit = sb.SlateUCB(4, 30, model=sb.Full(device=device), scale="unit", bias=False, probe=0.0)
    x = contexts(1, 4)[0]
    bandit.rank(x, 5)
    assert bandit._state.undecided == 0  # equal labels are ties, and go by their order
    state = bandit._state
    state.learn_at(x, np.array([1, 2]), np.ones(2), sb_step())
    bandit._changes += 1
    bandit.rank(x, 5)
    assert state.undecided == 0  # the same history
    state.t.w[1, 0] += 1e-6
    bandit.rank(x, 5)
    assert state.undecided == 1


def sb_step():
    from semibandit.models.fused import LossStep

    return LossStep(1.0, 1.0, False)
