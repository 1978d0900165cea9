"""The other side of a store: a writer and a checkpointer of plain sqlite3 (ADR-0128 D8, item 7).

Processes of their own, on a scratch copy: `python -m persistence.proof.other_side write|checkpoint PATH`.
It ends when its standard input does, and then prints one JSON object. The writer writes rows of the managing
application's own tables back as they are: its lock, its pages and its log are real, and no value changes.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from persistence.lineage.rows import quoted

__all__ = ["main", "own_table"]

_PAUSE = 0.005
_CHECKPOINT_PAUSE = 0.05


def main(arguments: Sequence[str]) -> int:
    what, path, wait_ms, *tables = arguments
    done = threading.Event()
    threading.Thread(target=_wait_for_the_end, args=(done,), daemon=True).start()
    work = {"write": _write, "checkpoint": _checkpoint}[what]
    sys.stdout.write(json.dumps(work(path, float(wait_ms), tables, done)) + "\n")
    return 0


def _wait_for_the_end(done: threading.Event) -> None:
    sys.stdin.read()
    done.set()


def _connect(path: str, wait_ms: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=wait_ms / 1000)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _said(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _write(path: str, wait_ms: float, tables: Sequence[str], done: threading.Event) -> dict[str, Any]:
    connection = _connect(path, wait_ms)
    statement, key = own_table(connection, tables)
    _said("ready")
    tries = busy = 0
    waits: list[float] = []
    while not done.is_set():
        tries += 1
        began = time.perf_counter()
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            busy += 1
            continue
        waits.append(time.perf_counter() - began)
        connection.execute(statement)
        connection.execute("COMMIT")
        done.wait(_PAUSE)
    connection.close()
    return {"tries": tries, "busy": busy, "table": key, "waits_ms": [round(w * 1000, 3) for w in waits]}


def _checkpoint(path: str, wait_ms: float, _tables: Sequence[str], done: threading.Event) -> dict[str, Any]:
    connection = _connect(path, wait_ms)
    _said("ready")
    rounds = busy = 0
    while not done.is_set():
        blocked, _frames, _folded = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        rounds += 1
        busy += bool(blocked)
        done.wait(_CHECKPOINT_PAUSE)
    connection.close()
    return {"rounds": rounds, "busy": busy}


def own_table(connection: sqlite3.Connection, outside: Sequence[str]) -> tuple[str, str]:
    """A statement that writes one row of one of these tables back as it is, and the table's name.

    A table with triggers is passed over, since they might change a value, and so is one without row ids;
    `schema_meta`, which every managed store has, comes last.
    """
    without = {row[0] for row in connection.execute("SELECT name FROM pragma_table_list WHERE wr")}
    standing = {
        row[0] for row in connection.execute("SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger'")
    }
    for table in (*outside, "schema_meta"):
        if table in standing or table in without:
            continue
        name = quoted(table)
        columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
        plain = [row[1] for row in columns if not row[5]] or [row[1] for row in columns]
        if not plain or connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() is None:
            continue
        column = quoted(plain[0])
        return (
            f"UPDATE {name} SET {column} = {column} WHERE rowid = (SELECT min(rowid) FROM {name})",
            table,
        )
    raise SystemExit("the store has no row of its own to write back")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
