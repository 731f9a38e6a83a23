"""The last resort when a process does not end by itself."""

from __future__ import annotations

import logging
import os
import threading

__all__ = ["end_within"]

log = logging.getLogger("semibandit")


def end_within(seconds: float) -> None:
    """End the process after so many seconds, whatever hangs, unless it has ended by then.

    Nothing acknowledged is lost: it was in the log before it was acknowledged. The exit code is 1.
    """
    threading.Thread(target=_wait_and_end, args=(seconds,), name="grace", daemon=True).start()


def _wait_and_end(seconds: float) -> None:
    threading.Event().wait(seconds)
    log.error(
        "it did not stop within %g s: ended; all that was acknowledged is in the log", seconds
    )
    logging.shutdown()
    os._exit(1)
