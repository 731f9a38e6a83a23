"""A fence: connections without the lock write only while their owner is the owner."""

import pytest

import semibandit as sb
from semibandit.errors import StoreError, StoreInUse
from semibandit.policies.persistence import snapshot_of
from semibandit.store.store import Store


def test_a_fence_holds_for_every_write(where):
    learner = sb.SlateUCB(4, 3)
    store = Store.create(where, learner)
    content = snapshot_of(learner).to_bytes()
    with store.beside() as beside:
        beside.add_snapshot(1, content)
        store.reopen()  # another epoch
        for work in (
            lambda: beside.add_snapshot(2, content),
            lambda: beside.append([], waited=7),
            lambda: beside._db.rows("DELETE FROM semibandit_parts WHERE seq = 1"),
        ):
            with pytest.raises(StoreInUse, match="another process writes to"):
                work()
        assert store.snapshots() == [0, 1]
        assert store.snapshot(1).t == 1
        assert store.waited == 0
    store.close()
    with pytest.raises(StoreError):
        store.append([], waited=1)


def test_whoever_gets_the_lock_begins_an_epoch(where):
    with Store.create(where, sb.SlateUCB(4, 3)) as first:
        assert (first.epoch, first.owned) == (1, True)
        with Store(where, lock=False) as second:
            assert (second.epoch, second.owned, second.try_lock()) == (0, False, False)
            with pytest.raises(StoreInUse), second.beside() as beside:
                beside.append([], waited=7)
            first.close()
            while not second.try_lock():  # a server needs a moment to see that the other ended
                pass
            assert (second.epoch, second.owned) == (2, True)
