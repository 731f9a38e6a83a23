"""A bug is neither hidden nor skipped: 500 and a traceback, or learning stops where it happened.

Bugs are injected where a bug can be: in a model, in a width, in the store, in HTTP's handlers. They
are exceptions that no refusal of ours raises.
"""

import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest
from learners import bits
from server import LocalServer, until

import semibandit as sb
from semibandit.errors import ServiceUnavailable
from semibandit.service.engine import writer
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import InternalError, PendingFeedback
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.event import Feedback, LabelChange
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

D, LABELS = 4, list("abcdef")
SECRETS = ("Traceback", ".py", "broadcast", "TypeError", "ValueError")


def small():
    return sb.SlateUCB(D, LABELS)


def large():
    """Ranked by compiled loops, all contexts of a group at once."""
    return sb.SlateUCB(60, 40)


def dual():
    """Ranked context by context."""
    return sb.SlateUCB(D, LABELS, model=sb.Dual(sb.rbf(1.0)))


def broadcast(*_, **__):
    """NumPy's own ValueError, as a bug in a formula raises it."""
    return np.ones(3) + np.ones(4)


def type_error(*_, **__):
    return None + 1


def wrong_shape(*_, **__):
    return np.ones(1)


def not_finite(self, norm2, **_):
    return np.full_like(norm2, np.nan)


def open_engine(where, make=small, **settings):
    store = Store(where) if Store.exists(where) else Store.create(where, make())
    return Engine(store, Settings(**settings))


def state_class(learner):
    return type(learner._state)


def context(engine, seed):
    return np.random.default_rng(seed).standard_normal(engine.learner.n_features).tolist()


def rank(engine, seed=0, id=None):
    return engine.ask(
        lambda answer: engine.pending_rank(context(engine, seed), 2, None, None, id, answer)
    )


def give(engine, id, clicked):
    return engine.ask(lambda answer: PendingFeedback(Feedback(id, 0.0, clicked), answer))


def tracebacks(caplog, kind):
    """The records that were logged with a traceback of this kind of exception."""
    return [one for one in caplog.records if one.exc_info and one.exc_info[0] is kind]


def broken(answer):
    """500, and nothing of the inside."""
    assert answer.status_code == 500, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert "its log says what" in answer.json()["detail"]
    assert not any(secret in answer.text for secret in SECRETS)
    return True


# -- ranking -----------------------------------------------------------------------------------

IN_RANKING = {
    "look": (dual, lambda engine: (state_class(engine.learner), "look"), broadcast),
    "look, other": (dual, lambda engine: (state_class(engine.learner), "look"), type_error),
    "look_many": (small, lambda engine: (state_class(engine.learner), "look_many"), type_error),
    "look_many, large": (
        large,
        lambda engine: (state_class(engine.learner), "look_many"),
        broadcast,
    ),
    "width": (small, lambda engine: (sb.Scaled, "__call__"), broadcast),
    "width of another shape": (small, lambda engine: (sb.Scaled, "__call__"), wrong_shape),
    "width that is no number": (small, lambda engine: (sb.Scaled, "__call__"), not_finite),
    "spread": (small, lambda engine: (sb.Scaled, "spread"), type_error),
    "spread of many": (large, lambda engine: (sb.Scaled, "spread"), type_error),
}


