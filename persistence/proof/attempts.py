"""Item 4: what a profile does not allow is tried by name, at every door, and nothing of it happens (D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from sqlalchemy import text

from persistence.engines.compatibility import CompatibilityEngine, open_compatibility
from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.lineage.rows import quoted
from persistence.location import locate
from persistence.proof.bench import Bench, off
from persistence.proof.lifecycle import message
from persistence.proof.preservation import contents
from persistence.proof.scorecard import Item
from persistence.runs import RunRecorder
from persistence.statedb import StateDB
from persistence.writing.compatibility.manifest import book_of

__all__ = ["attempts"]

Attempt = Callable[[], Awaitable[object]]


def _statements(bench: Bench) -> Iterator[tuple[str, str]]:
    """Statements that no profile allows, on this profile's tables and beside them."""
    name, rule = next((n, r) for n, r in bench.profile.writes.items() if r.insert and r.update)
    table, column = quoted(name), quoted(rule.update[0])
    key = quoted(rule.insert[0])
    yield "an unknown table", "INSERT INTO proof_unknown VALUES (1)"
    yield "a table beside the profile", "INSERT INTO schema_meta VALUES ('proof', '1')"
    yield "the lineage row", "UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'"
    yield "the version row", "UPDATE schema_meta SET value = '1' WHERE key = 'version'"
    yield "a column the profile does not update", f"UPDATE {table} SET {key} = {key}"
    yield "generic INSERT", f"INSERT INTO {table} ({key}) VALUES ('proof')"
    yield "generic UPDATE", f"UPDATE {table} SET {column} = {column}"
    yield "DELETE", f"DELETE FROM {table}"
    yield "DELETE of one row", f"DELETE FROM {table} WHERE {key} = 'proof'"
    yield "INSERT OR REPLACE", f"INSERT OR REPLACE INTO {table} ({key}) VALUES ('proof')"
    yield "REPLACE", f"REPLACE INTO {table} ({key}) VALUES ('proof')"
    yield "UPDATE OR REPLACE", f"UPDATE OR REPLACE {table} SET {column} = NULL"
    yield "INSERT ... RETURNING", f"INSERT INTO {table} ({key}) VALUES ('proof') RETURNING {key}"
    yield "UPDATE ... RETURNING", f"UPDATE {table} SET {column} = {column} RETURNING {key}"
    yield "an upsert", f"INSERT INTO {table} ({key}) VALUES ('p') ON CONFLICT DO UPDATE SET {column} = NULL"
    yield "a write behind WITH", f"WITH a AS (SELECT 1) DELETE FROM {table}"
    yield "ATTACH", "ATTACH ':memory:' AS proof"
    yield "DETACH", "DETACH temp"
    yield "a temporary table", "CREATE TEMP TABLE proof (a)"
    yield "a temporary trigger", f"CREATE TEMP TRIGGER p AFTER INSERT ON {table} BEGIN SELECT 1; END"
    yield "a temporary view", "CREATE TEMP VIEW proof AS SELECT 1"
    yield "a virtual table", "CREATE VIRTUAL TABLE proof USING fts5(a)"
    yield "CREATE TABLE", "CREATE TABLE proof (a)"
    yield "CREATE INDEX", f"CREATE INDEX proof ON {table} ({key})"
    yield "ALTER TABLE", f"ALTER TABLE {table} ADD COLUMN proof"
    yield "DROP TABLE", f"DROP TABLE {table}"
    yield "VACUUM", "VACUUM"
    yield "VACUUM INTO", "VACUUM INTO 'proof.db'"
    yield "REINDEX", "REINDEX"
    yield "ANALYZE", "ANALYZE"
    yield "journal_mode", "PRAGMA journal_mode = DELETE"
    yield "user_version", "PRAGMA user_version = 9"
    yield "foreign_keys off", "PRAGMA foreign_keys = OFF"
    yield "recursive_triggers off", "PRAGMA recursive_triggers = OFF"
    yield "writable_schema", "PRAGMA writable_schema = ON"
    yield "wal_checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)"
    yield "BEGIN EXCLUSIVE", "BEGIN EXCLUSIVE"
    yield "COMMIT", "COMMIT"
    yield "SAVEPOINT", "SAVEPOINT proof"


def _methods(db: StateDB, recorder: RunRecorder) -> dict[str, Attempt]:
    session = recorder.session_id
    return {
        "set_progression": lambda: db.set_progression(recorder._progressions[0], []),
        "checkpoint": lambda: db.checkpoint("PASSIVE"),
        "vacuum": db.vacuum,
        "create_show": lambda: db.create_show({"id": "p", "topic": "p"}),
        "create_schedule": lambda: db.create_schedule({"id": "p", "name": "p"}),
        "delete_schedule": lambda: db.delete_schedule("p"),
        "create_invocation": lambda: db.create_invocation({"id": "p", "skill": "p"}),
        "attach_session_invocation": lambda: db.attach_session_invocation(session, "p"),
        "an override of a terminal status": lambda: db.update_status(
            "session", session, new_status="running", reason_code="run.running.started", override=True
        ),
        "a session this run did not make": lambda: db.update_session("proof-none", name="p"),
        "a progression this run did not make": lambda: db.append_to_progression("proof-none", "p"),
    }


