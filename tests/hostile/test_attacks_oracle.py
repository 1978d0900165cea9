"""What was tried on lionagi 0.36.0's compatibility mode by driver, by SQL and by moving the store, on ours.

There `INSERT OR REPLACE`, foreign updates, blobs, backups, raw transactions and an exchanged file went
through; here none of it changes a row. The names are those the attempts were made under; those on the public
operations are in `tests/persistence/compatibility`.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError
from persistence.writing.compatibility.running import Running
from tests.managed import dump, live, make_run, manager, profile_of
from tests.persistence.guard.kit import dug_out

REFUSED = StateCompatibilityRefused
MESSAGE = "INSERT{how} INTO messages (id, created_at, content, role, lion_class, owner_id) VALUES {values}"
LEE = MESSAGE.format(how="", values="('x', 1, '1', 'user', 0, 'lee')")
KIM = MESSAGE.format(how="", values="('x', 1, '1', 'user', 0, 'kim')")


def engine_of(db: StateDB) -> Any:
    writer: Any = db._writer
    return writer._engine


async def within(db: StateDB, attack: Callable[[], object], *, caught: bool) -> StoreError:
    """What an operation of the profile comes to that is attacked after its own statements."""
    writer: Any = db._writer
    operation = writer._book.operations["create_progression"]
    prepared = operation.prepare(Running(writer._book, operation, "kim", writer._created, None), "attacked")

    def steps() -> Steps[None]:
        yield from prepared()
        try:
            attack()
        except Exception:
            if not caught:
                raise

    with pytest.raises(StoreError) as refused:
        await writer._engine.run("create_progression", steps, transaction="progression")
    return refused.value


# -- the driver ----------------------------------------------------------------------------------------------

RAW: dict[str, str | Callable[[Any], object]] = {
    "raw-or-replace-foreign": MESSAGE.format(
        how=" OR REPLACE", values="('lee-msg', 1, '1', 'user', 0, 'kim')"
    ),
    "raw-or-replace-keeps-owner": MESSAGE.format(
        how=" OR REPLACE", values="('lee-msg', 1, '1', 'user', 0, 'lee')"
    ),
    "raw-or-ignore": MESSAGE.format(how=" OR IGNORE", values="('lee-msg', 1, '1', 'user', 0, 'kim')"),
    "raw-or-rollback": MESSAGE.format(how=" OR ROLLBACK", values="('lee-msg', 1, '1', 'user', 0, 'kim')"),
    "raw-owner-spoof": LEE,
    "raw-owner-default": (
        "INSERT INTO messages (id, created_at, content, role, lion_class) VALUES ('x', 1, '1', 'user', 0)"
    ),
    "raw-update-foreign": "UPDATE messages SET content = '9' WHERE id = 'lee-msg'",
    "raw-update-all": "UPDATE sessions SET name = 'x'",
    "raw-upsert": MESSAGE.format(how="", values="('lee-msg', 1, '1', 'user', 0, 'kim')")
    + " ON CONFLICT (id) DO UPDATE SET content = '9'",
    "raw-returning": KIM + " RETURNING id",
    "raw-update-owner": "UPDATE sessions SET owner_id = 'lee' WHERE id = 's'",
    "raw-delete": "DELETE FROM messages",
    "raw-other-table": "INSERT INTO tickets VALUES (9, 'x', NULL, 'kim')",
    "raw-desk-column": "UPDATE sessions SET desk_pinned = 1 WHERE id = 's'",
    "raw-fk-off": "PRAGMA foreign_keys = OFF",
    "raw-defer-fk": "PRAGMA defer_foreign_keys = ON",
    "raw-attach": "ATTACH ':memory:' AS other",
    "raw-temp-table": "CREATE TEMP TABLE x (a)",
    "raw-savepoint": "SAVEPOINT x",
    "raw-delete-caught": "DELETE FROM ticket_notes",
    "raw-commit-then-insert": "COMMIT",
    "raw-rollback": "ROLLBACK",
    "raw-set-authorizer-none": lambda c: c.set_authorizer(None),
    "raw-blobopen": lambda c: c.blobopen("messages", "content", 1),
    "raw-backup-into": lambda c: c.backup(sqlite3.connect(":memory:")),
    "raw-executescript": lambda c: c.executescript(f"COMMIT; {KIM}; {LEE};"),
    "sa-comment-owner": (
        "UPDATE messages SET content = '9' WHERE owner_id = 'kim' OR id IN (SELECT id FROM messages)"
    ),
    "sa-owner-self-compare": "UPDATE messages SET content = '9' WHERE owner_id = owner_id",
    "sa-insert-select": MESSAGE.format(how="", values="").replace(
        "VALUES ", "SELECT 'x', 1, '1', 'user', 0, 'kim'"
    ),
    "sa-quoted-table": "UPDATE main.\"messages\" SET content = '9'",
    "sa-unowned-principals": "UPDATE principals SET display_name = 'x'",
    "sa-message-types-rename": "UPDATE message_types SET lion_class = 'x' WHERE type_id = 0",
}


@pytest.mark.parametrize("name", RAW)
async def test_on_the_drivers_connection(desk: Path, run: StateDB, name: str) -> None:
    """Raised and caught; through SQLAlchemy too, sa-delete-caught among them."""
    attempt = RAW[name]
    before = dump(desk)
    engine = engine_of(run)
    real, front = dug_out(engine), engine._driver._conn

    def attack(connection: Any) -> Callable[[], object]:
        return lambda: attempt(connection) if callable(attempt) else connection.execute(attempt)

    for connection in (real, front):
        for caught in (False, True):
            assert isinstance(await within(run, attack(connection), caught=caught), REFUSED)
            assert dump(desk) == before
        with pytest.raises(REFUSED):
            await on_thread(engine._driver, attack(connection))
    if isinstance(attempt, str):
        with pytest.raises(REFUSED):
            await engine._connection.exec_driver_sql(attempt)
    assert dump(desk) == before
    await live(run, "next")


@pytest.mark.parametrize("sql", [LEE, KIM, "PRAGMA wal_checkpoint(TRUNCATE)", "BEGIN EXCLUSIVE", "SELECT 1"])
async def test_outside_any_operation(desk: Path, run: StateDB, sql: str) -> None:
    """raw-outside-insert, raw-outside-checkpoint, raw-begin-exclusive, raw-commit-begin-insert"""
    before = dump(desk)
    engine = engine_of(run)
    for connection in (dug_out(engine), engine._driver._conn):
        with pytest.raises(REFUSED):
            await on_thread(engine._driver, lambda c=connection: c.execute(sql))
    manager(desk, "BEGIN EXCLUSIVE", "COMMIT")  # nobody holds the manager out
    assert dump(desk) == before


async def test_blobs_and_backups_reach_nothing(desk: Path, run: StateDB) -> None:
    """raw-blobopen-outside-operation, raw-backup-into: also on the connections that read"""
    before = dump(desk)
    engine = engine_of(run)
    other = sqlite3.connect(":memory:", check_same_thread=False)
    other.execute("CREATE TABLE x (a)")

    def write(connection: sqlite3.Connection) -> None:
        with connection.blobopen("ticket_notes", "body", 1) as blob:
            blob.write(b"x")

    async with engine.reader.snapshot() as reading:
        for attempt in (write, other.backup, lambda c: c.execute(KIM)):
            with pytest.raises((StoreError, sqlite3.Error)):
                await reading.on_driver(attempt)
    with pytest.raises(sqlite3.ProgrammingError):
        await on_thread(engine._driver, lambda: other.backup(engine._driver._conn))
    with pytest.raises(REFUSED):
        await on_thread(engine._driver, lambda: write(engine._driver._conn))
    other.close()
    assert dump(desk) == before
    await live(run, "next")


async def test_a_snapshots_own_connection(desk: Path, run: StateDB) -> None:
    """snapshot-insert, snapshot-raw-insert, and a lock that keeps the manager out"""
    before = dump(desk)
    async with run.read_snapshot() as snapshot:
        with pytest.raises(REFUSED):
            await snapshot.fetch_all(KIM)
    async with run.read_snapshot() as snapshot:
        reading: Any = snapshot._snapshot
        with pytest.raises((StoreError, sqlite3.Error)):
            await reading.on_driver(lambda c: c.execute(KIM))
    for word in ("BEGIN EXCLUSIVE", "COMMIT"):
        with pytest.raises(REFUSED):
            await run.fetch_all(word)
    manager(desk, "BEGIN EXCLUSIVE", "COMMIT")
    assert dump(desk) == before


async def test_the_mark_belongs_to_the_connection(desk: Path, run: StateDB) -> None:
    """scope-shared-by-handles: an operation that runs on one handle opens nothing on another"""
    before = dump(desk)
    async with StateDB(desk, profile=profile_of(), owner="lee") as lee:
        others = dug_out(engine_of(lee))

        def attack() -> None:
            others.execute("UPDATE progressions SET collection = '[]' WHERE id = 'lee-prog'")

        assert isinstance(await within(run, attack, caught=False), REFUSED)
        with pytest.raises(REFUSED):
            await lee.set_progression("lee-prog", [])
        assert dump(desk) == before


# -- SQL by text ---------------------------------------------------------------------------------------------

WRITES = {
    "insert": "INSERT INTO message_types (lion_class) VALUES ('x')",
    "update": "UPDATE sessions SET desk_pinned=1",
    "delete": "DELETE FROM messages",
    "ddl": "CREATE TABLE t(a)",
    "insert-returning": "INSERT INTO message_types (lion_class) VALUES ('x') RETURNING type_id",
    "with-insert": "WITH a AS (SELECT 'x' AS v) INSERT INTO message_types (lion_class) SELECT v FROM a",
    "replace": "REPLACE INTO message_types VALUES (0,'x')",
    "attach": "ATTACH 'other.db' AS o",
    "detach": "DETACH o",
    "temp-table": "CREATE TEMP TABLE t(a)",
    "temp-trigger": "CREATE TEMP TRIGGER tt AFTER INSERT ON messages BEGIN SELECT 1; END",
    "vacuum": "VACUUM",
    "vacuum-into": "VACUUM INTO '/nowhere/vac.db'",
    "analyze": "ANALYZE",
    "reindex": "REINDEX",
    "begin": "BEGIN EXCLUSIVE",
    "savepoint": "SAVEPOINT s",
    "two-statements": "SELECT 1; DELETE FROM messages",
    "load-extension": "SELECT load_extension('x')",
    "pragma-user-version": "PRAGMA user_version = 5",
    "pragma-journal-delete": "PRAGMA journal_mode = DELETE",
    "pragma-checkpoint": "PRAGMA wal_checkpoint(TRUNCATE)",
    "pragma-fk-off": "PRAGMA foreign_keys = OFF",
    "pragma-optimize": "PRAGMA optimize",
    "pragma-writable-schema": "PRAGMA writable_schema = ON",
}


@pytest.mark.parametrize("name", WRITES)
async def test_sql_that_is_not_a_read(desk: Path, run: StateDB, name: str) -> None:
    """Each also in a `transaction`, which is for reads here."""
    before = dump(desk)
    folder = sorted(entry.name for entry in desk.parent.iterdir())
    for call in (run.execute, run.fetch_all, run.fetch_one):
        with pytest.raises(StoreError) as refused:
            await call(WRITES[name])
        assert refused.value.committed == ()
    async with run.transaction() as transaction:
        with pytest.raises(StoreError):
            await transaction.execute(WRITES[name])
    assert dump(desk) == before
    assert sorted(entry.name for entry in desk.parent.iterdir()) == folder
    await live(run, "next")


READS = {
    "execute-select": "SELECT 1",
    "leading-semicolon": "; SELECT 1",
    "explain": "EXPLAIN SELECT 1",
    "pragma-user-version-read": "PRAGMA user_version",
    "pragma-integrity": "PRAGMA integrity_check",
    "pragma-table-info": "PRAGMA table_info(sessions)",
    "pragma-function": "SELECT name FROM pragma_table_info('sessions') LIMIT 1",
    "pragma-table-list": "SELECT count(*) AS n FROM pragma_table_list",
    "values": "VALUES (1)",
    "recursive-cte": (
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n<5) SELECT count(*) AS n FROM c"
    ),
    "json-each": "SELECT value FROM json_each('[1]')",
    "other-owners-rows": "SELECT count(*) AS n FROM messages WHERE owner_id='lee'",
}


@pytest.mark.parametrize("name", READS)
async def test_sql_that_reads(desk: Path, run: StateDB, name: str) -> None:
    before = dump(desk)
    assert await run.fetch_all(READS[name])
    await run.execute(READS[name])
    assert dump(desk) == before


# -- the store moves -----------------------------------------------------------------------------------------

MOVES: dict[str, tuple[str, ...]] = {
    "moved-column-added": ("ALTER TABLE sessions ADD COLUMN desk_x",),
    "moved-trigger-added": (
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE tickets SET subject = 'x'; END",
    ),
    "moved-lineage-lionagi": ("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'",),
    "moved-lineage-deleted": ("DELETE FROM schema_meta WHERE key = 'lineage'",),
    "moved-version-8": ("UPDATE schema_meta SET value = '8' WHERE key = 'version'",),
    "moved-principal-gone": ("PRAGMA foreign_keys = OFF", "DELETE FROM principals WHERE id = 'kim'"),
}


@pytest.mark.parametrize("name", MOVES)
async def test_the_store_moved(desk: Path, run: StateDB, name: str) -> None:
    manager(desk, *MOVES[name])
    before = dump(desk)
    for number in range(2):
        with pytest.raises(REFUSED) as refused:
            await live(run, f"next-{number}")
        assert refused.value.operation == "persist_live_message"
    assert dump(desk) == before


async def test_the_schemas_number_was_set_back(desk: Path, run: StateDB) -> None:
    """moved-schema-version-hidden"""
    ((number,),) = manager(desk, "PRAGMA schema_version")
    manager(desk, "ALTER TABLE sessions ADD COLUMN desk_x", f"PRAGMA schema_version = {number}")
    before = dump(desk)
    with pytest.raises(StoreError):
        await live(run, "next")
    assert dump(desk) == before


async def test_an_unrelated_table_came(desk: Path, run: StateDB) -> None:
    """moved-unrelated-table"""
    manager(desk, "CREATE TABLE unrelated (a)")
    await live(run, "next")
    assert "next" in {row[0] for row in dump(desk)["messages"]}


@pytest.mark.parametrize("reconnects", [False, True])
async def test_the_file_was_exchanged(desk: Path, run: StateDB, reconnects: bool) -> None:
    """moved-file-replaced, moved-file-replaced-reconnect: by one of another lineage with the same number"""
    other = desk.with_name("other.db")
    shutil.copy(desk, other)
    manager(
        other, "UPDATE schema_meta SET value = 'third' WHERE key = 'lineage'", "PRAGMA journal_mode = WAL"
    )
    for suffix in ("-wal", "-shm"):
        Path(f"{other}{suffix}").unlink(missing_ok=True)
    desk.unlink()
    other.rename(desk)
    before = desk.read_bytes()
    if reconnects:
        with pytest.raises(REFUSED):
            await engine_of(run)._alchemy.connect()
    with pytest.raises(REFUSED):
        await live(run, "next")
    assert desk.read_bytes() == before


async def test_the_manager_holds_the_lock(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """busy-writer"""
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "50")
    async with StateDB(desk, profile=profile_of(), owner="kim") as db:
        await make_run(db)
        holds = sqlite3.connect(desk, isolation_level=None)
        holds.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError):
            await live(db, "next")
        holds.execute("ROLLBACK")
        holds.close()
        await live(db, "next")


async def test_a_write_is_cancelled(desk: Path, run: StateDB) -> None:
    """cancel-mid-operation: all of it or nothing, and the handle knows which"""
    for number in range(30):
        before = len(dump(desk)["messages"])
        writing = asyncio.create_task(live(run, f"cancelled-{number}"))
        for _ in range(number % 4 + 1):
            await asyncio.sleep(0)
        writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):  # it may have been faster
            await writing
        found = dump(desk)
        there = len(found["messages"]) - before
        lists = [row[2] for row in found["progressions"] if row[0] in ("sp", "bp")]
        assert {f"cancelled-{number}" in one for one in lists} == {bool(there)}
        if there:  # this run's own: it may be written again, which rewrites it
            await live(run, f"cancelled-{number}")


async def test_other_handles_of_this_process(desk: Path, run: StateDB, tmp_path: Path) -> None:
    """native-open-same-process, -symlink, readonly-open-same-process, second-compat-owner"""
    link = tmp_path / "link.db"
    link.symlink_to(desk)
    for name in (desk, link):
        with pytest.raises(StoreError):
            await StateDB(name, mode=Mode.NATIVE).open()
    async with StateDB(desk) as reading:
        assert await reading.get_session("s") is not None
    async with StateDB(desk, profile=profile_of(), owner="lee") as lee:
        await make_run(lee, "-lee")
    await live(run, "next")
    owners = {row[0]: row[-1] for row in dump(desk)["sessions"]}
    assert (owners["s"], owners["s-lee"]) == ("kim", "lee")