@pytest.mark.parametrize("what", IN_RANKING)
def test_a_bug_in_ranking_is_a_500_and_all_else_goes_on(tmp_path, monkeypatch, caplog, what):
    make, place, bug = IN_RANKING[what]
    engine = open_engine(tmp_path, make)
    asked = {"context": context(engine, 1), "slots": 2, "id": "mine"}
    with LocalServer(create_app(engine)) as server:
        before = server.post("/rank", {"context": context(engine, 0), "id": "before"}).json()
        with monkeypatch.context() as patch:
            patch.setattr(*place(engine), bug, raising=False)
            assert broken(server.post("/rank", asked))
            batch = server.post("/rank/batch", {"requests": [asked, {"context": [1.0]}]}).json()
            assert [one["status"] for one in batch["results"]] == [500, 422]
            assert any(one.exc_info for one in caplog.records)
            again = server.post("/rank", {"context": context(engine, 0), "id": "before"})
            assert again.json() == before  # it needs no ranking
            clicked = [one["label"] for one in before["slate"][:1]]
            assert server.feedback("before", clicked).status_code == 200
            assert server.get("/healthz").json() == {"status": "ok"}
            assert "semibandit_store_up 1.0" in server.get("/metrics").text
        until(lambda: engine.learner.t == 2)
        assert server.post("/rank", asked).json()["version"] == 2
        assert server.get("/state").json()["decisions"] == 2
    with Store(tmp_path) as store:
        assert store.count("decision") == 2
        assert bits(rebuild(store, 0)[0]) == bits(engine.learner)


def test_a_bug_that_one_request_meets_is_not_the_others(tmp_path, monkeypatch, caplog):
    engine = open_engine(tmp_path, lambda: sb.SlateUCB(D, LABELS, scale="unit"))
    look_many = state_class(engine.learner).look_many
    poison = engine.learner.rank([0.0, 0.0, 0.0, 1.0]).x

    def sometimes(self, xs):
        met = any(np.array_equal(x, poison) for x in xs)
        return broadcast() if met else look_many(self, xs)

    monkeypatch.setattr(state_class(engine.learner), "look_many", sometimes)
    engine.start()
    futures = [Future() for _ in range(6)]
    with engine.queue.condition:  # one group
        for i, future in enumerate(futures):
            x = [0.0, 0.0, 0.0, 1.0] if i == 2 else [1.0, float(i), 0.0, 0.0]
            engine.submit([engine.pending_rank(x, 2, None, None, f"d{i}", future)])
    assert isinstance(futures[2].exception(), InternalError)
    for i in (0, 1, 3, 4, 5):
        found = futures[i].result()
        assert found.labels == engine.learner.rank(found.context, 2, draw=found.draw).labels
    assert len(tracebacks(caplog, ValueError)) == 2  # of the group, and of the one
    assert engine.healthy
    engine.stop()
    with Store(tmp_path) as store:
        log = list(store.events())
    assert [decision.draw for _, decision in log] == [seq for seq, _ in log] == [1, 2, 3, 4, 5]


def test_a_decision_that_cannot_be_written_is_a_bug_not_a_wrong_request(tmp_path, monkeypatch):
    engine = open_engine(tmp_path)
    engine.start()
    with monkeypatch.context() as patch:
        patch.setattr(type(engine.learner.loss), "prob", lambda self, m: np.full_like(m, np.nan))
        with pytest.raises(InternalError):
            rank(engine, id="mine")
    assert rank(engine, id="mine").draw == 1
    assert engine.healthy
    engine.stop()


def test_a_bug_in_what_the_page_shows_fails_no_request(tmp_path, monkeypatch, caplog):
    engine = open_engine(tmp_path)
    monkeypatch.setattr(sb.SlateUCB, "scores", type_error)
    engine.start()
    assert [rank(engine, i).version for i in range(3)] == [1, 1, 1]
    assert len(tracebacks(caplog, TypeError)) == 1  # and not for every one
    assert engine.healthy
    assert engine.statistics.summary()["latest"][0]["next"] is None
    engine.stop()


# -- learning ----------------------------------------------------------------------------------


def visits(engine, seeds):
    """Rank, click the top label, and see it learned, one after another."""
    for seed in seeds:
        found = rank(engine, seed, id=f"visit-{seed}")
        give(engine, found.id, found.labels[:1])
        until(lambda found=found: engine.learning.backlog == 0)


