"""The engine: nothing is answered or learned that is not in the log, and all of that is."""

import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from learners import bits
from server import until

import semibandit as sb
import semibandit.policies.batch
from semibandit.errors import InputError, SemibanditError, StoreError
from semibandit.service.engine import decisions
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import PendingFeedback, PendingLabelChange
from semibandit.service.http.errors import status_of
from semibandit.service.settings import Limits, Settings
from semibandit.store.event import Feedback, LabelChange
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

D, LABELS = 4, list("abcdef")


@pytest.fixture
def engine(tmp_path):
    with running(tmp_path) as one:
        yield one


class running:
    """An engine with a new store, or the store that is there."""

    def __init__(self, where, learner=None, **settings):
        learner = learner or sb.SlateUCB(D, LABELS)
        store = Store(where) if Store.exists(where) else Store.create(where, learner)
        self.engine = Engine(store, Settings(**settings))

    def __enter__(self):
        self.engine.start()
        return self.engine

    def __exit__(self, *_):
        self.engine.stop()


def rank(engine, context=(1.0, 2.0, 3.0, 4.0), slots=2, id=None, candidates=None, exclude=None):
    return engine.ask(
        lambda answer: engine.pending_rank(list(context), slots, candidates, exclude, id, answer)
    )


def give(engine, id, clicked, examined=None):
    return engine.ask(lambda answer: PendingFeedback(Feedback(id, 0.0, clicked, examined), answer))


def change(engine, **what):
    return engine.ask(lambda answer: PendingLabelChange(LabelChange(0.0, **what), answer))


def learned(engine, n):
    until(lambda: engine.learning.learned >= n)


def count(engine, kind):
    with engine.store.beside() as store:
        return store.count(kind)


def status(work):
    with pytest.raises(SemibanditError) as why:
        work()
    return status_of(why.value)


def test_a_decision_is_the_learners_own_and_in_the_log(engine):
    decision = rank(engine, slots=3)
    slate = sb.SlateUCB(D, LABELS).rank([1.0, 2.0, 3.0, 4.0], 3)
    assert decision.labels == slate.labels
    assert decision.version == 1
    with engine.store.beside() as store:
        ((_, stored),) = store.events()
    assert vars(stored) | {"context": 0} == vars(decision) | {"context": 0}
    assert stored.context.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_the_same_id_gives_the_same_decision(engine):
    first = rank(engine, id="visit")
    give(engine, "visit", first.labels[:1])
    learned(engine, 1)
    again = rank(engine, id="visit")
    assert (again.labels, again.prob) == (first.labels, first.prob)
    assert count(engine, "decision") == 1
    for other in ({"slots": 1}, {"context": [1, 2, 3, 5]}, {"exclude": ["a"]}):
        assert status(lambda other=other: rank(engine, id="visit", **other)) == 409


def test_an_id_that_left_memory_long_ago_gives_its_decision(where):
    with running(where) as engine:
        first = rank(engine, id="old")
        give(engine, rank(engine, id="told").id, [])
        engine.writer.recent.forget()
        with engine.queue.condition:  # in one group with others
            futures = [Future() for _ in range(4)]
            for future, id in zip(futures, ("new", "old", None, "told"), strict=True):
                engine.submit(
                    [engine.pending_rank([1.0, 2.0, 3.0, 4.0], 2, None, None, id, future)]
                )
        found = [future.result() for future in futures]
        assert (found[1].at, found[1].labels, found[1].prob) == (first.at, first.labels, first.prob)
        assert status(lambda: rank(engine, id="old", slots=1)) == 409
        assert status(lambda: give(engine, "told", found[3].labels[:1])) == 409
        assert count(engine, "decision") == 4
        assert engine.healthy


def test_a_decision_is_repeated_though_it_would_now_be_refused(where):
    with running(where) as engine:
        first = rank(engine, id="visit", exclude=["c"])
        change(engine, retire=["c"])
    with running(where) as engine:
        assert rank(engine, id="visit", exclude=["c"]).labels == first.labels
        assert status(lambda: rank(engine, id="visit", exclude=["c", "moon"])) == 409
        assert status(lambda: rank(engine, id="other", exclude=["c"])) == 422


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
def test_requests_under_one_id_in_one_group_are_told_apart(where, order):
    """Whichever comes first: who is wrong leaves the id to the others, and the log knows best."""
    asks = [
        {"id": "old", "exclude": ["a"]},
        {"id": "old", "exclude": ["a", "moon"]},
        {"id": "new", "exclude": ["moon"]},
        {"id": "new", "exclude": ["b"]},
    ]
    with running(where) as engine:
        first = rank(engine, **asks[0])
        engine.writer.recent.forget()
        with engine.queue.condition:
            futures = [Future() for _ in asks]
            for i in order:
                one = asks[i]
                engine.submit(
                    [
                        engine.pending_rank(
                            [1, 2, 3, 4], 2, None, one["exclude"], one["id"], futures[i]
                        )
                    ]
                )
        assert futures[0].result().at == first.at
        assert status_of(futures[1].exception()) == 409
        early = order.index(2) < order.index(3)  # else the id is taken
        assert status_of(futures[2].exception()) == (422 if early else 409)
        assert futures[3].result().exclude == ["b"]
        assert count(engine, "decision") == 2


