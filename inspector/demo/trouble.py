"""The stores whose lineage is a question: another's, too new, nobody's, and interrupted in four ways.

Each is made as the program it plays would have made it, and then left at the moment that is to be shown: a
file, and beside it the journal or the log that says more than the file does.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from inspector.demo.runs import BranchTold, RunTold, write_run
from inspector.demo.store import StoreWriter
from inspector.demo.world import AGENTS, MODELS

__all__ = ["BUILDERS"]

Build = Callable[[Path, Path, float], dict[str, int]]
Change = Callable[[sqlite3.Connection], object]

RUNS = 6
_STEPS: tuple[tuple[float, str, Any], ...] = (
    (2.0, "user", ("Which crates of the night ferry still wait for their papers?", [])),
    (6.0, "say", "I look the manifest up."),
    (1.0, "call", ("list_crates", {"sailing": "night", "papers": "missing"})),
    (2.0, "result", ("list_crates", {"sailing": "night", "papers": "missing"}, {"rows": [114, 115, 131]})),
    (5.0, "say", "Three: 114 and 115 (the school's telescopes) and 131 (ice, which does not wait)."),
)
_OURS = "UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'"
_THEIRS = "UPDATE schema_meta SET value = 'customs-desk' WHERE key = 'lineage'"
_NOBODYS = "DELETE FROM schema_meta WHERE key = 'lineage'"


@cache
def _template(clock: float) -> bytes:
    """A store of lionagi's, at rest, that keeps a rollback journal, with a few runs of the customs shed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state.db")
        store = StoreWriter()
        for number in range(RUNS):
            steps = [(0.0, "system", AGENTS["lookout"]), *_STEPS]
            at = clock - (RUNS - number) * 86_400.0 + number * 1_731
            write_run(store, RunTold(
                f"customs-{number}", at, f"Papers of night {number + 1}", "customs", MODELS[number % 2],
                "customs", "completed" if number != 3 else "failed", [BranchTold("main", steps)], ends=31.0,
            ))  # fmt: skip
        store.make(path, clock - 9 * 86_400)
        with _open(path) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        return path.read_bytes()


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=OFF")
        yield connection
    finally:
        connection.close()


def _holds() -> dict[str, int]:
    return {"runs": RUNS, "messages": RUNS * (len(_STEPS) + 1)}


def _changed(path: Path, clock: float, *statements: str) -> dict[str, int]:
    """The template after these statements, at rest."""
    path.write_bytes(_template(clock))
    with _open(path) as connection:
        connection.executescript(f"BEGIN; {'; '.join(statements)}; COMMIT;")
    return _holds()


# -- at rest ----------------------------------------------------------------------------------------------


def _managed(path: Path, files: Path, clock: float) -> dict[str, int]:
    """Another application's: its lineage row, its version, its columns and a table of its own."""
    _changed(
        path,
        clock,
        _THEIRS,
        "UPDATE schema_meta SET value = '7' WHERE key = 'version'",
        "ALTER TABLE sessions ADD COLUMN owner_id TEXT",
        "UPDATE sessions SET owner_id = 'kim'",
        "CREATE TABLE crates (number INTEGER PRIMARY KEY, sailing TEXT NOT NULL, papers TEXT, weight_kg REAL)",
        "INSERT INTO crates VALUES (114, 'night', NULL, 88.5), (115, 'night', NULL, 91), (131, 'night', NULL, 40)",
    )
    return {**_holds(), "crates": 3}


def _too_new(path: Path, files: Path, clock: float) -> dict[str, int]:
    """A later release's: a version above ours, and a table this program has never heard of."""
    return _changed(
        path,
        clock,
        "UPDATE schema_meta SET value = '9' WHERE key = 'version'",
        "CREATE TABLE session_tides (session_id TEXT PRIMARY KEY, height_m REAL) WITHOUT ROWID",
    )


def _nobodys(path: Path, files: Path, clock: float) -> dict[str, int]:
    """A web shop's: it has a `schema_meta` and a `sessions` too, and they mean something else."""
    with _open(path) as connection:
        connection.executescript(
            """
            BEGIN;
            CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
            INSERT INTO schema_meta VALUES ('version', '3'), ('currency', 'shell');
            CREATE TABLE sessions (id TEXT PRIMARY KEY, visitor TEXT, browser TEXT, basket TEXT);
            CREATE TABLE tickets (number INTEGER PRIMARY KEY, sailing TEXT, name TEXT, price INTEGER);
            COMMIT;
            """
        )
        visits = [(f"v{n:04d}", f"guest {n % 37}", "Lantern 4", "[]") for n in range(240)]
        tickets = [(1000 + n, "night" if n % 3 else "day", f"guest {n % 37}", 18) for n in range(180)]
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?)", visits)
        connection.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?)", tickets)
        connection.execute("COMMIT")
    return {"visits": 240, "tickets": 180}


# -- interrupted ------------------------------------------------------------------------------------------


def _killed(path: Path, clock: float, committed: str, interrupted: str) -> dict[str, int]:
    """The files as they lie there when a program is killed whose transaction was half in the file already."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, path.name)
        work.write_bytes(_template(clock))
        with _open(work) as connection:
            run = connection.execute
            run(committed)
            run("PRAGMA synchronous=FULL")  # a journal that was never synced promises nothing
            run("PRAGMA cache_size=4")
            run("BEGIN IMMEDIATE")
            run(interrupted)
            # More than the cache holds: pages of the open transaction go to the file.
            run("UPDATE messages SET content = content || ' '")
            run("UPDATE sessions SET updated_at = updated_at + 1")
            _take(work, path, "", "-journal")
            run("ROLLBACK")
    return _holds()


def _take(work: Path, path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").write_bytes(Path(f"{work}{suffix}").read_bytes())


def _hides(path: Path, files: Path, clock: float) -> dict[str, int]:
    return _killed(path, clock, _THEIRS, _NOBODYS)


def _shows(path: Path, files: Path, clock: float) -> dict[str, int]:
    return _killed(path, clock, _OURS, _THEIRS)


def _logged(path: Path, clock: float, *suffixes: str) -> dict[str, int]:
    """The files of a program that was killed before its log went into the file: only the log has the row."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, path.name)
        work.write_bytes(_template(clock))
        with _open(work) as connection:
            run = connection.execute
            run(_NOBODYS)
            run("PRAGMA journal_mode=WAL")
            run("PRAGMA wal_autocheckpoint=0")
            run("INSERT INTO schema_meta (key, value) VALUES ('lineage', 'customs-desk')")
            run("UPDATE sessions SET updated_at = updated_at + 1")
            _take(work, path, *suffixes)
    return _holds()


def _in_log(path: Path, files: Path, clock: float) -> dict[str, int]:
    return _logged(path, clock, "", "-wal", "-shm")


def _wet_log(path: Path, files: Path, clock: float) -> dict[str, int]:
    """The same, and the beginning of the log is lost."""
    holds = _logged(path, clock, "", "-wal")
    log = Path(f"{path}-wal")
    log.write_bytes(b"\0" * 32 + log.read_bytes()[32:])
    return holds


BUILDERS: dict[str, Build] = {
    "customs": _managed,
    "tomorrow": _too_new,
    "ticket-shop": _nobodys,
    "power-cut": _hides,
    "takeover": _shows,
    "pilots-log": _in_log,
    "wet-logbook": _wet_log,
}
