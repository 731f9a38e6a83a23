"""The engine: nothing is answered or learned that is not in the log, and all of that is."""

import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from engines import LABELS, D, change, count, give, learned, rank, running, status
from learners import bits

import semibandit as sb
import semibandit.policies.batch
from semibandit.errors import InputError
from semibandit.service.engine import decisions
from semibandit.service.http.errors import status_of


def test_a_decision_is_the_learners_own_and_in_the_log(engine):
    decision = rank(engine, slots=3)
    slate = sb.SlateUCB(D, LABELS).rank([1.0, 2.0, 3.0, 4.0], 3, draw=1)
    assert decision.labels == slate.labels
    assert decision.version == 1
    with engine.store.beside() as store:
        ((_, stored),) = store.events()
    arrays = {"context": 0, "seen": 0}
    assert vars(stored) | arrays == vars(decision) | arrays
    assert stored.context.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert stored.seen.tolist() == decision.seen.tolist() == slate.x.tolist()


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
    with running(tmp_path, kind(60, LABELS, bias=False, scale="unit")) as engine:
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


def test_visits_that_wait_for_feedback_count_for_the_next(tmp_path):
    """As if the library was told what to expect: contexts are scaled, and equal labels turn."""
    twin, random = sb.SlateUCB(D, 30), np.random.default_rng(2)
    with running(tmp_path, sb.SlateUCB(D, 30)) as engine:
        for _ in range(12):
            x = random.standard_normal(D) * [1.0, 10.0, 100.0, 1000.0]
            decision, slate = rank(engine, x), twin.rank(x, 2, draw=engine.store.last)
            assert decision.labels == slate.labels
            assert decision.seen.tolist() == slate.x.tolist()
            twin.expect(slate)
        before = decision
        give(engine, before.id, before.labels[:1])
        learned(engine, 1)
    twin.learn(slate, slate.labels[:1])
    assert bits(engine.learner) == bits(twin)


def test_a_context_may_be_a_line_of_a_matrix(engine):
    assert rank(engine, [[1.0, 2.0, 3.0, 4.0]]).context.tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="context has 2 features"):
        rank(engine, [[1.0, 2.0]])


def test_a_context_without_a_direction_is_refused_if_there_is_no_bias(tmp_path):
    with running(tmp_path, sb.SlateUCB(D, LABELS, bias=False)) as engine:
        assert status(lambda: rank(engine, [0.0] * 4)) == 422


@pytest.mark.parametrize("features", [4, 150])
def test_requests_never_wait_for_numba_to_be_loaded(tmp_path, features):
    """Small learners rank without it, however many requests there are; what learns is loaded
    before the first request, and with few features not at all."""
    code = """if True:
        import sys
        from concurrent.futures import Future
        import numpy as np
        import semibandit as sb
        from semibandit.service.engine.engine import Engine
        from semibandit.store.store import Store

        d = int(sys.argv[2])
        engine = Engine(Store.create(sys.argv[1], sb.SlateUCB(d, 3)))
        ready = {name for name in sys.modules if "compiled" in name or name == "numba"}
        engine.start()
        with engine.queue.condition:
            futures = [Future() for _ in range(1000)]
            for future, x in zip(futures, np.random.default_rng(0).random((1000, d))):
                engine.submit([engine.pending_rank(x, 2, None, None, None, future)])
        assert all(future.result().labels for future in futures)
        engine.stop()
        assert ready == {name for name in sys.modules if "compiled" in name or name == "numba"}
        assert not any(name.endswith(("compiled_looks", "policies.compiled")) for name in ready)
        assert ("numba" in ready) == (d == 150)
    """
    subprocess.run([sys.executable, "-c", code, str(tmp_path), str(features)], check=True)


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


def test_wrong_requests_do_not_spoil_the_others(tmp_path, groups):
    """Nor do they slow them down: the others are still ranked together."""
    with running(tmp_path, sb.SlateUCB(D, LABELS, bias=False)) as engine:
        futures = _ask_some_wrong_ones(engine)
    assert [future.result().labels for future in futures[:20]] == [["a"]] * 20
    assert set(futures[22].result().labels) == {"b", "c"}
    with pytest.raises(InputError, match="candidates names 'moon'"):
        futures[20].result()
    with pytest.raises(InputError, match="context is all zeros"):
        futures[21].result()
    assert groups == [23, 21]  # reading finds the wrong ones before anything is ranked


def _ask_some_wrong_ones(engine):
    asks = [([1.0, 0, 0, 0], ["a"])] * 20
    asks += [([1.0, 0, 0, 0], ["moon"]), ([0.0] * 4, None), ([0.0, 1, 0, 0], ["b", "c"])]
    with engine.queue.condition:
        futures = [Future() for _ in asks]
        for future, (context, candidates) in zip(futures, asks, strict=True):
            engine.submit([engine.pending_rank(context, 2, candidates, None, None, future)])
    return futures
