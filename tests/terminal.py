"""A terminal of one's own: starts a program in a pseudo-terminal, types, and reads what it shows."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence

__all__ = ["Terminal"]

_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_]|.)"
)

KEYS = {
    "enter": "\r", "escape": "\x1b", "tab": "\t", "down": "\x1b[B", "up": "\x1b[A", "pagedown": "\x1b[6~",
    "ctrl+c": "\x03", "ctrl+p": "\x10",
}  # fmt: skip


class Terminal:
    """`raw` is every byte the program wrote; `text` is that without escape sequences."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            close_fds=True,
            env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        )
        os.close(slave)
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        return _ESCAPES.sub(b"", self.raw).decode("utf-8", "replace")

    def read(self, seconds: float) -> bool:
        """Takes what there is to read within so many seconds; False when the program closed its end."""
        # Not by `select`: a test run that has opened many stores has descriptors it does not take.
        ready = select.poll()
        ready.register(self._master, select.POLLIN)
        if not ready.poll(seconds * 1000):
            return True
        try:
            got = os.read(self._master, 65_536)
        except OSError as error:
            if error.errno == errno.EIO:
                return False
            raise
        self.raw += got
        return bool(got)

    def wait_for(self, text: str, seconds: float = 60.0) -> None:
        """Until the text has been written since the last key; AssertionError with the screen otherwise."""
        end = time.monotonic() + seconds
        while text not in _ESCAPES.sub(b"", self.raw[self._seen :]).decode("utf-8", "replace"):
            assert time.monotonic() < end, f"{text!r} was not shown:\n{self.text[-3000:]}"
            assert self.read(0.1) or self.process.poll() is None, (
                f"ended before {text!r}:\n{self.text[-3000:]}"
            )

    def settle(self, quiet: float = 0.4, seconds: float = 15.0) -> None:
        """Until nothing was written for a moment."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = len(self.raw)
            if not self.read(quiet) or len(self.raw) == before:
                return

    def press(self, *keys: str) -> None:
        """Types keys by name, or a text letter by letter, each once the screen stands still."""
        for key in keys:
            self._seen = len(self.raw)
            os.write(self._master, KEYS.get(key, key).encode())
            self.settle(0.15, 3)

    def ended(self, seconds: float = 60.0) -> int:
        """The exit code, once the program has ended by itself."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        return self.process.wait(1)