@pytest.mark.parametrize("make", [small, lambda: sb.SlateUCB(D, LABELS, model=sb.Diagonal())])
@pytest.mark.parametrize("bug", [broadcast, type_error])
def test_learning_stops_at_a_bug_and_a_fixed_version_goes_on_from_there(
    where, tmp_path, monkeypatch, caplog, make, bug
):
    never = open_engine(tmp_path / "never", make)  # never has the bug
    never.start()
    visits(never, range(6))
    never.stop()
    kind = ValueError if bug is broadcast else TypeError

    engine = open_engine(where, make)
    server = LocalServer(create_app(engine))
    with server, monkeypatch.context() as patch:
        visits(engine, range(4))
        found, spare = rank(engine, 4, "visit-4"), rank(engine, 9, "spare")
        patch.setattr(state_class(engine.learner), "step", bug)
        assert server.feedback(found.id, found.labels[:1]).status_code == 200  # it is in the log
        until(lambda: tracebacks(caplog, kind))
        (seq,) = [seq for seq, event in events(engine) if event.id == "visit-4"][1:]
        (record,) = tracebacks(caplog, kind)
        text = f"learning stopped at event {seq} with {kind.__name__}"
        assert text in record.getMessage()
        health = server.get("/healthz")
        assert (health.status_code, text in health.json()["detail"]) == (503, True)
        assert not server.get("/state").json()["healthy"]
        refused = server.feedback("spare", [])
        assert refused.status_code == 503
        assert "learning has stopped" in refused.json()["detail"]
        assert server.post("/snapshot").status_code == 503
        assert server.post("/labels", {"labels": ["new"]}).status_code == 503
        assert server.post("/rank", {"context": context(engine, 7)}).status_code == 200
        assert (engine.learning.passed_over, engine.learning.backlog) == (0, 1)
        assert engine.learner.t == 5
        server.stop()
        with pytest.raises(kind), Store(where) as store:  # a start with the same bug says so
            Engine(store)

    with Store(where) as store:
        assert store.snapshots()[-1] < seq  # nothing was saved that has passed the event over
    engine = open_engine(where, make)
    assert (engine.learner.t, engine.learning.position) == (6, seq)
    engine.start()
    found = rank(engine, 5, "visit-5")
    give(engine, found.id, found.labels[:1])
    until(lambda: engine.learning.learned == 1)
    assert bits(engine.learner) == bits(never.learner)
    assert give(engine, spare.id, []).clicked == []
    engine.stop()


def events(engine):
    with engine.store.beside() as store:
        return list(store.events())


def test_a_label_change_that_meets_a_bug_takes_effect_later(tmp_path, monkeypatch):
    engine = open_engine(tmp_path)
    with LocalServer(create_app(engine)) as server, monkeypatch.context() as patch:
        patch.setattr(sb.SlateUCB, "add_labels", type_error)
        answer = server.post("/labels", {"labels": ["new"]})
        assert answer.status_code == 503
        assert "takes effect when the service starts" in answer.json()["detail"]
        assert "learning stopped at event 1" in server.get("/healthz").json()["detail"]
        ((_, event),) = events(engine)
        assert isinstance(event, LabelChange)
    engine = open_engine(tmp_path)
    assert "new" in engine.learner.labels
    engine.store.close()


def test_nothing_is_given_up_while_nobody_can_answer(tmp_path, monkeypatch):
    """Feedback is refused while learning has stopped: silence then says nothing."""
    engine = open_engine(tmp_path, wait=0.05)
    engine.start()
    with monkeypatch.context() as patch:
        patch.setattr(state_class(engine.learner), "step", type_error)
        rank(engine, 0, "first")  # given up after the wait: that is the event with the bug
        until(lambda: engine.learning.failed is not None)
        late = rank(engine, 1, "late")
        until(lambda: time.time() > late.at + 0.2)
        rank(engine, 2)
        with engine.store.beside() as store:
            assert store.feedback(["late"]) == {}
        engine.stop()