async def attempts(bench: Bench) -> Item:
    """Each on a store that is open for the profile, with its rows compared by digest after it."""
    path = await bench.fresh()
    failures: list[str] = []
    names: list[str] = []
    async with bench.open(path, bench.owner) as db:
        recorder = RunRecorder(db)
        await recorder.begin()
        before = await off(lambda: contents(path))
        for name, attempt in _public(bench, db, recorder):
            names.append(name)
            failures += [f"{name}: {said}" for said in await _refused(attempt)]
        if await off(lambda: contents(path)) != before:
            failures.append("a row or the schema changed while attempts were refused")
        await recorder.message(message(0, recorder.session_id))
        await recorder.end("completed", "run.completed.ok")
    before = await off(lambda: contents(path))
    for name, said in await _driver(bench, path):
        names.append(name)
        failures += [f"{name}: {one}" for one in said]
    if await off(lambda: contents(path)) != before:
        failures.append("a row or the schema changed through the driver")
    return Item(4, tuple(failures), {"attempts": len(names), "names": names})


def _public(bench: Bench, db: StateDB, recorder: RunRecorder) -> Iterator[tuple[str, Attempt]]:
    for name, sql in _statements(bench):
        yield f"execute: {name}", lambda sql=sql: db.execute(sql)  # type: ignore[misc]
        yield f"transaction: {name}", lambda sql=sql: _caught(db, sql)  # type: ignore[misc]
    for name, attempt in _methods(db, recorder).items():
        yield f"method: {name}", attempt


async def _caught(db: StateDB, sql: str) -> None:
    """A caller that swallows the denial and goes on: the transaction is over all the same."""
    async with db.transaction() as opened:
        try:
            await opened.execute(sql)
        except StoreError as denied:
            try:
                await opened.execute("SELECT 1")
            except StoreError:
                raise denied from None
            raise AssertionError("a denied transaction went on") from denied


async def _refused(attempt: Attempt) -> list[str]:
    try:
        await attempt()
    except StateCompatibilityRefused:
        return []
    except Exception as error:
        return [f"{type(error).__name__}, and no refusal: {error}"]
    return ["it was not refused"]


async def _driver(bench: Bench, path: Any) -> list[tuple[str, list[str]]]:
    """What SQLAlchemy, aiosqlite and sqlite3 have of the writer, its first connection and further ones."""
    book = await off(lambda: book_of(bench.profile))
    engine = await open_compatibility(
        locate(path),
        bench.profile,
        bench.owner,
        bench.profile.operations,
        lambda _p, owner: book.write_set(owner),
    )
    try:
        found = [
            (f"a new pool connection: {name}", await _bare(_pooled(engine, sql))) for name, sql in _few(bench)
        ]
        await engine._alchemy.dispose()
        for name, sql in _few(bench):
            found.append((f"after a reconnect: {name}", await _bare(_pooled(engine, sql))))
        raw = engine._driver._conn
        for name, sql in _few(bench):
            found.append(
                (f"the driver's connection: {name}", await _bare(_on_driver(engine, raw.execute, sql)))
            )
        for method in ("executescript", "blobopen", "backup", "deserialize", "set_authorizer", "commit"):
            call = getattr(raw, method)
            arguments = {"executescript": ("COMMIT",), "blobopen": ("schema_meta", "value", 1), "commit": ()}
            given = arguments.get(method, (None,))
            if method != "commit":
                found.append(
                    (f"the driver's connection: {method}", await _bare(_on_driver(engine, call, *given)))
                )
        return found
    finally:
        await engine.close()


def _few(bench: Bench) -> Iterator[tuple[str, str]]:
    wanted = ("generic UPDATE", "INSERT OR REPLACE", "DELETE", "ATTACH", "a temporary table", "VACUUM")
    return ((name, sql) for name, sql in _statements(bench) if name in wanted)


async def _pooled(engine: CompatibilityEngine, sql: str) -> None:
    async with engine._alchemy.connect() as connection:
        await connection.execute(text(sql))


async def _on_driver(engine: CompatibilityEngine, call: Callable[..., object], *arguments: object) -> None:
    from persistence.engines.driver_thread import on_thread

    await on_thread(engine._driver, lambda: call(*arguments), where=engine.location.display)


async def _bare(work: Awaitable[object]) -> list[str]:
    """Any error will do below the facade; an answer will not."""
    try:
        await asyncio.wait_for(work, 30)
    except Exception:
        return []
    return ["it was not refused"]
