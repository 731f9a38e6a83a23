"""Many rank at once, one learns alone, and neither starves the other."""

import threading

import numpy as np
from learners import D, K

import semibandit as sb


def test_neither_rank_nor_learn_starves_the_other():
    learner, stop, ranks = sb.SlateUCB(D, K), threading.Event(), [0]

    def watch():
        while not stop.is_set():
            learner.rank(np.ones(D), 2)
            ranks[0] += 1

    watchers = [threading.Thread(target=watch) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    for learned in range(10**9):  # both go on until both have moved
        slate = learner.rank(np.ones(D), 2)
        learner.learn(slate, [])
        if learned > 300 and ranks[0] > 100:
            break
    stop.set()
    for watcher in watchers:
        watcher.join()


def test_a_retired_label_is_never_shown_while_others_rank():
    learner, stop, wrong = sb.SlateUCB(D, list("abcdef"), a=1.0), threading.Event(), []

    def watch():
        while not stop.is_set():
            slate = learner.rank(np.ones(D))
            if None in slate.labels:
                wrong.append(slate.labels)

    watchers = [threading.Thread(target=watch) for _ in range(4)]
    for watcher in watchers:
        watcher.start()
    for _ in range(200):
        learner.retire_labels(["b", "e"])
        learner.add_labels(["b", "e"])
    stop.set()
    for watcher in watchers:
        watcher.join()
    assert not wrong


def test_rank_beside_learn_sees_whole_rounds_only():
    """Every rank in another thread is one that some moment between two learns would give."""
    x = np.ones(D)
    learner, twin = (sb.SlateUCB(D, K, width=sb.Scaled(0.5), seed=1) for _ in range(2))
    possible = []
    for _ in range(300):
        slate = twin.rank(x, 3)
        possible.append(twin.scores(x).margin.tobytes())
        twin.learn(slate, slate.labels[:1])
    possible.append(twin.scores(x).margin.tobytes())
    seen, stop = [], threading.Event()

    def watch():
        while not stop.is_set():
            seen.append(learner.scores(x).margin.tobytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(300):
        slate = learner.rank(x, 3)
        learner.learn(slate, slate.labels[:1])
    stop.set()
    watcher.join()
    assert seen
    assert set(seen) <= set(possible)
