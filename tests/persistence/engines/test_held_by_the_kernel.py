"""Landlock and seccomp: what a reader thread may no longer do, and who may still."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from persistence.engines import landlock
from tests.persistence.engines.states import crashed_log, make, traces, writer

T = TypeVar("T")
pytestmark = pytest.mark.skipif(not landlock.available(), reason="this kernel has no Landlock")


def on_held_thread(work: Callable[[], T]) -> T:
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            assert landlock.restrict() and landlock.restrict()
            results.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


WRITES: dict[str, Callable[[Path], object]] = {
    "open for writing": lambda path: path.open("r+b"),
    "create": lambda path: path.with_name("new").touch(),
    "truncate": lambda path: os.truncate(path, 0),
    "remove": lambda path: path.unlink(),
    "rename": lambda path: path.rename(path.with_name("new")),
    "link": lambda path: os.link(path, path.with_name("new")),
    "symlink": lambda path: path.with_name("new").symlink_to(path),
    "mkdir": lambda path: path.with_name("new").mkdir(),
    "mkfifo": lambda path: os.mkfifo(path.with_name("new")),
    "chmod": lambda path: path.chmod(0o600),
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()),
    "utime": os.utime,
    "xattr": lambda path: os.setxattr(path, "user.mark", b"1"),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_held_thread_changes_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    before = traces(tmp_path)
    with pytest.raises(PermissionError):
        on_held_thread(lambda: WRITES[name](path))
    assert traces(tmp_path) == before


def test_it_still_reads_and_the_others_still_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    assert on_held_thread(path.read_bytes) == b"content"
    path.write_bytes(b"written after")
    assert path.read_bytes() == b"written after"


def test_threads_a_held_thread_starts_are_held(tmp_path: Path) -> None:
    def start_another() -> list[str]:
        said: list[str] = []

        def write() -> None:
            try:
                (tmp_path / "new").touch()
            except PermissionError as error:
                said.append(type(error).__name__)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        return said

    assert on_held_thread(start_another) == ["PermissionError"]


def count(path: Path, query: str) -> int:
    connection = sqlite3.connect(f"file:{path}?{query}", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM t").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.parametrize("query", ["mode=ro", "mode=ro&readonly_shm=1", "immutable=1"])
def test_no_opening_leaves_a_trace_on_a_held_thread(tmp_path: Path, query: str) -> None:
    """Also the openings that SQLite's options alone do not keep from writing; some then fail, which is
    what the table of routes is for."""
    store = make(tmp_path / "s.db")
    before = traces(tmp_path)
    try:
        assert on_held_thread(lambda: count(store, query)) > 0
    except sqlite3.OperationalError:
        assert query != "immutable=1"
    assert traces(tmp_path) == before


def test_a_log_keeps_its_times_when_root_reads_it(tmp_path: Path) -> None:
    """SQLite gives a log the owner of its database, when root opens it: that moved its ctime."""
    store = crashed_log(tmp_path / "s.db")
    with writer(store, "SELECT * FROM t LIMIT 1"):
        before = traces(tmp_path)
        assert on_held_thread(lambda: count(store, "mode=ro&readonly_shm=1")) > 0
        assert traces(tmp_path) == before
