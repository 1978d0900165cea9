"""What the file system a store is on can be trusted with; asked of the kernel (statfs), once a directory."""

from __future__ import annotations

import os
import struct
import sys
from functools import lru_cache

__all__ = ["fine_times", "untrusted"]

# Where a change may not show in `stat`: attributes are cached by a client, or times are coarse.
_UNTRUSTED = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB",
    0x01021997: "9p",
    0x65735546: "FUSE",
    0x00C36400: "Ceph",
    0x5346414F: "AFS",
    0x6B414653: "AFS",
    0x73757245: "Coda",
    0x0BD00BD0: "Lustre",
    0x7461636F: "OCFS2",
    0x01161970: "GFS2",
    0x4D44: "FAT",
    0x2011BAB0: "exFAT",
}
# ext4, XFS, Btrfs, tmpfs: from Linux 6.13 on, a change after a `stat` gets a time of its own.
_FINE = frozenset((0xEF53, 0x58465342, 0x9123683E, 0x01021994))


@lru_cache(maxsize=64)
def _kind(folder: bytes, device: int) -> int:
    """The file system's magic number; 0 where it is not known."""
    if not sys.platform.startswith("linux"):
        return 0
    import ctypes  # 2 ms

    try:
        answer = ctypes.create_string_buffer(256)
        if ctypes.CDLL(None, use_errno=True).statfs(folder, answer) != 0:
            return 0
    except (OSError, AttributeError):
        return 0
    return int(struct.unpack_from("l", answer)[0]) & 0xFFFFFFFF


@lru_cache(maxsize=1)
def _kernel() -> tuple[int, int]:
    try:
        first, second = os.uname().release.split(".")[:2]
        return int(first), int(second)
    except (AttributeError, ValueError):
        return 0, 0


def untrusted(path: bytes, device: int) -> str | None:
    """The name of the file system a path is on when its `stat` cannot be trusted to show a change."""
    return _UNTRUSTED.get(_kind(os.path.dirname(path), device))


def fine_times(path: bytes, device: int) -> bool:
    """Whether each change after a `stat` shows in the next, however soon it comes."""
    return _kernel() >= (6, 13) and _kind(os.path.dirname(path), device) in _FINE
