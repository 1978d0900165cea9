"""Item 6: the store's schema, or whose it is, changes under an open handle (ADR-0128 D8)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from persistence.errors import StoreError
from persistence.lineage.rows import quoted
from persistence.proof.bench import Bench, off
from persistence.proof.lifecycle import message
from persistence.proof.preservation import contents
from persistence.proof.scorecard import Item
from persistence.runs import RunRecorder

__all__ = ["changes"]

Change = Callable[[Path], None]


def _running(*statements: str) -> Change:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
            for statement in statements:
                connection.execute(statement)

    return change


def _replaced(path: Path) -> None:
    other = path.with_name("other.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("VACUUM INTO ?", (os.fspath(other),))
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    other.replace(path)


def _table(bench: Bench) -> str:
    for name in bench.profile.writes:
        if name.lower() == "messages":
            return quoted(name)
    return quoted(next(iter(bench.profile.writes)))


def _refusing(bench: Bench) -> Mapping[str, Change]:
    table = _table(bench)
    return {
        "a column is added to the closure": _running(f"ALTER TABLE {table} ADD COLUMN proof_column TEXT"),
        "a trigger is put on the closure": _running(
            f"CREATE TRIGGER proof_trigger AFTER INSERT ON {table} BEGIN SELECT 1; END"
        ),
        "a unique index is put on the closure": _running(
            f"CREATE UNIQUE INDEX proof_index ON {table} (role, created_at)"
        ),
        "the lineage row names another": _running(
            "UPDATE schema_meta SET value = 'another' WHERE key = 'lineage'"
        ),
        "the lineage row is gone": _running("DELETE FROM schema_meta WHERE key = 'lineage'"),
        "another file takes the store's name": _replaced,
    }


def _harmless() -> Mapping[str, Change]:
    return {
        "a table is added beside the closure": _running("CREATE TABLE proof_beside (a)"),
        "a view is added beside the closure": _running("CREATE VIEW proof_view AS SELECT 1 AS a"),
    }


async def changes(bench: Bench) -> Item:
    """Each change once before the first write and once between two; what means something refuses before any
    statement, what means nothing goes on."""
    failures: list[str] = []
    cases = [(name, change, True) for name, change in _refusing(bench).items()]
    cases += [(name, change, False) for name, change in _harmless().items()]
    for between in (False, True):
        for name, change, refuses in cases:
            wrong = await _one(bench, change, refuses, between)
            when = "between two writes" if between else "before the first write"
            failures += [f"{name}, {when}: {text}" for text in wrong]
    return Item(
        6, tuple(failures), {"changes": len(cases), "moments": 2, "names": [case[0] for case in cases]}
    )


async def _one(bench: Bench, change: Change, refuses: bool, between: bool) -> list[str]:
    path = await bench.fresh()
    async with bench.open(path, bench.owner) as db:
        recorder = RunRecorder(db)
        if between:
            await recorder.begin()
        await off(lambda: change(path))
        seen = await off(lambda: contents(path))
        try:
            if between:
                await recorder.message(message(0, recorder.session_id))
            else:
                await db.create_progression("proof-progression")
        except StoreError as error:
            if not refuses:
                return [f"it was refused: {error.code}: {error.message}"]
            after = await off(lambda: contents(path))
            return [] if after == seen else ["it was refused, and something was written"]
    return ["it was not refused"] if refuses else []
