"""The kernel holding a reader thread to reading (Linux: Landlock; DESIGN 3.1).

A thread that calls `restrict` gives up, for good, the right to write, create, remove, rename or truncate
anything anywhere in the file system; SQLite then opens a store's files for reading by itself. Threads it
starts inherit that, other threads of the process keep their rights. What Landlock does not cover
(owner, mode, times, attributes) `seccomp` does.
"""

from __future__ import annotations

import os
import struct
import sys
import threading

from persistence.engines import seccomp

__all__ = ["available", "restrict"]

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION = 1
_NO_NEW_PRIVS = 38
_WRITE_FILE = 1 << 1
_REMOVE_DIR = 1 << 4
_REMOVE_FILE = 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))  # every kind of file
_TRUNCATE = 1 << 14  # from ABI 3; before it a file opened for reading could not be truncated either
_state = threading.local()


class _Kernel:
    """What the running kernel offers, asked once."""

    def __init__(self) -> None:
        import ctypes

        self._errno = ctypes.get_errno
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.syscall.restype = ctypes.c_long
        self.abi = int(self._libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION))

    def restrict(self) -> bool:
        handled = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE | (_TRUNCATE if self.abi >= 3 else 0)
        rules = struct.pack("<Q" if sys.byteorder == "little" else ">Q", handled)
        fd = int(self._libc.syscall(_CREATE, rules, len(rules), 0))
        if fd < 0:
            return False
        try:
            # Both act on this thread alone.
            if self._libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
                return False
            held = int(self._libc.syscall(_RESTRICT, fd, 0)) == 0
            # Only root may be led to change metadata of a file opened for reading.
            return (seccomp.forbid_metadata(self._libc) or os.geteuid() != 0) and held
        finally:
            os.close(fd)


_kernel: _Kernel | None = None
_asked = False
_lock = threading.Lock()


def _offered() -> _Kernel | None:
    global _kernel, _asked
    with _lock:
        if not _asked:
            _asked = True
            if sys.platform.startswith("linux"):
                try:
                    kernel = _Kernel()
                except (OSError, AttributeError, ImportError):
                    kernel = None
                _kernel = kernel if kernel is not None and kernel.abi > 0 else None
        return _kernel


def available() -> bool:
    """Whether this kernel can hold a thread."""
    return _offered() is not None


def restrict() -> bool:
    """Holds the calling thread to reading, for the rest of its life; whether the kernel does hold it.

    Never call it on a thread that has other work to do. Calling it again costs nothing.
    """
    held: bool | None = getattr(_state, "held", None)
    if held is None:
        kernel = _offered()
        held = _state.held = kernel is not None and kernel.restrict()
    return held
