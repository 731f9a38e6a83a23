"""Access to the store: how it is lost, and got back.

A service writes only while it is the store's owner and learning was given all of the log. It is not
after the store has failed, while the store does not answer, and while another process is the owner:
then it follows the log, and becomes the owner when no other is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from time import monotonic

from semibandit.errors import StoreError, StoreInUse, StoreMoved
from semibandit.service.engine.learning import Learning, LoggedEvent
from semibandit.service.engine.statistics import Statistics
from semibandit.service.settings import Settings
from semibandit.store.store import PAGE, Store

__all__ = ["StoreAccess"]

log = logging.getLogger("semibandit")
RETRY_EVERY = 1.0  # seconds between two tries to connect to a store that failed
FOLLOW_EVERY = 0.2  # seconds between two looks at the log and the lock of another owner
STUCK_AFTER = 1.0  # seconds that a call may take beyond the store's timeout
STORE_AWAY = "the store cannot be reached or written at the moment: try again with the same id"
LOST = "events left the log before this service had learned them: it must be started again"
OWNER = "this service writes to the store now (epoch %d)"
NOT_OWNER = "another process writes to the store: following it (last epoch of ours %d)"
FOLLOWING = (
    "this service follows another one, which writes to the same store: ask that one, "
    "or try again with the same id"
)


class StoreAccess:
    """What the writer knows of its store, and how it gets it back.

    `behind` is True while the log may have events that learning was not given. `following` is True
    while another process is the owner, or was when this one looked last.
    """

    def __init__(
        self, store: Store, settings: Settings, learning: Learning, statistics: Statistics
    ) -> None:
        self.behind = self.following = not store.owned
        self.failure: str | None = None  # why the store cannot be used
        self.moved = False  # whether that is because its file was deleted, replaced or cut short
        self.lost = False  # whether feedback was removed from the log before it was learned
        self.stuck = False  # in a call that takes longer than any timeout
        self._store, self._learning, self._statistics = store, learning, statistics
        self._timeout = settings.timeouts.store
        self._room = settings.limits.backlog
        self._since: float | None = None  # when a call of `calling` began
        self._next_try = 0.0
        self._try_at_once = False  # whether the next request may find the store well again
        self._handed_over = min(learning.last_put, store.last)  # events up to here are in learning

    @property
    def open(self) -> bool:
        """Whether requests can be written, as far as is known."""
        return not (self.following or self.stuck or self.failure is not None)

    @property
    def refusing(self) -> bool:
        """Whether requests are to be refused at once, so that nobody waits again for the store."""
        return not (self.open or (self._try_at_once and not self.stuck and not self.following))

    @property
    def down(self) -> str | None:
        """Why the store cannot be used, or None."""
        since = self.busy_since
        if self.stuck and since is not None:
            return f"the store has not answered for {monotonic() - since:.0f} s"
        return self.failure

    @property
    def busy_since(self) -> float | None:
        """When the call that is under way began, by time.monotonic()."""
        return self._since if self._since is not None else self._store.busy_since

    def refusal(self) -> StoreError:
        """What is answered to requests while access is not open."""
        if self.following and not self.stuck and self.failure is None:
            return StoreInUse(FOLLOWING)
        return StoreError(STORE_AWAY)

    @contextmanager
    def calling(self) -> Iterator[None]:
        """A block that waits for the store, or for its turn to write."""
        self._since = monotonic()
        try:
            yield
        finally:
            self._since = None

    def fail(self, why: StoreError, seconds: float) -> None:
        """The store has failed after so many seconds.

        A connection that broke is tried again with the next request, once. All else, and above all
        a store that did not answer in time, is tried after a while, and nobody waits for that.
        """
        self._try_at_once = self.failure is None and seconds < self._timeout / 2
        if self.failure is None:
            log.error("the store failed: %s", why)
        self.failure, self.behind, self.moved = str(why), True, isinstance(why, StoreMoved)
        self.postpone()

    def postpone(self) -> None:
        """Do not try to get the store back for a while."""
        self._next_try = monotonic() + RETRY_EVERY

    def is_stuck(self) -> bool:
        """Whether the call that is under way has taken too long; for another thread to ask."""
        since = self.busy_since
        return since is not None and monotonic() - since > self._timeout + STUCK_AFTER

    def hand_over(self, last: int) -> None:
        """Learning and the statistics were given all events of the log up to this one."""
        self._handed_over = last

    def catch_up(self) -> bool:
        """Get the store back if it is time to try, and learn what was written meanwhile.

        Whether requests can be written now. After a bug of ours it is always time.
        """
        now = monotonic()
        if self.lost or (self.refusing and now < self._next_try):
            return False
        self._next_try = now + FOLLOW_EVERY
        with self.calling():
            if self.following and self.failure is None:
                owned = self._store.try_lock()
            else:
                self._store.reopen()
                owned = self._store.owned
        self._follow(None if owned else self._room - self._learning.backlog)
        if self._store.removed > self._learning.last_put:
            self._lose()
            return False
        if self.failure is not None:
            log.warning("the store is back")
        if owned == self.following:
            log.warning(OWNER if owned else NOT_OWNER, self._store.epoch)
        self.failure, self.following, self.moved = None, not owned, False
        self.behind = not owned
        return owned

    def _lose(self) -> None:
        """Never write with a learner that is not the log's; whoever is right may have the lock."""
        log.error(LOST)
        self.failure, self.lost = LOST, True
        self._store.close()

    def _follow(self, most: int | None) -> None:
        """Hand the log's news to learning and the statistics: all of it, or so many events."""
        if most is not None:
            self._store.refresh()
        news = self._store.learnable_events(self._handed_over)
        news = islice(news, None if most is None else max(0, most))
        while some := list(islice(news, PAGE)):
            self._learning.put([LoggedEvent(*one) for one in some])
            self._handed_over = some[-1][0]
        self._statistics.catch_up(self._store)