# -- the store ---------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", ["rank", "feedback"])
def test_a_bug_in_the_store_loses_and_doubles_nothing(where, monkeypatch, caplog, when, what):
    monkeypatch.setattr(writer, "CHECK_EVERY", 60.0)  # so that it stays as it is until asked
    engine = open_engine(where)
    append, done = Store.append, threading.Event()

    def buggy(self, new, waited=None):
        if when == "after":
            append(self, new, waited)
        done.set()
        return broadcast()

    with LocalServer(create_app(engine)) as server:
        first = rank(engine, 0, "first")

        def ask():
            if what == "feedback":
                return server.feedback("first", first.labels[:1])
            return server.post("/rank", {"context": context(engine, 1), "id": "second"})

        with monkeypatch.context() as patch:
            patch.setattr(Store, "append", buggy)
            assert broken(ask())
            assert done.is_set()
            assert len(tracebacks(caplog, ValueError)) == 1
            health = server.get("/healthz")
            assert health.status_code == 503
            assert "failed while it was written" in health.json()["detail"]
            assert "semibandit_store_up 1.0" in server.get("/metrics").text  # the store is there
        assert ask().status_code == 200
        assert server.get("/healthz").status_code == 200
        give(engine, "first", first.labels[:1])
        until(lambda: engine.learner.t == 2)
        assert engine.learning.learned == 1
        live = bits(engine.learner)
    with Store(where) as store:
        assert store.count("feedback") == 1
        assert store.count("decision") == (1 if what == "feedback" else 2)
        assert bits(rebuild(store, 0)[0]) == live


def test_a_bug_in_writing_a_snapshot_is_logged_and_tried_again(tmp_path, monkeypatch, caplog):
    engine = open_engine(tmp_path)
    with LocalServer(create_app(engine)) as server:
        visits(engine, range(2))
        with monkeypatch.context() as patch:
            patch.setattr(Store, "add_snapshot", type_error)
            assert broken(server.post("/snapshot"))
        assert len(tracebacks(caplog, TypeError)) == 1
        assert server.get("/healthz").status_code == 200
        assert server.post("/snapshot").json() == {"position": 4}


# -- HTTP --------------------------------------------------------------------------------------


def test_a_bug_in_a_handler_is_a_500_on_every_path(tmp_path, monkeypatch, caplog):
    engine = open_engine(tmp_path)
    with LocalServer(create_app(engine)) as server, monkeypatch.context() as patch:
        patch.setattr(Engine, "pending_rank", broadcast)
        patch.setattr(Engine, "submit", type_error)
        body = {"context": context(engine, 0)}
        assert broken(server.post("/rank", body))
        assert broken(server.post("/rank/batch", {"requests": [body]}))
        assert len(tracebacks(caplog, ValueError)) == 2
        assert broken(server.feedback("nobody", []))
        assert broken(server.post("/labels", {"labels": ["new"]}))
        assert len(tracebacks(caplog, TypeError)) == 2
        assert server.get("/healthz").status_code == 200
        text = server.get("/metrics").text
        assert 'semibandit_requests_total{status="500",what="rank"} 1.0' in text


def test_refusals_are_no_bugs(tmp_path, caplog):
    engine = open_engine(tmp_path)
    with LocalServer(create_app(engine)) as server:
        for path, body, status in (
            ("/rank", {"context": [1.0]}, 422),
            ("/rank", {"context": {"hour": 1.0}}, 422),
            ("/rank", {"context": [1.0] * D, "exclude": ["moon"]}, 422),
            ("/feedback", {"id": "nobody", "clicked": []}, 404),
            ("/labels", {"labels": ["a"]}, 409),
            ("/labels", {"labels": 3}, 422),
        ):
            assert server.post(path, body).status_code == status
        engine.queue.stop()
        with pytest.raises(ServiceUnavailable, match="stopping"):
            rank(engine)
        assert server.post("/rank", {"context": [1.0] * D}).status_code == 503
    assert not [one for one in caplog.records if one.exc_info]
