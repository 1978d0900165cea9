"""One gate a file: a writer opens only when no read of this process is in progress."""

from __future__ import annotations

import threading
import time

import pytest

from persistence.engines.gate import Gate, gate_for
from persistence.errors import BusyError


def test_there_is_one_gate_for_a_file() -> None:
    assert gate_for((1, 2)) is gate_for((1, 2))
    assert gate_for((1, 2)) is not gate_for((1, 3))


def test_reads_go_side_by_side() -> None:
    gate = Gate((0, 0))
    gate.enter(None)
    gate.enter(None)
    assert gate.readers == 2
    gate.leave()
    gate.leave()
    assert gate.readers == 0


def test_a_writer_waits_for_the_reads_and_new_reads_wait_for_it() -> None:
    gate = Gate((0, 0))
    order: list[str] = []
    gate.enter(None)
    waiting, inside, finish = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        waiting.set()
        with gate.opening(None):
            order.append("writer")
            inside.set()
            finish.wait(5)

    def read() -> None:
        gate.enter(None)
        order.append("reader")
        gate.leave()

    writer = threading.Thread(target=write)
    writer.start()
    waiting.wait(5)
    while not gate._waiting:
        time.sleep(0.001)
    reader = threading.Thread(target=read)
    reader.start()
    assert not inside.wait(0.1) and order == []
    gate.leave()
    assert inside.wait(5)
    assert order == ["writer"]
    finish.set()
    reader.join(5)
    writer.join(5)
    assert order == ["writer", "reader"]


def test_waiting_has_an_end() -> None:
    gate = Gate((0, 0))
    gate.enter(None)
    with pytest.raises(BusyError, match="reading"), gate.opening(time.monotonic() + 0.02):
        raise AssertionError
    gate.leave()
    with gate.opening(None), pytest.raises(BusyError):
        gate.enter(time.monotonic() + 0.02)
    gate.enter(time.monotonic() + 0.02)  # neither left anything behind
    assert gate.readers == 1


def test_a_read_that_was_told_to_stop_does_not_wait() -> None:
    gate = Gate((0, 0))
    with gate.opening(None):
        gate.enter(None, lambda: True)
    assert gate.readers == 1


def test_a_failed_opening_lets_the_reads_go_on() -> None:
    gate = Gate((0, 0))
    with pytest.raises(ValueError, match="no"), gate.opening(None):
        raise ValueError("no")
    gate.enter(time.monotonic())
    assert gate.readers == 1


def test_handles_are_known_while_they_are_open() -> None:
    gate = Gate((0, 0))
    with gate.handle("native", "~/s.db") as first, gate.handle("compatibility", "acme") as second:
        assert gate.handles == (first, second)
        assert (second.kind, second.label) == ("compatibility", "acme")
    assert gate.handles == ()
