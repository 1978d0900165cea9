"""How long a test waits for nothing; a plugin that conftest registers.

Textual's pilot takes the process for idle once 20 ms have passed almost without work, after every key and
pause: a little longer than one frame lasts. Frames are made shorter here, and the waiting with them. What is
waited for stays the same.
"""

from __future__ import annotations

import gc

import pytest
import textual._wait as waiting
from textual import constants

_FASTER = 4

constants.MAX_FPS *= _FASTER  # type: ignore[misc]
waiting.SLEEP_GRANULARITY /= _FASTER
waiting.SLEEP_IDLE /= _FASTER


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected stays: it need not be looked through for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
