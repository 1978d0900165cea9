"""Since when this thread's transaction has the writer's lock: what a proof takes its hold by."""

from __future__ import annotations

import threading

__all__ = ["SINCE"]


class _Since(threading.local):
    """`moment` is `time.perf_counter()` right after BEGIN IMMEDIATE of the thread's latest transaction."""

    moment = 0.0


SINCE = _Since()
