"""Replay on a device shows what the plain loop in float64 shows, and learns the same."""

import numpy as np
import pytest
from replays import Windows, assert_same_state, pair, shown, world

import semibandit as sb
from semibandit.errors import DeviceError
from semibandit.evaluation.gpu_runner import GpuRunner
from semibandit.evaluation.runners import runner_for
from semibandit.models.gpu import window

CASES = [
    (2000, 32, 500, {"width": sb.Scaled(0.5), "a": 1.0}),
    (2000, 32, 500, {"width": sb.Scaled(0.1), "a": 0.5}),
    (150, 32, 1000, {"width": sb.Scaled(0.2), "a": 0.5}),
    (150, 8, 300, {"loss": sb.Logistic(2.0), "at_least": 2, "probe": 0.5, "a": 0.3}),
    (60, 8, 200, {"loss": sb.Logistic(1.5), "cost": sb.constant, "a": 0.4, "scale": "none"}),
]


@pytest.mark.parametrize(("K", "d", "T", "options"), CASES)
def test_replay_is_the_plain_loop(K, d, T, options, device):
    X, Y = world(K, d, T)
    one, two = pair(K, d, device, **options)
    expected = sb.replay(one, X, Y, slots=10, plain=True)
    found = sb.replay(two, X, Y, slots=10)
    assert shown(found) == shown(expected)
    np.testing.assert_array_equal(found.relevant, expected.relevant)
    assert two.t == one.t
    assert_same_state(one, two)


def test_slots_may_differ_from_round_to_round_and_be_none(device):
    X, Y = world(30, 6, 80)
    one, two = pair(30, 6, device, a=0.7)
    slots = [[0, 1, 5, None, 30][t % 5] for t in range(80)]
    assert shown(sb.replay(two, X, Y, slots)) == shown(sb.replay(one, X, Y, slots, plain=True))


def test_greedy_is_played_on_the_device(device, monkeypatch):
    windows, (X, Y) = Windows(monkeypatch), world(40, 6, 100)
    one, two = (sb.Greedy(6, 40, model=sb.Full(device=on), a=1.0) for on in (None, device))
    assert shown(sb.replay(two, X, Y, 5)) == shown(sb.replay(one, X, Y, 5, plain=True))
    assert sum(windows.rounds) == 100


@pytest.mark.parametrize("most", [1, 7])
def test_a_window_is_as_many_small_ones(most, device, monkeypatch):
    X, Y = world(1500, 16, 200)
    one, two = (pair(1500, 16, device, a=0.5, probe=0.5)[1] for _ in range(2))
    expected = sb.replay(one, X, Y, slots=10)
    windows = Windows(monkeypatch, most)
    assert shown(sb.replay(two, X, Y, slots=10)) == shown(expected)
    assert max(windows.rounds) <= most
    assert_same_state(one, two, atol=2e-6)


def test_windows_end_early_if_candidates_run_out(device, monkeypatch):
    X, Y = world(1500, 16, 400)
    one, two = pair(1500, 16, device, width=sb.Scaled(0.3), a=1.0)
    monkeypatch.setattr(window, "WANTED", 12)
    windows = Windows(monkeypatch)
    found = sb.replay(two, X, Y, slots=10)
    assert shown(found) == shown(sb.replay(one, X, Y, slots=10, plain=True))
    assert sum(windows.rounds) == 400
    assert 0 < min(windows.rounds) < 30


def test_more_labels_with_one_score_than_can_be_listed(device, monkeypatch):
    """All labels have seen the same context and have equal scores: only ties decide."""
    K, T = 1200, 140
    X, Y = np.tile([0.6, -0.8, 0.1], (T, 1)), np.zeros((T, K), dtype=np.int8)
    one, two = pair(K, 3, device, a=1.0, scale="unit", bias=False)
    windows = Windows(monkeypatch)
    found = sb.replay(two, X, Y, slots=10)
    assert shown(found) == shown(sb.replay(one, X, Y, slots=10, plain=True))
    assert windows.exact > 0
    assert_same_state(one, two)


def test_the_next_window_is_opened_while_one_is_played_if_no_label_is_new(device, monkeypatch):
    X, Y = world(60, 6, 400)
    plain, there = pair(60, 6, device, a=1.0, probe=0.2)  # all labels are shown in the first rounds
    windows = Windows(monkeypatch, 16)
    assert shown(sb.replay(plain, X, Y, 8)) == shown(sb.replay(there, X, Y, 8))
    assert_same_state(plain, there)
    assert sum(windows.rounds) == 400
    assert windows.ahead >= 15


def test_labels_come_and_go_and_the_learner_is_saved(device, tmp_path):
    K, d = 60, 6
    X, Y = world(K + 20, d, 300)
    one, two = pair([f"l{i}" for i in range(K)], d, device, a=0.5, width=sb.Scaled(0.3))
    for first in (0, 100, 200):
        for learner in (one, two):
            if first:
                learner.retire_labels(learner.labels[5:15])
                learner.add_labels([f"new{first}-{i}" for i in range(10)])
        y = Y[first : first + 100, : len(one.labels)]
        expected = sb.replay(one, X[first : first + 100], y, slots=5, plain=True)
        assert shown(sb.replay(two, X[first : first + 100], y, slots=5)) == shown(expected)
        two.save(tmp_path / "two.npz")
        two = sb.load(tmp_path / "two.npz", device=device)
    assert_same_state(one, two)
    there = sb.load(tmp_path / "two.npz")
    assert [there.rank(x, 5).labels for x in X[:20]] == [one.rank(x, 5).labels for x in X[:20]]


def test_a_replay_goes_on_where_the_last_one_ended(device):
    X, Y = world(300, 8, 200)
    one, two = pair(300, 8, device)
    first, second = (sb.replay(two, X[part], Y[part], 5) for part in (slice(90), slice(90, 200)))
    expected = shown(sb.replay(one, X, Y, 5, plain=True))
    assert shown(first) + shown(second) == expected


@pytest.mark.parametrize(
    ("options", "masked"),
    [
        ({}, True),
        ({"project": "all"}, False),
        ({"forget": 100.0}, False),
        ({"examination": [1.0, 0.5]}, False),
        ({"cost": [[1.0], [1.0, 0.5], [1.0, 0.5, 0.2]]}, False),
    ],
)
def test_what_a_window_cannot_play_is_played_round_by_round(options, masked, device):
    X, Y = world(20, 4, 30)
    one, two = pair(20, 4, device, **options)
    assert runner_for(two, 3, None, masked=masked) is None
    assert isinstance(runner_for(pair(20, 4, device)[1], 3, None), GpuRunner)
    some = {"candidates": list(range(15))} if masked else {}
    expected = sb.replay(one, X, Y, 3, plain=True, **some)
    assert shown(sb.replay(two, X, Y, 3, **some)) == shown(expected)


def test_slates_too_long_for_a_window_are_played_round_by_round(device):
    learner = pair(200, 4, device)[1]
    assert isinstance(runner_for(learner, window.MOST_SLOTS, None), GpuRunner)
    assert runner_for(learner, window.MOST_SLOTS + 1, None) is None


def test_programs_that_wait_in_vain_are_an_error(device, monkeypatch):
    learner = pair(20, 4, device)[1]
    functions = window.functions_for(learner._state.t.device)
    monkeypatch.setattr(functions, "play_rounds", lambda w, *rest: w.meta[window.ERROR].fill_(1))
    with pytest.raises(DeviceError, match="in vain"):
        sb.replay(learner, *world(20, 4, 10), slots=3)
    assert learner.t == 1
