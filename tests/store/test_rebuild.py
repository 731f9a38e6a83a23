"""The learner out of the log is the learner that was, to the bit, for every learner."""

import numpy as np
import pytest
from learners import ALL, D, K, bits

import semibandit as sb
from semibandit.errors import FileError
from semibandit.policies.persistence import snapshot_of
from semibandit.store.event import Decision, Feedback, LabelChange
from semibandit.store.rebuild import learn_event, rebuild
from semibandit.store.store import Store

LEARNERS = [p for p in ALL if "OBR" not in p.id]  # OBR must be told what was not shown


def decide(learner, id, x, slots, draw):
    slate = learner.rank(x, slots, draw=draw)
    return Decision(
        id, 0.0, x, slots, None, None, slate.labels, slate.prob.tolist(), slate.estimate.tolist(),
        slate.width.tolist(), learner.t, draw, slate.propensity, slate.leader,
    )  # fmt: skip


def live(learner, store, rounds, snapshot_at=()):
    """Rank, answer late and out of order, change labels, learn as it comes."""
    random, waiting = np.random.default_rng(7), []
    for t in range(rounds):
        slots = 1 if learner.one_slot else int(random.integers(1, 4))
        found = decide(learner, f"d{t}", random.standard_normal(D), slots, t)
        store.append([found])
        waiting.append(found)
        while len(waiting) > 5 or (waiting and random.random() < 0.4):
            old = waiting.pop(int(random.integers(len(waiting))))
            clicked = [label for label in old.labels if random.random() < 0.3]
            event = Feedback(old.id, 0.0, clicked, old.labels if t % 3 else None)
            seq = store.append([event])
            assert learn_event(learner, event, old)
        if t in (20, 40):
            change = LabelChange(0.0, retire=[2]) if t == 20 else LabelChange(0.0, add=2)
            seq = store.append([change])
            assert learn_event(learner, change, None)
        if t in snapshot_at:
            store.add_snapshot(seq, snapshot_of(learner).to_bytes())


@pytest.mark.parametrize("make", LEARNERS)
def test_rebuilt_is_what_it_was(make, tmp_path):
    learner = make()
    store = Store.create(tmp_path, make())
    live(learner, store, 60, snapshot_at=(25, 45))
    assert len(store.snapshots()) == 3
    for after in [None, *store.snapshots()]:
        again, _ = rebuild(store, after)
        assert bits(again) == bits(learner)
    store.close()


@pytest.mark.parametrize("make", ALL)
def test_a_slate_from_a_log_is_learned_as_the_slate_was(make):
    one, two = make(), make()
    for t in range(30):
        x = np.random.default_rng(t).standard_normal(D)
        slate = one.rank(x, 1 if one.one_slot else 3)
        yes = [label for label in slate.labels if label % 2]
        kept = {"propensity": slate.propensity, "leader": slate.leader}
        one.learn(slate, yes)
        two.learn(two.shown(x.tolist(), slate.labels, slate.slots, **kept), yes)
    assert bits(one) == bits(two)


def test_shown_is_checked_like_rank():
    learner = sb.SlateUCB(D, K)
    with pytest.raises(ValueError, match="context has 2 features"):
        learner.shown([1.0, 2.0], [0])
    with pytest.raises(ValueError, match="names 0 twice"):
        learner.shown(np.ones(D), [0, 0])
    with pytest.raises(ValueError, match="names 99, which is not a label"):
        learner.learn(learner.shown(np.ones(D), [99]), [])
    assert np.isnan(learner.shown(np.ones(D), [0, 1]).prob).all()


def test_a_damaged_snapshot_is_passed_over(tmp_path):
    learner, store = sb.SlateUCB(D, K), Store.create(tmp_path, sb.SlateUCB(D, K))
    live(learner, store, 30, snapshot_at=(10, 25))
    last = store.snapshots()[-1]
    store._db.rows("UPDATE semibandit_parts SET bytes = ? WHERE seq = ?", (b"dust", last))
    again, _ = rebuild(store)
    assert bits(again) == bits(learner)
    store._db.rows("UPDATE semibandit_parts SET bytes = ?", (b"dust",))
    with pytest.raises(FileError, match="no whole snapshot"):
        rebuild(store)
    store.close()


def test_a_bug_in_reading_a_snapshot_is_not_taken_for_damage(tmp_path, monkeypatch):
    store = Store.create(tmp_path, sb.SlateUCB(D, K))
    live(sb.SlateUCB(D, K), store, 30, snapshot_at=(10, 25))
    monkeypatch.setattr(type(store.snapshot(0)._state), "restore", broadcast)
    with pytest.raises(ValueError, match="could not be broadcast") as why:
        rebuild(store)
    assert not isinstance(why.value, FileError)
    store.close()


def test_an_event_that_does_not_fit_is_passed_over():
    learner = sb.SlateUCB(D, ["a", "b"])
    strange = Decision(
        "d", 0.0, np.ones(D), 1, None, None, ["moon"], [0.5], [0.5], [0.5], 1, 0
    )  # fmt: skip
    assert not learn_event(learner, Feedback("d", 0.0, []), strange)
    assert not learn_event(learner, LabelChange(0.0, add=["a"]), None)
    assert learner.t == 1


def broadcast(*_):
    """A bug of ours, as NumPy tells of it."""
    return np.ones(3) + np.ones(4)


def test_a_bug_comes_out_and_nothing_is_skipped(tmp_path, monkeypatch):
    learner, store = sb.SlateUCB(D, K), Store.create(tmp_path, sb.SlateUCB(D, K))
    live(learner, store, 30)
    with monkeypatch.context() as patch:
        patch.setattr(type(learner._state), "step", broadcast)
        with pytest.raises(ValueError, match="could not be broadcast"):
            rebuild(store)
        decision = decide(learner, "d", np.ones(D), 2, 0)
        with pytest.raises(ValueError, match="could not be broadcast"):
            learn_event(learner, Feedback("d", 0.0, decision.labels), decision)
    assert bits(rebuild(store)[0]) == bits(learner)  # learn is whole or not at all
    store.close()
