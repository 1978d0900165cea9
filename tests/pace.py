"""How long a test waits for nothing; a plugin that conftest registers.

Textual's pilot takes the process for idle once 20 ms have passed almost without work, after every key and
pause. The same is asked here over 4 ms: what is waited for is the same, four fifths of the waiting are not.
"""

from __future__ import annotations

import gc

import pytest
import textual._wait as waiting

_LOOK = 0.004

waiting.SLEEP_GRANULARITY, waiting.SLEEP_IDLE = _LOOK, _LOOK / 20


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected stays: it need not be looked through for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
