"""The terminal the program runs in: noticing that it is gone, and ending with it.

A closed window sends a hang-up, but not to everything that runs in it (`nohup`, a wrapper, a server that was
killed), and a terminal that no longer takes what is written blocks whoever writes. So a thread of its own
looks once a second, asks the application to end, and ends the process when it cannot.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

__all__ = ["TerminalWatch", "terminal_gone"]

EVERY = 1.0
GRACE = 1.5
"""Seconds the application has to end by itself."""
GONE = 129
"""What the process ends with when it has to be ended: a hang-up."""


def terminal_gone(descriptor: int) -> bool:
    """Whether the terminal behind a descriptor hung up."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(descriptor, 0)  # hang-ups and errors are told whatever is asked
        found = poll.poll(0)
    except (OSError, ValueError):
        return True
    return any(flags & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, flags in found)


class TerminalWatch:
    """Watches standard input's terminal and the signals that ask a program to end, until `stop`."""

    SIGNALS = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name))

    def __init__(self, loop: asyncio.AbstractEventLoop, leave: Callable[[], None]) -> None:
        self._loop = loop
        self._leave = leave
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="terminal-watch", daemon=True)

    def start(self) -> None:
        for number in self.SIGNALS:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._loop.add_signal_handler(number, self._leave)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        for number in self.SIGNALS:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                self._loop.remove_signal_handler(number)

    def _watch(self) -> None:
        descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
        while not self._done.wait(EVERY):
            if terminal_gone(descriptor):
                with suppress(RuntimeError):  # the loop is closed: it is ending already
                    self._loop.call_soon_threadsafe(self._leave)
                if not self._done.wait(GRACE):
                    end_now()
                return


def end_now() -> None:
    """Ends the process from a thread, whatever the others wait for; what was to be tidied at exit is."""
    import atexit

    with suppress(Exception):
        atexit._run_exitfuncs()
    os._exit(GONE)
