"""What Landlock does not cover: changing a file's owner, mode, times or attributes (Linux: seccomp).

SQLite, run by root, gives a log it opens the owner of its database by `fchown`, even one it opened for
reading: that moves the log's ctime, and the change token with it. The filter acts on the calling thread
alone and answers such calls with EPERM, which SQLite does not mind.
"""

from __future__ import annotations

import errno
import os
import struct
from typing import Any

__all__ = ["forbid_metadata"]

_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_REFUSE, _ALLOW = 0x00050000 | errno.EPERM, 0x7FFF0000
# Numbers of chmod, chown, utime, setxattr and removexattr in all their forms: asm/unistd_64.h, asm-generic.
_CALLS: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        (90, 91, 92, 93, 94, 132, 235, 260, 261, 268, 280, 452, 188, 189, 190, 197, 198, 199, 463, 466),
    ),
    "aarch64": (0xC00000B7, (52, 53, 54, 55, 88, 452, 5, 6, 7, 14, 15, 16, 463, 466)),
}


def forbid_metadata(libc: Any) -> bool:
    """Refuses the calling thread, for the rest of its life, every change of metadata; whether it does.

    The thread must have given up gaining privileges (PR_SET_NO_NEW_PRIVS).
    """
    import ctypes

    machine = _CALLS.get(os.uname().machine)
    if machine is None or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    architecture, calls = machine
    steps = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
    for number in calls:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(filters)))
    return int(libc.prctl(_SET_SECCOMP, _MODE_FILTER, program, 0, 0)) == 0
