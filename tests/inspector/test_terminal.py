"""The program in a real terminal: what it sends there, and that it ends, also when the terminal does."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.inspector.built import make_world
from tests.persistence.stores import make_store, marks_of, message, put, session

PATIENCE = 40.0
"""Seconds before a test gives up waiting; nothing is measured."""


class Terminal:
    """A program behind a pseudo terminal."""

    def __init__(self, *arguments: str, ignore_hangup: bool = False) -> None:
        master, slave = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

        def own_terminal() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if ignore_hangup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)

        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            preexec_fn=own_terminal,  # noqa: PLW1509 (single-threaded)
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        )
        os.close(slave)
        self.master = master
        self.said = b""

    def wait_for(self, words: bytes) -> None:
        end = time.monotonic() + PATIENCE
        while words not in self.said:
            assert time.monotonic() < end, f"{words!r} never came: {self.said[-2000:]!r}"
            if b"our fault" in self.said:
                self.press(b"q")
                self.end()
                raise AssertionError(self.said[-3000:].decode("utf-8", "replace"))
            self.read()

    def read(self) -> None:
        poll = select.poll()  # `select` does not take the high descriptors of a long test run
        poll.register(self.master, select.POLLIN)
        ready = poll.poll(100)
        if ready:
            with suppress(OSError):
                self.said += os.read(self.master, 1 << 16)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        """Waits for the end, reading what is still said."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, "it does not end"
            self.read()
        return self.process.returncode

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            os.close(self.master)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    started: list[Terminal] = []
    yield started
    for terminal in started:
        terminal.close()


def start(terminals: list[Terminal], *arguments: str, ignore_hangup: bool = False) -> Terminal:
    terminal = Terminal(*arguments, ignore_hangup=ignore_hangup)
    terminals.append(terminal)
    return terminal


def test_a_whole_visit_ends_with_0_and_leaves_the_terminal_as_it_was(
    terminals: list[Terminal], tmp_path: Path
) -> None:
    path = make_world(tmp_path / "state.db")
    before = marks_of(path)
    terminal = start(terminals, str(path))
    terminal.wait_for(b"nightly")
    terminal.press(b"\r")
    terminal.wait_for(b"careful")
    terminal.press(b"q")
    assert terminal.end() == 0
    assert b"\x1b[?1049l" in terminal.said, "the alternate screen is left"
    assert b"\x1b[?25h" in terminal.said, "the cursor is back"
    assert b"Traceback" not in terminal.said
    assert marks_of(path) == before


@pytest.mark.parametrize("ignore_hangup", [False, True])
def test_it_ends_when_its_terminal_goes_away(
    terminals: list[Terminal], tmp_path: Path, ignore_hangup: bool
) -> None:
    path = make_world(tmp_path / "state.db")
    terminal = start(terminals, str(path), ignore_hangup=ignore_hangup)
    terminal.wait_for(b"nightly")
    terminal.hang_up()
    terminal.process.wait(timeout=PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(terminals: list[Terminal], tmp_path: Path, number: signal.Signals) -> None:
    path = make_world(tmp_path / "state.db")
    terminal = start(terminals, str(path))
    terminal.wait_for(b"nightly")
    terminal.process.send_signal(number)
    assert terminal.end() != 1
    assert b"Traceback" not in terminal.said


def test_nothing_from_a_store_speaks_to_the_terminal(terminals: list[Terminal], tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    evil = "start \x1b]52;c;aGFja2Vk\x07 \x1b[5mblink \x9b5m \x85 \x00 \x7f \u202eevil\u202c end"
    put(path, "sessions", session(1, name=evil, agent_name=evil, status=evil, project=evil))
    put(path, "progressions", {"id": "p001", "created_at": 1.0, "collection": ["m0001"]})
    put(path, "messages", message(1, content={"assistant_response": evil}, role=evil))
    terminal = start(terminals, str(path))
    terminal.wait_for(b"aGFja2Vk")
    terminal.press(b"\r")
    terminal.wait_for(b"blink")
    terminal.press(b"\r")
    time.sleep(0.5)
    terminal.read()
    terminal.press(b"\x1b")
    time.sleep(0.3)
    terminal.press(b"q")
    terminal.end()
    for forbidden in (b"]52;c;aGFja2Vk\x07", b"\x1b[5m", b"\xc2\x9b", b"\xc2\x85", b"\x00", b"\xe2\x80\xae"):
        assert forbidden not in terminal.said, forbidden


def test_copying_reaches_the_terminal_only_when_asked(terminals: list[Terminal], tmp_path: Path) -> None:
    path = make_world(tmp_path / "state.db")
    terminal = start(terminals, str(path))
    terminal.wait_for(b"nightly")
    assert b"\x1b]52;" not in terminal.said
    terminal.press(b"y")
    terminal.wait_for(b"\x1b]52;c;")
    terminal.press(b"q")
    terminal.end()