@pytest.mark.parametrize("kind", [sb.SlateUCB, sb.Thompson, sb.EpsilonGreedy])
def test_every_decision_is_the_learners_own_with_its_own_draw(tmp_path, kind):
    """Its place in the log, whatever was refused; and as `rank` decides with that draw."""
    assert semibandit.policies.batch  # loaded, as in a service with a large learner
    contexts = np.random.default_rng(0).standard_normal((80, 60))
    with running(tmp_path, kind(60, LABELS)) as engine:
        for some in np.split(contexts, 4):
            with engine.queue.condition:
                futures = [Future() for _ in range(22)]
                for future, x in zip(futures, [np.zeros(60), *some, some[0]], strict=True):
                    out = ["moon"] if future is futures[5] else None
                    engine.submit([engine.pending_rank(x, 2, None, out, None, future)])
            assert [i for i, future in enumerate(futures) if future.exception()] == [0, 5]
        with engine.store.beside() as store:
            log = list(store.events())
        assert [decision.draw for _, decision in log] == [seq for seq, _ in log]
        assert len(log) == 80
        for _, decision in log:
            own = engine.learner.rank(decision.context, decision.slots, draw=decision.draw)
            assert (decision.labels, decision.prob) == (own.labels, pytest.approx(own.prob))


def test_a_context_may_be_a_line_of_a_matrix(engine):
    assert rank(engine, [[1.0, 2.0, 3.0, 4.0]]).context.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert status(lambda: rank(engine, [0.0] * 4)) == 422
    with pytest.raises(ValueError, match="context has 2 features"):
        rank(engine, [[1.0, 2.0]])


def test_requests_never_wait_for_numba_to_be_loaded(tmp_path):
    """Small learners do without it, however many requests there are."""
    code = """if True:
        import sys
        from concurrent.futures import Future
        import numpy as np
        import semibandit as sb
        from semibandit.service.engine.engine import Engine
        from semibandit.store.store import Store

        engine = Engine(Store.create(sys.argv[1], sb.SlateUCB(150, 3)))
        engine.start()
        with engine.queue.condition:
            futures = [Future() for _ in range(1000)]
            for future, x in zip(futures, np.random.default_rng(0).random((1000, 150))):
                engine.submit([engine.pending_rank(x, 2, None, None, None, future)])
        assert all(future.result().labels for future in futures)
        engine.stop()
        assert "numba" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


def test_many_at_once_with_one_id_get_one_decision(engine):
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda i: rank(engine, id=f"id{i % 3}"), range(60)))
    for i in range(3):
        assert len({tuple(d.labels) for d in found[i::3]}) == 1
    assert count(engine, "decision") == 3


@pytest.fixture
def groups(monkeypatch):
    """How many were ranked together, each time."""
    sizes, whole = [], decisions.rank_requests

    def counted(learner, requests):
        sizes.append(len(requests))
        return whole(learner, requests)

    monkeypatch.setattr(decisions, "rank_requests", counted)
    return sizes


def test_waiting_requests_are_ranked_together(engine, groups):
    with engine.queue.condition:  # nobody takes anything while all are handed in
        futures = [Future() for _ in range(50)]
        for i, future in enumerate(futures):
            engine.submit([engine.pending_rank([1.0, i, 0, 0], 2, None, None, None, future)])
    for future in futures:
        future.result()
    assert groups == [50]


def test_wrong_requests_do_not_spoil_the_others(engine, groups):
    """Nor do they slow them down: the others are still ranked together."""
    asks = [([1.0, 0, 0, 0], ["a"])] * 20
    asks += [([1.0, 0, 0, 0], ["moon"]), ([0.0] * 4, None), ([0.0, 1, 0, 0], ["b", "c"])]
    with engine.queue.condition:
        futures = [Future() for _ in asks]
        for future, (context, candidates) in zip(futures, asks, strict=True):
            engine.submit([engine.pending_rank(context, 2, candidates, None, None, future)])
    assert [future.result().labels for future in futures[:20]] == [["a"]] * 20
    assert set(futures[22].result().labels) == {"b", "c"}
    with pytest.raises(InputError, match="candidates names 'moon'"):
        futures[20].result()
    with pytest.raises(InputError, match="context is all zeros"):
        futures[21].result()
    assert groups == [21]


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
    with running(tmp_path, sb.SlateUCB(D, LABELS, normalize=False)) as engine:
        with pytest.raises(ValueError, match=r"numbers beyond 1e\+100"):
            rank(engine, [1e308, 1e308, 0, 0])
        assert rank(engine, [1.0, 0, 0, 0]).labels


def test_the_statistics_count_and_survive_a_restart(tmp_path):
    with running(tmp_path) as engine:
        one, two = rank(engine, slots=2), rank(engine, slots=2)
        give(engine, one.id, one.labels[:1])
        give(engine, two.id, [], two.labels[:1])
        before = engine.statistics.summary()
    with running(tmp_path) as engine:
        after = engine.statistics.summary()
    for found in (before, after):
        assert (found["decisions"], found["feedback"]) == (2, 2)
        assert (found["shown"], found["clicks"]) == (3, 1)
        assert found["top"][0] == {"label": one.labels[0], "shown": 2, "clicked": 1}
        assert sum(minute["clicks"] for minute in found["minutes"]) == 1
        assert sum(bin["labels"] for bin in found["calibration"]) == 3
