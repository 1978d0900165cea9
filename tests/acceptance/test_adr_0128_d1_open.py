"""ADR-0128 D1: the compatibility open, what it does not do to a store, and what a refused one leaves."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk.reading import detail, listing
from inspector.demo.acme_desk.store import opened as desk_opened
from persistence import Mode, StateDB
from persistence.engines.gate import gate_for
from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.guard.connection import GuardedConnection
from persistence.handles import shared_handle
from persistence.location import StoreLocation
from tests.managed import message
from tests.persistence.guard import kit

ROOT = Path(__file__).resolve().parents[2]
PROFILE = "acme-desk-fresh-run"
SCHEMA_STEP = re.compile(r"\b(CREATE|ALTER|DROP|REINDEX|VACUUM|ANALYZE)\b(?! TEMP TRIGGER)", re.IGNORECASE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return kit.managed(tmp_path)


class Traced(list[str]):
    """Statements as SQLite was given them; `writer` are those of guarded connections among them."""

    def __init__(self) -> None:
        super().__init__()
        self.writer: list[str] = []

    def written(self, statement: str) -> None:
        self.append(statement)
        self.writer.append(statement)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Traced]:
    """Every statement of this process, on every connection."""
    statements = Traced()
    connect = sqlite3.connect

    def recorded(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **named)
        tell = statements.written if isinstance(connection, GuardedConnection) else statements.append
        with contextlib.suppress(sqlite3.ProgrammingError):  # what the driver holds is closed from the start
            sqlite3.Connection.set_trace_callback(connection, tell)
        return connection

    monkeypatch.setattr(sqlite3, "connect", recorded)
    yield statements


async def whole_run(db: StateDB) -> None:
    """A fresh run, from its first row to its last."""
    await db.create_progression("ps")
    await db.create_progression("pb")
    await db.create_session({"id": "s", "progression_id": "ps", "status": "running"})
    await db.create_branch({"id": "b", "session_id": "s", "progression_id": "pb"})
    for number in range(3):
        await db.persist_live_message(
            message(f"m{number}"), session_id="s", session_progression_id="ps", branch_progression_id="pb"
        )
    await db.update_status(
        "session", "s", new_status="completed", reason_code="run.completed.ok", source="executor"
    )


def set_pragmas(statements: list[str]) -> set[str]:
    """The settings that were given a value, trigger bodies and lookups by name apart."""
    found = set()
    for statement in statements:
        matched = re.match(r"\s*PRAGMA\s+(?:main\.)?(\w+)\s*=", statement, re.IGNORECASE)
        if matched:
            found.add(matched[1].lower())
    return found


@pytest.mark.adr("0128-D1-03", "0128-D1-04", "0128-D1-05", "0128-D1-06")
async def test_it_runs_no_schema_step_rebuild_backfill_or_stamp(path: Path, traced: Traced) -> None:
    before, schema = kit.files(path), kit.contents(path)["sqlite_master"]
    meta = kit.contents(path)["schema_meta"]
    traced.clear()
    async with StateDB(path, profile=PROFILE, owner="kim") as db:
        opened = list(traced)
        assert db.applied is None
        await whole_run(db)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]  # no backup either
    assert opened
    wrong = [one for one in traced if SCHEMA_STEP.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", one))]
    assert [one for one in wrong if not one.startswith("EXPLAIN")] == []
    about_rows = [one for one in traced if "schema_meta" in one and not one.startswith(("SELECT", "EXPLAIN"))]
    assert [one for one in about_rows if not one.startswith("PRAGMA")] == []
    assert kit.contents(path)["sqlite_master"] == schema
    assert kit.contents(path)["schema_meta"] == meta
    assert set(before) == {path.name}


@pytest.mark.adr("0128-D1-03")
async def test_an_open_that_writes_nothing_changes_no_byte(path: Path) -> None:
    before = kit.files(path)
    async with StateDB(path, profile=PROFILE, owner="kim") as db:
        assert db.is_open
    assert kit.files(path) == before


@pytest.mark.adr("0128-D1-07")
@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "memory"])
async def test_it_refuses_another_journal_mode_and_leaves_it(path: Path, mode: str) -> None:
    kit.manager(path, "PRAGMA journal_mode = DELETE", f"PRAGMA journal_mode = {mode}")
    before = kit.files(path)
    with pytest.raises(StateCompatibilityRefused) as refused:
        await StateDB(path, profile=PROFILE, owner="kim").open()
    assert refused.value.code == "journal-mode"
    assert kit.files(path) == before
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal"
    connection.close()


@pytest.mark.adr("0128-D1-08", "0128-D1-09")
async def test_it_sets_only_what_belongs_to_its_connection(path: Path, traced: Traced) -> None:
    """The three the text names, the busy timeout by the driver's own argument; `recursive_triggers` is
    the guard's (DECISIONS 20). Readers have settings of their own, and cannot write any of them down."""
    async with StateDB(path, profile=PROFILE, owner="kim") as db:
        await whole_run(db)
    assert set_pragmas(traced.writer) == {"foreign_keys", "synchronous", "recursive_triggers"}
    kept_in_the_file = {
        "journal_mode", "auto_vacuum", "user_version", "application_id", "page_size", "journal_size_limit",
        "encoding", "schema_version", "default_cache_size", "wal_autocheckpoint", "locking_mode",
    }  # fmt: skip
    assert not set_pragmas(traced) & kept_in_the_file
    engine = await kit.opened(path, busy_timeout=4321)
    try:
        asked = await _settings(engine, "busy_timeout", "foreign_keys", "synchronous")
        assert asked == [4321, 1, 1]
    finally:
        await engine.close()


