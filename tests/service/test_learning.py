"""Feedback and label changes: learned once, in the log's order, and again to the bit."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from engines import LABELS, D, as_if_killed, change, count, give, learned, rank, running, status
from learners import bits
from server import until

import semibandit as sb
import semibandit.policies.batch
from semibandit.errors import StoreError
from semibandit.evaluation.replay_log import replay_log
from semibandit.policies import feedback_batch
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.learning import AT_ONCE, GROUP
from semibandit.service.engine.requests import PendingFeedback
from semibandit.service.engine.statistics import Statistics
from semibandit.service.settings import Limits
from semibandit.store.event import Feedback
from semibandit.store.export import write_log
from semibandit.store.rebuild import learn_events, rebuild
from semibandit.store.store import Store


def test_feedback_late_out_of_order_and_again(engine):
    old, new = rank(engine), rank(engine)
    assert give(engine, new.id, []).clicked == []
    assert give(engine, old.id, old.labels[::-1]).id == old.id
    learned(engine, 2)
    assert give(engine, old.id, old.labels).id == old.id  # the same, in another order
    assert status(lambda: give(engine, old.id, [])) == 409
    assert status(lambda: give(engine, old.id, old.labels, old.labels)) == 409
    assert status(lambda: give(engine, "nobody", [])) == 404
    third = rank(engine, slots=1)
    hidden = next(label for label in LABELS if label not in third.labels)
    assert status(lambda: give(engine, third.id, [hidden])) == 422
    assert status(lambda: give(engine, third.id, [], [hidden])) == 422
    assert status(lambda: give(engine, third.id, third.labels, [])) == 422
    assert status(lambda: give(engine, third.id, third.labels * 2)) == 422
    assert engine.learner.t == 3


def test_feedback_up_to_the_last_click_is_logged_label_by_label(engine):
    one, two = rank(engine, slots=4), rank(engine, slots=4)

    def told(id, clicked):
        feedback = Feedback(id, 0.0, clicked)
        return engine.ask(lambda answer: PendingFeedback(feedback, answer, up_to_last_click=True))

    assert told(one.id, one.labels[1:2]).examined == one.labels[:2]
    assert told(two.id, []).examined == two.labels  # nothing was clicked: all were looked at
    assert told(one.id, one.labels[1:2]).id == one.id  # the same again
    assert give(engine, one.id, one.labels[1:2], one.labels[:2]).id == one.id
    assert status(lambda: told(one.id, one.labels[:1])) == 409
    assert status(lambda: told("nobody", [])) == 404


def test_with_examination_live_stopped_and_rebuilt_are_the_same_to_the_bit(where):
    learner = sb.SlateUCB(D, LABELS, a=1.0, examination=(0.9, 0.4, 0.1))
    with running(where, learner, snapshot_every=7) as engine:
        for i in range(40):
            random = np.random.default_rng(i)
            found = rank(engine, random.standard_normal(D), 4)
            give(engine, found.id, found.labels[1:2] if i % 3 else [])
        learned(engine, 40)
        live = bits(engine.learner)
    with running(where) as engine:
        assert bits(engine.learner) == live
    with Store(where, write=False) as store:
        assert bits(rebuild(store, after=0)[0]) == live


@pytest.mark.parametrize("late", ["told", "waited for"])
def test_a_label_that_was_added_again_is_another_one_in_the_log_too(where, late, tmp_path):
    """Feedback to what was shown before teaches the new one nothing, also after a restart."""
    with running(where, sb.SlateUCB(D, LABELS, a=1.0), snapshot_every=3) as engine:
        for i in range(4):
            give(engine, rank(engine, slots=6, id=f"v{i}").id, ["a", "b"])
        for i in range(3):
            rank(engine, slots=6, id=f"old{i}")
        learned(engine, 4)
        change(engine, retire=["b"])
        change(engine, add=["b"])
        assert counted(engine.statistics, "b") == (0, 0, 0)
        assert engine.statistics.count_never_shown(LABELS) == 1
        if late == "told":
            give(engine, "old0", ["a", "b"])
        as_if_killed(engine)
    with running(where, wait=None if late == "told" else 0.01) as engine:
        if late == "told":
            give(engine, "old1", ["b"], ["b"])
            give(engine, "old2", [])
        until(lambda: engine.learner.t == 8)
        assert engine.learner.scores(np.ones(D), candidates=["b"]).estimate[0] == 0.5
        assert counted(engine.statistics, "b") == (0, 0, 0)
    with running(where) as engine:
        new = rank(engine, slots=6)
        give(engine, new.id, ["b"])
        until(lambda: engine.learner.t == 9)
        assert engine.learner.scores(np.ones(D), candidates=["b"]).estimate[0] > 0.5
        anew = Statistics()
        anew.catch_up(engine.store)
        for statistics in (engine.statistics, anew):
            assert counted(statistics, "b") == (1, 1, 1)
            assert counted(statistics, "c") == (8, 8 - (late == "told"), 0)
        live = bits(engine.learner)
    with Store(where, write=False) as store:
        assert bits(rebuild(store, after=0)[0]) == live
        decisions = [(seq, one.draw) for seq, one in store.events(0, ("decision",))]
        assert all(seq == draw for seq, draw in decisions)  # which tells old from new
        write_log(store, tmp_path / "log.jsonl")
    for log in (where, tmp_path / "log.jsonl"):
        assert bits(replay_log(log).learner) == live


def counted(statistics, label):
    counts = statistics.labels()
    row = counts.rows[label]
    return counts.decisions[row], counts.shown[row], counts.clicked[row]


def test_the_same_feedback_at_once_is_learned_once(engine):
    one = rank(engine)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: give(engine, one.id, one.labels[:1]), range(24)))
    learned(engine, 1)
    assert count(engine, "feedback") == 1
    assert engine.learner.t == 2


def test_live_stopped_and_rebuilt_are_the_same_to_the_bit(where):
    with running(where, snapshot_every=7) as engine, ThreadPoolExecutor(8) as pool:

        def visit(i):
            random = np.random.default_rng(i)
            found = rank(engine, random.standard_normal(D), 3)
            give(engine, found.id, [label for label in found.labels if random.random() < 0.4])

        list(pool.map(visit, range(60)))
        change(engine, retire=["b"])
        change(engine, add=["x", "y"])
        list(pool.map(visit, range(60, 120)))
        learned(engine, 122)
        live = bits(engine.learner)
    store = Store(where)
    assert len(store.snapshots()) > 1
    for after in (None, 0):
        assert bits(rebuild(store, after)[0]) == live
    store.close()


def wide():
    """A learner whose feedback is learned in groups, by compiled code."""
    return sb.SlateUCB(12, LABELS)


def visited(engine, seeds):
    """Decisions for that learner, with feedback for each that was not learned yet."""
    found = [
        rank(engine, np.random.default_rng(i).standard_normal(12), 3, f"visit-{i}") for i in seeds
    ]
    return [(one, one.labels[: i % 3]) for i, one in enumerate(found)]


def test_groups_live_stopped_and_rebuilt_are_the_same_to_the_bit(where):
    with running(where, wide(), snapshot_every=50) as engine:
        told = visited(engine, range(200))
        with engine.learner._lock.reading():  # meanwhile much has to wait
            for one, clicked in told[:120]:
                give(engine, one.id, clicked)
            assert engine.learning.backlog == 120
        learned(engine, 120)
        change(engine, retire=["b"])
        change(engine, add=["x", "y"])
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda one: give(engine, one[0].id, one[1]), told[120:]))
        learned(engine, 202)
        live = bits(engine.learner)
        assert engine.learner.t == 201
        assert engine.learning.position == engine.store.last
    with Store(where) as store:
        assert len(store.snapshots()) > 1
        for after in (None, 0):
            assert bits(rebuild(store, after)[0]) == live


def test_what_waits_is_learned_in_groups_that_take_no_longer_than_a_millisecond(
    tmp_path, monkeypatch
):
    sizes = []

    def counted(learner, events, since):
        sizes.append(len(events))
        return learn_events(learner, events, since=since)

    monkeypatch.setattr("semibandit.service.engine.learning.learn_events", counted)
    with running(tmp_path, wide()) as engine:
        told = visited(engine, range(100))
        engine.learning._pace = AT_ONCE / 8
        with engine.learner._lock.reading():
            for one, clicked in told:
                give(engine, one.id, clicked)
            first = list(sizes)
        learned(engine, 100)
        assert max(first) <= 8
        assert 1 < max(sizes) <= GROUP
        engine.learning._pace = 1.0  # an event takes a second: one at a time
        sizes.clear()
        for one, clicked in visited(engine, range(100, 103)):
            give(engine, one.id, clicked)
        learned(engine, 103)
        assert sizes[0] == 1


def test_a_bug_within_a_group_stops_at_its_event_and_all_before_it_is_learned(
    tmp_path, monkeypatch
):
    with running(tmp_path, wide()) as engine:
        told = visited(engine, range(30))
        engine.learning._pace = AT_ONCE / GROUP
        read = feedback_batch._lesson

        def buggy(learner, one, *more):
            if one.context.tobytes() == told[17][0].context.tobytes():
                raise RuntimeError("a bug")
            return read(learner, one, *more)

        monkeypatch.setattr(feedback_batch, "_lesson", buggy)
        with engine.learner._lock.reading():
            for one, clicked in told:
                give(engine, one.id, clicked)
        until(lambda: engine.learning.failed is not None)
        assert (engine.learner.t, engine.learning.learned, engine.learning.backlog) == (18, 17, 13)
        assert engine.learning.position == 30 + 17
        assert f"learning stopped at event {30 + 18}" in engine.learning.problem
    monkeypatch.undo()
    with Store(tmp_path) as store:
        again, position = rebuild(store, 0)
    assert (again.t, position) == (31, 60)


def test_labels_come_and_go(engine):
    change(engine, add=["new"])
    assert rank(engine, candidates=["new"]).labels == ["new"]
    shown = rank(engine, candidates=["new", "a"])
    change(engine, retire=["new"])
    assert status(lambda: rank(engine, candidates=["new"])) == 422
    assert status(lambda: change(engine, add=["a"])) == 409
    assert status(lambda: change(engine, retire=["new"])) == 404
    assert status(lambda: change(engine, add=3)) == 422
    give(engine, shown.id, ["new"])  # retired meanwhile: passed over


def test_no_more_labels_than_the_limit(tmp_path):
    with running(tmp_path, limits=Limits(labels=7)) as engine:
        change(engine, add=["g"])
        assert status(lambda: change(engine, add=["h"])) == 422


def test_too_many_waiting_requests_are_told_to_come_again(tmp_path):
    with running(tmp_path, limits=Limits(queue=5)) as engine:
        with engine.queue.condition:
            requests = [
                engine.pending_rank([1.0, 0, 0, 0], 2, None, None, None, Future()) for _ in range(6)
            ]
            assert status(lambda: engine.submit(requests)) == 503
            assert engine.waiting == 0  # all or none
            engine.submit(requests[:5])
            assert status(lambda: engine.submit(requests[5:])) == 503
        for one in requests[:5]:
            assert one.answer.result().labels


def test_feedback_beyond_the_backlog_is_told_to_come_again(tmp_path, monkeypatch):
    go = threading.Event()
    learn = sb.SlateUCB.learn

    def slowly(self, *arguments):
        go.wait()
        learn(self, *arguments)

    monkeypatch.setattr(sb.SlateUCB, "learn", slowly)
    with running(tmp_path, limits=Limits(backlog=3)) as engine:
        found = [rank(engine) for _ in range(4)]
        for one in found[:3]:
            give(engine, one.id, [])
        assert status(lambda: give(engine, found[3].id, [])) == 503
        assert rank(engine).labels  # deciding goes on while learning is stuck
        go.set()
        learned(engine, 3)
        give(engine, found[3].id, [])


def test_no_answer_in_time_counts_as_nothing_clicked(where):
    with running(where, wait=0.2) as engine:
        silent = rank(engine)
        learned(engine, 1)
        assert engine.learner.t == 2
        assert give(engine, silent.id, []).waited  # that is what it counted as
        assert status(lambda: give(engine, silent.id, silent.labels[:1])) == 409
        told = rank(engine)
        give(engine, told.id, told.labels[:1])
        live = bits(engine.learner) if engine.learning.learned == 2 else None
    with running(where) as engine:  # without a wait
        assert engine.learner.t == 3
        assert live in (None, bits(engine.learner))
        quiet = rank(engine)
    with running(where, wait=0.01) as engine:  # what was left unlearned is learned now
        learned(engine, 1)
        with engine.store.beside() as store:
            assert store.feedback([quiet.id])[quiet.id].waited
        assert engine.learner.t == 4


def test_learning_gives_way_to_those_who_wait(engine, monkeypatch):
    slept = []
    monkeypatch.setattr("semibandit.service.engine.learning.sleep", slept.append)
    busy = engine.learning._busy
    found = [rank(engine) for _ in range(2)]
    give(engine, found[0].id, [])
    learned(engine, 1)
    assert slept == []
    waiting = Future()
    with engine.queue.condition:  # nobody takes anything
        assert not busy()
        engine.submit([engine.pending_rank([1.0, 0, 0, 0], 2, None, None, None, waiting)])
        assert busy()
    waiting.result()
    engine.learning._busy = lambda: True
    give(engine, found[1].id, [])
    until(lambda: slept)
    assert 0 < slept[0] < 1


def test_a_snapshot_can_be_asked_for(engine):
    for _ in range(3):
        give(engine, rank(engine).id, [])
    place = engine.learning.snapshot().result()
    assert place == engine.store.last
    with engine.store.beside() as store:
        assert bits(store.snapshot(place)) == bits(engine.learner)


class Moody:
    """A database that fails when it is told to: before a commit, or after it."""

    def __init__(self, database):
        self._database, self.fails = database, None

    def __getattr__(self, name):
        return getattr(self._database, name)

    def rows(self, sql, values=()):
        writes = sql.startswith("INSERT")
        if writes and self.fails == "before":
            raise StoreError("gone")
        found = self._database.rows(sql, values)
        if writes and self.fails == "after":
            raise StoreError("gone after the commit, and nobody knows")
        return found


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_store_that_fails_is_taken_up_again_and_nothing_is_lost_or_doubled(where, when):
    with running(where) as engine:
        one, two = rank(engine), rank(engine, id="mine")
        engine.store._db = moody = Moody(engine.store._db)
        moody.fails = when
        assert status(lambda: give(engine, one.id, one.labels[:1])) == 503
        assert not engine.healthy
        # the next group finds the store well again: reopening replaces the moody one
        assert give(engine, one.id, one.labels[:1]).clicked == one.labels[:1]
        assert rank(engine, id="mine").labels == two.labels
        learned(engine, 1)
        assert engine.healthy
        assert engine.learner.t == 2
        live = bits(engine.learner)
    store = Store(where)
    assert store.count("feedback") == 1
    assert bits(rebuild(store, 0)[0]) == live
    store.close()


def test_a_large_learner_is_made_ready_first_and_says_so(tmp_path):
    messages = []
    for name, learner in (("small", sb.SlateUCB(D, LABELS)), ("large", sb.SlateUCB(60, 40))):
        store = Store.create(tmp_path / name, learner)
        Engine(store, say=messages.append)
        store.close()
        assert len(messages) == (name == "large")
    assert "first time on a machine" in messages[0]


def test_a_learner_that_must_be_told_everything_is_refused(tmp_path):
    store = Store.create(tmp_path, sb.OBR(D, LABELS))
    with pytest.raises(ValueError, match="OBR must be told every relevant label"):
        Engine(store)
    store.close()


@pytest.mark.parametrize("kind", [sb.Thompson, sb.Banditron, sb.Confidit, sb.EpsilonGreedy])
def test_learners_that_draw_draw_anew_and_are_rebuilt(tmp_path, kind):
    with running(tmp_path, kind(D, LABELS, seed=3)) as engine:
        slots = 1 if kind in (sb.Banditron, sb.Confidit) else 3
        found = [rank(engine, slots=slots) for _ in range(40)]
        if kind is sb.Thompson:
            assert len({tuple(one.labels) for one in found}) > 1  # the same context and round
        for one in found:
            give(engine, one.id, one.labels[:1])
        learned(engine, 40)
        live = bits(engine.learner)
    store = Store(tmp_path)
    assert bits(rebuild(store, 0)[0]) == live
    store.close()


def test_contexts_too_large_to_sum_are_refused(tmp_path):
    with running(tmp_path, sb.SlateUCB(D, LABELS, scale="none")) as engine:
        with pytest.raises(ValueError, match=r"numbers beyond 1e\+100"):
            rank(engine, [1e308, 1e308, 0, 0])
        assert rank(engine, [1.0, 0, 0, 0]).labels


def test_the_statistics_count_and_survive_a_restart(tmp_path):
    with running(tmp_path) as engine:
        one, two = (rank(engine, slots=2, candidates=["a", "b"]) for _ in range(2))
        give(engine, one.id, one.labels[:1])
        give(engine, two.id, [], one.labels[:1])
        before = engine.statistics.summary()
        before["minutes"] = engine.statistics.minutes(engine.clock.time)
    with running(tmp_path) as engine:
        after = engine.statistics.summary()
        after["minutes"] = engine.statistics.minutes(engine.clock.time)
    for found in (before, after):
        assert (found["decisions"], found["feedback"]) == (2, 2)
        assert (found["shown"], found["clicks"]) == (3, 1)
        assert found["top"][0] == {"label": one.labels[0], "shown": 2, "clicked": 1}
        assert sum(minute["clicks"] for minute in found["minutes"]) == 1
        assert sum(bin["labels"] for bin in found["calibration"]) == 3
