"""The change token: still when nothing was committed, moved by every commit, costs no lock."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import pytest

from persistence.engines import token
from tests.persistence.engines.states import make, writer


def of(path: Path) -> token.Token:
    return token.take(os.fsencode(path))


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate", "persist"])
def test_every_commit_of_another_process_moves_it(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    with writer(store) as other:
        other.do("SELECT count(*) FROM t")
        seen = {of(store)}
        for number in range(20):
            token.settle(os.fsencode(store))
            other.do(f"INSERT INTO t VALUES ({10_000 + number}, 'x')")
            seen.add(of(store))
        assert len(seen) == 21
        assert of(store) == of(store)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_reading_does_not_move_it(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    before = of(store)
    with writer(store, "SELECT count(*) FROM t"):
        # An idle connection beside a WAL store leaves an empty log, which is not a commit...
        during = of(store)
    assert during.store == before.store and during.counter == before.counter
    assert before.log is None and (during.log is None or during.log[2] == 0)


def test_a_whole_commit_cycle_never_goes_unseen(tmp_path: Path) -> None:
    """Opened, written, checkpointed and closed between two looks: nothing lies there before or after."""
    store = make(tmp_path / "s.db")
    for number in range(60):
        before = token.settle(os.fsencode(store))
        connection = sqlite3.connect(store, isolation_level=None)
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("UPDATE t SET b = ? WHERE a = 1", (f"v{number:04}",))
        connection.close()
        assert of(store) != before


def test_a_file_changed_just_now_is_waited_out() -> None:
    mark = (1, 2, 3, 0, int(1e9 * 1000.0))
    recent = token.Token(mark, None, None)
    assert recent.fresh(1000.0) > 0 and recent.fresh(1000.015) > 0
    assert recent.fresh(1000.03) == 0 and recent.fresh(990.0) == 0


def test_a_replaced_file_moves_it(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    before = of(store)
    data = store.read_bytes()
    (tmp_path / "new").write_bytes(data)
    status = store.stat()
    os.utime(tmp_path / "new", ns=(status.st_atime_ns, status.st_mtime_ns))
    (tmp_path / "new").replace(store)
    assert of(store) != before


def test_restored_times_do_not_hide_a_change(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db", "delete")
    before = token.settle(os.fsencode(store))
    status = store.stat()
    connection = sqlite3.connect(store)
    connection.execute("UPDATE t SET b = 'changed' WHERE a = 1")
    connection.commit()
    connection.close()
    os.utime(store, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert of(store) != before


def test_a_store_that_is_not_there_has_a_token_too(tmp_path: Path) -> None:
    nothing = of(tmp_path / "none" / "s.db")
    assert nothing.identity is None and nothing == of(tmp_path / "none" / "s.db")
    assert nothing.fresh(time.time()) == 0