async def _settings(engine: Any, *names: str) -> list[Any]:
    from persistence.engines.driver_thread import on_thread

    real = kit.dug_out(engine)

    def ask() -> list[Any]:
        real.hold.authorizer.record()
        try:
            return [kit.beneath(real, f"PRAGMA {name}")[0][0] for name in names]
        finally:
            real.hold.authorizer.know()

    found: list[Any] = await on_thread(engine._driver, ask)
    return found


@pytest.mark.adr("0128-D1-10")
async def test_the_automatic_checkpoint_stays_and_runs(path: Path, traced: Traced) -> None:
    engine = await kit.opened(path)
    try:
        assert await _settings(engine, "wal_autocheckpoint") == [1000]
        size = path.stat().st_size
        big = "[" + "1," * 4000 + "1]"
        for number in range(600):

            def steps(number: int = number) -> Any:
                yield kit.PROGRESSION(id=f"x{number}", at=1.0, collection=big, owner="kim")

            await engine.run("create_progression", steps, transaction="progression")
        assert path.stat().st_size > size  # folded in while it was open
    finally:
        await engine.close()
    assert not any("checkpoint" in one for one in traced if not one.startswith("PRAGMA wal_autocheckpoint"))


def _refusals(path: Path) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("UPDATE schema_meta SET value = 'other' WHERE key = 'lineage'", {"owner": "kim"}),
        ("ALTER TABLE messages ADD COLUMN x", {"owner": "kim"}),
        ("SELECT 1", {"owner": "nobody"}),
    ]


@pytest.mark.adr("0128-D1-11", "0128-D1-12")
@pytest.mark.parametrize("number", range(3))
async def test_a_refused_open_leaves_nothing_that_could_write(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    statement, named = _refusals(path)[number]
    kit.manager(path, statement)
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*arguments: Any, **more: Any) -> sqlite3.Connection:
        made.append(connect(*arguments, **more))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", recorded)
    threads = threading.active_count()
    db = StateDB(path, profile=PROFILE, **named)
    with pytest.raises(StateCompatibilityRefused):
        await db.open()
    assert not db.is_open
    assert made
    for connection in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            sqlite3.Connection.in_transaction.__get__(connection)  # type: ignore[attr-defined]
    found = path.stat()
    assert gate_for((found.st_dev, found.st_ino)).handles == ()
    for _ in range(100):
        if threading.active_count() <= threads:
            break
        await asyncio.sleep(0.01)
    assert threading.active_count() <= threads
    before = kit.digest(path)
    for write in (
        lambda: db.create_progression("x"),
        lambda: db.insert_message(message("x")),
        lambda: db.execute("DELETE FROM messages"),
    ):
        with pytest.raises(StoreError) as refused:
            await write()
        assert refused.value.code == "not-open"
    assert kit.digest(path) == before


@pytest.mark.adr("0128-D1-13", "0128-D1-14", "0128-D1-15")
async def test_a_shared_handle_is_one_of_a_store_mode_profile_and_owner(path: Path, tmp_path: Path) -> None:
    other = kit.managed(tmp_path / "other")
    narrower = tmp_path / "narrower.toml"
    text = (ROOT / "persistence" / "profiles" / "shipped" / f"{PROFILE}.toml").read_text("utf-8")
    narrower.write_text(text.replace(f'name = "{PROFILE}"', 'name = "narrower"'), "utf-8")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    async with (
        shared_handle(path, profile=PROFILE, owner="kim") as kim,
        shared_handle(link, profile=PROFILE, owner="kim") as again,
        shared_handle(path, profile=PROFILE, owner="lee") as lee,
        shared_handle(path, profile=str(narrower), owner="kim") as narrow,
        shared_handle(path) as reading,
        shared_handle(other, profile=PROFILE, owner="kim") as elsewhere,
    ):
        assert kim is again
        handles = [kim, lee, narrow, reading, elsewhere]
        assert len({id(handle) for handle in handles}) == len(handles)
        assert [handle.mode for handle in (kim, reading)] == [Mode.COMPATIBILITY, Mode.READ_ONLY]
        # A native handle on the file is another one, and is refused while this one is there.
        with pytest.raises(StoreError):
            async with shared_handle(path, mode=Mode.NATIVE) as native:
                assert native is not kim


