"""Another learner takes over at a point of the log, and restarts rebuild it."""

import io
import re

import numpy as np
import pytest
from engines import LABELS, D, as_if_killed, change, give, rank, running, visits
from hostile_files import HOSTILE
from learners import bits
from server import until

import semibandit as sb
from semibandit.errors import Conflict, FileError, InputError
from semibandit.evaluation.replay_log import replay_log
from semibandit.policies.persistence import snapshot_of
from semibandit.service.config import StoreConfig, open_store
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store


def content(learner):
    return snapshot_of(learner).to_bytes()


def relearned(where, path, **settings):
    """As `semibandit replay STORE --a ... --save` does."""
    found = replay_log(where, sb.SlateUCB(D, LABELS, **settings))
    found.save(path)
    return path.read_bytes()


def test_a_relearned_learner_takes_over_and_restarts_rebuild_it(where, tmp_path):
    with running(where, snapshot_every=10) as engine:
        visits(engine, 0, 30)
        rank(engine, id="before")
        new = relearned(where, tmp_path / "new.npz", a=0.9, width=sb.Scaled(0.7))
        visits(engine, 30, 12)  # the file does not know these
        change(engine, add=["g"])
        told = engine.replace_learner(new, None).result()
        assert told == {"position": engine.store.last, "after": 60}
        assert engine.learner.a == 0.9
        assert engine.learner.t == 43
        assert engine.learner.labels == [*LABELS, "g"]
        give(engine, "before", [])  # decided by the learner before
        visits(engine, 42, 9)
        until(lambda: engine.learning.backlog == 0)
        live = bits(engine.learner)
    with Store(where) as store:
        assert bits(rebuild(store)[0]) == live
        assert bits(rebuild(store, 0)[0]) == live
        assert {e.learner for e in store.decisions(["before", "v41"]).values()} == {0}
        assert store.decisions(["v42"])["v42"].learner == told["position"]


def test_a_killed_service_finds_the_learner_in_the_log(where):
    with running(where) as engine:
        visits(engine, 0, 5)
        other = sb.SlateUCB(D, LABELS, a=0.8)
        engine.replace_learner(content(other), 0).result()
        visits(engine, 5, 3)
        until(lambda: engine.learning.backlog == 0)
        live = bits(engine.learner)
        as_if_killed(engine)
    with running(where) as engine:
        assert engine.learner.a == 0.8
        assert bits(engine.learner) == live
        other = sb.SlateUCB(D, LABELS, a=0.7)
        engine.replace_learner(content(other), engine.store.last).result()
        assert engine.learner.t == 1
    with running(where) as engine:
        assert engine.learner.a == 0.7


def test_what_cannot_take_over_changes_nothing(tmp_path):
    with running(tmp_path) as engine:
        visits(engine, 0, 3)
        before = bits(engine.learner), engine.store.last

        def refused(learner, after, match, error=InputError):
            given = learner if isinstance(learner, bytes) else content(learner)
            with pytest.raises(error, match=match):
                engine.replace_learner(given, after).result()

        refused(b"nonsense", 0, "no .npz file", FileError)
        refused(content(sb.SlateUCB(D, LABELS))[:-100], 0, "not a whole semibandit file", FileError)
        refused(sb.SlateUCB(D, LABELS), None, "does not say which events")
        refused(sb.SlateUCB(D, LABELS), 7, "after = 7, but the log has events 1 to 6")
        refused(sb.SlateUCB(D + 1, LABELS), 6, "the learner has features 5, this service has 4")
        refused(sb.SlateUCB(D, LABELS[:-1]), 6, r"other labels than this service: it lacks \['f'\]")
        refused(sb.SlateUCB(D, [*LABELS, "z"]), 6, r"it also has \['z'\]")
        refused(sb.SlateUCB(D, 100_001), 6, "has 100001 labels, over the limit of 100000")
        refused(sb.OBR(D, LABELS), 6, "must be told every relevant label")
        engine.store._db.rows("UPDATE semibandit_meta SET value = '4' WHERE key = 'removed'")
        refused(sb.SlateUCB(D, LABELS), 2, "up to event 4 was removed since", Conflict)
        assert (bits(engine.learner), engine.store.last) == before


def test_the_file_says_how_far_it_has_learned(tmp_path):
    with running(tmp_path / "s") as engine:
        visits(engine, 0, 4)
    path = tmp_path / "new.npz"
    found = replay_log(tmp_path / "s")
    found.save(path)
    assert found.position == 8
    assert bits(sb.load(path)) == bits(found.learner)
    assert b"log_position" in io.BytesIO(path.read_bytes()).getvalue()


def test_only_what_is_recent_is_learned_again(tmp_path):
    with running(tmp_path / "s") as engine:
        visits(engine, 0, 6)
        change(engine, add=["g"])
    with Store(tmp_path / "s") as store:
        times = [event.at for _, event in store.events(0, ["feedback"])]
        store._db.rows("UPDATE semibandit_events SET at = 5 WHERE seq <= 6")
    found = replay_log(tmp_path / "s", since=times[0])
    assert found.learner.t == 4
    assert found.learner.labels == [*LABELS, "g"]


def test_options_are_compared_with_the_learner_that_took_over(tmp_path):
    with running(tmp_path) as engine:
        engine.replace_learner(content(sb.SlateUCB(D, LABELS, a=0.9)), 0).result()
    open_store(str(tmp_path), StoreConfig(learner={"a": 0.9})).close()
    with pytest.raises(InputError, match=r"with a = 0\.9, not 0\.5"):
        open_store(str(tmp_path), StoreConfig(learner={"a": 0.5}))


TYPE = {"Content-Type": "application/octet-stream"}


def test_hostile_files_are_refused_in_a_sentence_and_change_nothing(server):
    bandit = sb.SlateUCB(D, list("abc"), a=1.0)
    for x in np.eye(D):
        bandit.learn(bandit.rank(x), [])
    before = server.state()["learner"]
    for make, message in HOSTILE.values():
        answer = server.http.post(
            "/v1/learner?after=0", content=make(content(bandit)), headers=TYPE
        )
        assert answer.status_code == 422
        assert re.search(message, answer.json()["detail"])
    assert server.state()["learner"] == before
