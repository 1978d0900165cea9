"""ADR-0055 P1 on a native store: how it is written, and what its settings are."""

from __future__ import annotations

import asyncio
import sqlite3
import ssl
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB, StoreConnectionError, ValueRefusedError, locate
from persistence.engines.server import address
from tests.native import Backend, one


@pytest.mark.adr("0055-P1-03")
async def test_of_two_racing_writers_exactly_one_changes_the_row(
    native: StateDB, native_again: Any, native_session: str
) -> None:
    other = await native_again()
    calls = [
        db.update_status(
            "session",
            "s",
            new_status=status,
            reason_code="run.completed.ok" if status == "completed" else "run.failed.exception",
            expected_statuses={"running"},
            actor=str(number),
        )
        for number in range(4)
        for db, status in ((native, "completed"), (other, "failed"))
    ]
    answers = await asyncio.gather(*calls)
    assert sorted(answers) == [False] * 7 + [True]
    rows = await native.list_status_transitions("session", "s")
    assert [row["previous_status"] for row in rows] == [None, "running"]
    session = await native.get_session("s")
    assert session is not None and session["status"] == rows[-1]["status"]


@pytest.mark.adr("0055-P1-26")
async def test_a_write_transaction_begins_immediate_under_the_handle_s_lock(
    native_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(native_file.read_bytes())
    async with StateDB(path, mode=Mode.NATIVE) as db:
        traced: list[str] = []
        engine = db._writer._engine  # type: ignore[attr-defined]
        await engine._hop(lambda _stop: engine._connection.set_trace_callback(traced.append))
        await db.create_progression("p")
        await asyncio.gather(*(db.append_to_progression("p", f"m{n}") for n in range(20)))
        assert traced[0] == "BEGIN IMMEDIATE"
        depth = 0
        for statement in traced:
            depth += statement == "BEGIN IMMEDIATE"
            assert depth == 1, "no two transactions of a handle overlap"
            depth -= statement in ("COMMIT", "ROLLBACK")
        held = sqlite3.connect(path, isolation_level=None)
        async with db.transaction() as transaction:
            await transaction.create_progression("q")
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                held.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(db.create_progression("r"))
            await asyncio.sleep(0.01)
            assert not waiting.done()
        await waiting
        held.close()


@pytest.mark.adr("0055-P1-27")
async def test_a_status_write_locks_its_row_on_a_server(native_database: str) -> None:
    import asyncpg

    async with StateDB(native_database, mode=Mode.NATIVE) as db:
        await db.create_progression("p")
        await db.create_session({"id": "s", "progression_id": "p", "status": "running"})
        blocker = await asyncpg.connect(native_database)
        try:
            async with blocker.transaction():
                await blocker.execute("SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE")
                writing = asyncio.create_task(
                    db.update_status("session", "s", new_status="completed", reason_code="run.completed.ok")
                )
                waiting: list[str] = []
                for _ in range(200):
                    rows = await blocker.fetch(
                        "SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                        "AND pid <> pg_backend_pid() AND datname = current_database()"
                    )
                    waiting = [row[0] for row in rows]
                    if waiting and waiting[0].rstrip().endswith("FOR UPDATE"):
                        break
                    await asyncio.sleep(0.01)
                assert len(waiting) == 1 and waiting[0].rstrip().endswith("FOR UPDATE")
                assert not writing.done()
            assert await writing is True
        finally:
            await blocker.close()


@pytest.mark.adr("0055-P1-28")
async def test_how_long_a_writer_waits(
    native_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(native_file.read_bytes())

    async def patience() -> Any:
        async with StateDB(path, mode=Mode.NATIVE) as db, db.transaction() as transaction:
            row = await transaction.fetch_one("PRAGMA busy_timeout")
            return None if row is None else row["timeout"]

    assert await patience() == 5000
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "1234")
    assert await patience() == 1234
    for odd in ("0", "-5", "soon", "1.5", ""):
        monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", odd)
        with pytest.warns(UserWarning, match="LIONAGI_SQLITE_BUSY_TIMEOUT_MS"):
            assert await patience() == 5000


@pytest.mark.adr("0055-P1-29")
async def test_the_writer_s_settings(native_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(native_file.read_bytes())
    async with StateDB(path, mode=Mode.NATIVE) as db, db.transaction() as transaction:
        for setting, value in {
            "journal_mode": "wal",
            "synchronous": 1,
            "foreign_keys": 1,
            "cache_size": -64000,
            "wal_autocheckpoint": 1000,
        }.items():
            row = await transaction.fetch_one(f"PRAGMA {setting}")
            assert row is not None and next(iter(row.values())) == value, setting


@pytest.mark.adr("0055-P1-32", "0055-P1-33")
async def test_checkpoints(native: StateDB, native_backend: Backend) -> None:
    await native.create_progression("p")
    for mode in ("PASSIVE", "FULL", "RESTART", "TRUNCATE", "truncate"):
        answer = await native.checkpoint(mode)
        if native_backend.sqlite:
            assert answer is not None and answer[0] == 0 and answer[1] == answer[2]
        else:
            assert answer is None
    for odd in ("", "ALL", "PASSIVE; DROP TABLE sessions", None):
        with pytest.raises(ValueError, match="a checkpoint is one of"):
            await native.checkpoint(odd)  # type: ignore[arg-type]


@pytest.mark.adr("0055-P1-34", "0055-P1-36")
async def test_sql_by_text(native: StateDB) -> None:
    sql = "INSERT INTO progressions (id, created_at, collection) VALUES (?, ?, '[\"?\"]')"
    assert await native.execute(sql, ("a?b", 1.5)) is None  # type: ignore[func-returns-value]
    assert await native.execute("UPDATE progressions SET created_at = 2.5") is None  # type: ignore[func-returns-value]
    assert await one(native, "SELECT created_at FROM progressions WHERE id = ?", "a?b") == 2.5
    for values in ((), ("a",), ("a", 1.0, 2.0), None):
        with pytest.raises(ValueError, match=r"2 \? parameters"):
            await native.execute(sql, values)
    named = "UPDATE progressions SET created_at = :moment WHERE id = :id"
    await native.execute(named, {"moment": 3.5, "id": "a?b"})
    with pytest.raises(ValueError, match="no value for :id"):
        await native.execute(named, {"moment": 4.5})
    for odd in (float("nan"), "\ud800", 2**70, [1], {"a": 1}):
        with pytest.raises(ValueRefusedError):
            await native.execute("UPDATE progressions SET created_at = ?", (odd,))
    for word in ("COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT x", " /* ; */ commit"):
        with pytest.raises(ValueRefusedError, match="does not belong"):
            await native.execute(word)
    assert await one(native, "SELECT created_at FROM progressions") == 3.5
    assert await native.fetch_all("SELECT 1 AS n WHERE 1 = 0") == []
    assert await native.fetch_one("SELECT 1 AS n WHERE 1 = 0") is None


@pytest.mark.adr("0055-P1-30", "0055-P1-31")
def test_sslmode_is_taken_out_of_the_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    def secured(query: str) -> Any:
        found = address(locate(f"postgresql://kim:secret@db.example/state{query}"))
        assert "ssl" not in found.dsn
        assert found.dsn.startswith("postgresql://kim:secret@db.example/state")
        return found

    assert secured("").secured is None and "ssl" not in secured("").arguments()
    assert secured("?sslmode=disable").secured is False
    kept = secured("?application_name=x&sslmode=require&options=y")
    assert kept.dsn.endswith("?application_name=x&options=y")
    assert kept.secured.verify_mode is ssl.CERT_NONE and not kept.secured.check_hostname
    ca = secured("?sslmode=verify-ca").secured
    assert ca.verify_mode is ssl.CERT_REQUIRED and not ca.check_hostname
    full = secured("?sslmode=verify-full").secured
    assert full.verify_mode is ssl.CERT_REQUIRED and full.check_hostname
    for odd in ("yes", "VERIFY-FULL", "", "require%20"):
        with pytest.raises(StoreConnectionError) as refused:
            secured(f"?sslmode={odd}")
        assert refused.value.code == "bad-connection-options"
        assert "secret" not in f"{refused.value} {refused.value.as_dict()}"
    for option in ("sslrootcert", "sslcert", "sslcrl"):
        with pytest.raises(StoreConnectionError, match="certificate"):
            secured(f"?sslmode=verify-ca&{option}={tmp_path / 'none.pem'}")