@pytest.mark.adr("0128-D1-01")
async def test_a_native_open_sets_up_runs_the_schema_step_and_serves(tmp_path: Path, traced: Traced) -> None:
    path = tmp_path / "state.db"
    async with StateDB(path, mode=Mode.NATIVE) as db:
        assert db.applied is not None
        settings = [at for at, one in enumerate(traced) if one.startswith("PRAGMA journal_mode=WAL")]
        schema = [at for at, one in enumerate(traced) if one.lstrip().startswith("CREATE TABLE")]
        stamp = [at for at, one in enumerate(traced) if "INSERT INTO schema_meta" in one]
        assert settings
        assert schema
        assert stamp
        assert {"foreign_keys", "synchronous", "wal_autocheckpoint"} <= set_pragmas(traced)
        served = len(traced)
        await db.create_progression("p")
        assert await db.fetch_one("SELECT id FROM progressions") == {"id": "p"}
        assert max(schema + stamp) < served


@pytest.mark.adr("0128-D1-17")
def test_the_open_never_enters_migration_code(path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from persistence import StateDB\n"
        "async def main():\n"
        f"    async with StateDB({str(path)!r}, profile={PROFILE!r}, owner='kim') as db:\n"
        "        await db.create_progression('p')\n"
        "asyncio.run(main())\n"
        "print(*sorted(name for name in sys.modules if name.startswith('persistence.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "persistence.engines.compatibility" in loaded
    step = {"application", "opening", "creation", "backfills", "backup", "shapes", "server"}
    assert not loaded & {f"persistence.writing.native.{name}" for name in step}


@pytest.mark.adr("0128-D1-18")
async def test_switching_compatibility_writes_off_needs_nothing_of_the_store(path: Path) -> None:
    async with StateDB(path, profile=PROFILE, owner="kim") as db:
        await whole_run(db)
    kept = path.with_name("kept.db")
    shutil.copy(path, kept)
    # Off: nobody passes a profile. What was written is read as it is, by us and by the managing application.
    async with StateDB(path) as db:
        session = await db.get_session("s")
        assert session is not None
        assert session["status"] == "completed"
    with desk_opened(path) as desk:
        assert "s" in {row["id"] for row in listing(desk, "kim")}
        found = detail(desk, "s", "kim")
        assert found is not None
    assert kit.contents(path) == kit.contents(kept)


@pytest.mark.adr("0128-D1-19")
def test_only_a_profile_that_is_passed_leads_to_the_mode(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROFILE", "OWNER", "MODE", "ALLOW_WRITES"):
        for prefix in ("STORE_INSPECTOR_", "LIONAGI_", "LIONAGI_STATE_"):
            monkeypatch.setenv(prefix + name, PROFILE)
    assert StateDB(path).mode is Mode.READ_ONLY
    assert StateDB(path, mode=Mode.NATIVE).mode is Mode.NATIVE
    with pytest.raises(ValueError, match="profile"):
        StateDB(path, mode=Mode.COMPATIBILITY)
    with pytest.raises(ValueError, match="owner"):
        StateDB(path, owner="kim")
    monkeypatch.setenv("LIONAGI_STATE_DB_URL", f"sqlite:///{path}?mode=compatibility&profile={PROFILE}")
    assert StateDB().mode is Mode.READ_ONLY
    callers = [
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "persistence").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open_compatibility"
    ]
    # Proving a profile opens private copies, by the profile it was told to prove.
    assert [one for one in callers if not one.startswith("persistence/proof/")] == [
        "persistence/writing/factory.py"
    ]


@pytest.mark.adr("0128-D3-28")
async def test_a_server_refuses() -> None:
    server = StoreLocation("postgresql", "postgresql://u@h/d", "argument", url="postgresql+asyncpg://u@h/d")
    with pytest.raises(StateCompatibilityRefused) as refused:
        await StateDB(server, profile=PROFILE, owner="kim").open()
    assert refused.value.code in ("compatibility-server", "not-a-store")
