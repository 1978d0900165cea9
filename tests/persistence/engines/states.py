"""Stores in every state the table of DESIGN 3.1 names, made by real SQLite; and what must stay as it was."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from persistence.sidecars import JOURNAL_MAGIC

ROWS = 400
"""Rows of the table `t(a INTEGER, b TEXT)` in every store here; `a` counts from 1."""

_WRITER = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
for line in sys.stdin:
    line = line.rstrip("\\n")
    if line == "quit":
        break
    try:
        print("ok", c.execute(line).fetchall(), flush=True)
    except sqlite3.Error as e:
        print("failed", e.sqlite_errorname, flush=True)
c.close()
print("closed", flush=True)
"""


class Writer:
    """Another process with a connection of its own, told what to do line by line."""

    def __init__(self, path: Path, *statements: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", _WRITER, os.fspath(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for statement in statements:
            self.do(statement)

    def do(self, statement: str) -> str:
        answer = self.ask(statement)
        assert answer.startswith("ok"), (statement, answer)
        return answer

    def ask(self, statement: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self) -> None:
        """Closes its connection, as a program that ends well does."""
        if self.process.poll() is None:
            assert self.ask("quit") == "closed"
        self._gone()

    def kill(self) -> None:
        """Ends at once, leaving everything as it lies."""
        self.process.send_signal(signal.SIGKILL)
        self._gone()

    def _gone(self) -> None:
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


@contextlib.contextmanager
def writer(path: Path, *statements: str) -> Iterator[Writer]:
    """A writer for the time of a test; killed if it is still there."""
    process = Writer(path, *statements)
    try:
        yield process
    finally:
        process.kill()


def can_write(path: Path) -> str:
    """What another process is told that wants to write now: `ok` or the error's name."""
    with writer(path, "PRAGMA busy_timeout=0") as other:
        answer = other.ask("BEGIN IMMEDIATE")
        return "ok" if answer.startswith("ok") else answer.split()[1]


def make(path: Path, mode: str = "wal", rows: int = ROWS) -> Path:
    """A store at rest. Its journal mode is in its header; nothing lies beside it (but a zeroed journal
    for `persist`)."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)")
    connection.execute(
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) "
        "INSERT INTO t SELECT n, hex(randomblob(100)) FROM c",
        (rows,),
    )
    connection.close()
    return path


def crashed_log(path: Path, commits: int = 5, *, unfinished: bool = False) -> Path:
    """A WAL store whose writer was killed: `commits` rows are in the log only, the index lies there too."""
    make(path)
    process = Writer(path, "PRAGMA wal_autocheckpoint=0", "PRAGMA cache_size=1")
    for number in range(commits):
        process.do(f"INSERT INTO t VALUES ({ROWS + number + 1}, 'logged {number}')")
    if unfinished:  # pages that do not fit the cache go to the log before their commit
        process.do("BEGIN")
        process.do("UPDATE t SET b = b || 'x'")
    process.kill()
    return path


def hot_journal(path: Path, mode: str = "delete") -> Path:
    """A rollback store whose writer was killed with some pages already written: `b` begins with `half` there.

    The pages keep their sizes, so that the file without its journal can be read as well.
    """
    make(path, mode)
    process = Writer(path, "PRAGMA cache_size=2", "BEGIN IMMEDIATE", "PRAGMA user_version=7")
    process.do("UPDATE t SET b = 'half' || substr(b, 5)")
    process.kill()
    assert beside(path, "-journal").read_bytes()[:8] == JOURNAL_MAGIC
    return path


def name_super_journal(journal: Path, name: bytes, page: int = 4096) -> None:
    """Ends a journal with the name of a super-journal, as a commit over two databases does."""
    checksum = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
    with journal.open("ab") as out:
        out.write(struct.pack(">I", 0x40000000 // page + 1) + name)
        out.write(struct.pack(">II", len(name), checksum) + JOURNAL_MAGIC)


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def flip(path: Path, offset: int) -> None:
    """Changes one byte."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x55
    path.write_bytes(data)


Trace = dict[str, tuple[object, ...]]


def traces(folder: Path) -> Trace:
    """Everything of every file in a directory that reading must leave as it is, but its access time."""
    found: Trace = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        known = entry.stat(follow_symlinks=False)
        content = b""
        if entry.is_file(follow_symlinks=False):
            # Read by another process: opening and closing a store here would drop its locks.
            content = subprocess.run(["cksum", "--", entry.path], capture_output=True, check=False).stdout
        found[entry.name] = (
            known.st_ino,
            known.st_mode,
            known.st_uid,
            known.st_gid,
            known.st_size,
            known.st_mtime_ns,
            known.st_ctime_ns,
            content.split()[:2],
        )
    return found
