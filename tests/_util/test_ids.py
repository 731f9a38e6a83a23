import itertools
import re

from semibandit._util import ids as _ids
from semibandit._util.ids import new_id

HOUR = 3_600_000_000_000  # in nanoseconds


def test_ids_differ_and_those_made_later_sort_later(monkeypatch):
    hours = itertools.count(1_700_000_000_000_000_000, HOUR)
    ids = []
    for _ in range(100):
        now = next(hours)
        monkeypatch.setattr(_ids.time, "time_ns", lambda now=now: now)
        ids += sorted(new_id() for _ in range(10))
    assert ids == sorted(set(ids))
    assert all(re.fullmatch("[0-9a-f]{28}", id) for id in ids)
