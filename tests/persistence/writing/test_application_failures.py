"""Schema application on SQLite: what a failure, a kill or a refusal leaves."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence import (
    BusyError,
    ForeignLineageError,
    Mode,
    SchemaApplicationError,
    SchemaTooNewError,
    StateDB,
    StoreError,
    UnrecognizedStoreError,
    locate,
)
from persistence.writing.native import application, creation, opening
from persistence.writing.native.shapes import plan_for
from tests.persistence.stores import run_sql
from tests.persistence.writing.shapes import beside, dump, opened, shape

ROOT = Path(__file__).resolve().parents[3]
OLDER = ("0.26.0", "0.28.0", "0.32.0")


@pytest.fixture
def older(request: pytest.FixtureRequest, shared_stores: Path, tmp_path: Path) -> Path:
    """A copy of the store a real release made."""
    path = tmp_path / "state.db"
    shutil.copyfile(shared_stores / f"lionagi-{request.param}.db", path)
    return path


every_older = pytest.mark.parametrize("older", OLDER, indirect=True)


# -- failures ----------------------------------------------------------------------------------------------

STEPS = ("_shape", "_rebuild", "_backfill", "_seed", "_stamp", "_orphans")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("older", ["0.28.0"], indirect=True)
async def test_a_failure_anywhere_leaves_the_store_as_it_was(
    older: Path, step: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, content = dump(older), older.read_bytes()
    real = getattr(application._Application, step)
    calls: list[int] = []

    def failing(self: Any, *arguments: Any) -> Any:
        calls.append(1)
        if after:
            real(self, *arguments)
        if len(calls) == (2 if step in ("_rebuild", "_orphans") else 1):
            raise sqlite3.OperationalError("disk I/O error")
        return real(self, *arguments)

    monkeypatch.setattr(application._Application, step, failing)
    with pytest.raises(StoreError):
        await opened(older)
    assert dump(older) == before
    assert older.read_bytes() == content
    assert beside(older) == {"state.db"}, "and no backup of what did not change"
    monkeypatch.undo()
    assert (await opened(older)).stamped


async def test_a_row_that_does_not_fit_is_named(shared_stores: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(shared_stores / "lionagi-0.26.0.db", path)
    run_sql(
        path, "INSERT INTO shows (id, topic, show_dir, created_at, updated_at) VALUES (NULL, 'x', 'd', 1, 1)"
    )
    before = dump(path)
    with pytest.raises(SchemaApplicationError, match="as it was") as failed:
        await opened(path)
    assert "shows.id" in str(failed.value.observed)
    assert dump(path) == before and beside(path) == {"state.db"}


async def test_a_migration_that_would_leave_orphans_is_undone(
    shared_stores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(shared_stores / "lionagi-0.28.0.db", path)
    before = dump(path)
    real = application._Application._seed

    def losing(self: Any) -> None:
        real(self)
        self._connection.execute("DELETE FROM progressions")

    monkeypatch.setattr(application._Application, "_seed", losing)
    with pytest.raises(SchemaApplicationError, match="point to no row"):
        await opened(path)
    assert dump(path) == before and beside(path) == {"state.db"}


async def test_no_room_for_the_backup(
    shared_stores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(shared_stores / "lionagi-0.28.0.db", path)
    before = dump(path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("persistence.writing.native.backup._copy", full)
    with pytest.raises(SchemaApplicationError) as failed:
        await opened(path)
    assert failed.value.code == "no-backup"
    assert dump(path) == before and beside(path) == {"state.db"}


KILLER = """
import asyncio, os, shutil, signal, sqlite3, sys
sys.path.insert(0, {root!r})
from persistence import Mode, StateDB
from persistence.writing.native import application, creation, opening, shapes
shapes.targets()

class Killing(sqlite3.Connection):
    left = 0
    def execute(self, *given):
        Killing.left -= 1
        if Killing.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*given)

real = sqlite3.connect
def connect(*given, **named):
    named.setdefault("factory", Killing)
    return real(*given, **named)

async def once(path):
    async with StateDB(path, mode=Mode.NATIVE):
        pass

source, folder, counts = sys.argv[1], sys.argv[2], [int(n) for n in sys.argv[3:]]
for count in counts:
    place = os.path.join(folder, str(count))
    os.mkdir(place)
    path = os.path.join(place, "state.db")
    if source:
        shutil.copyfile(source, path)
    child = os.fork()
    if child == 0:
        Killing.left = count
        sqlite3.connect = connect
        asyncio.run(once(path))
        os._exit(0)
    print(count, os.waitpid(child, 0)[1], flush=True)
"""


def _killed(source: Path | None, folder: Path, counts: list[int]) -> dict[int, int]:
    """How a native open ended that was killed before its statement of this number, each in its own folder."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            KILLER.format(root=str(ROOT)),
            str(source or ""),
            str(folder),
            *map(str, counts),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return {int(a): int(b) for a, b in (line.split() for line in done.stdout.splitlines())}


@pytest.mark.parametrize("release", ["0.26.0", "0.32.0"])
async def test_a_kill_anywhere_leaves_the_store_as_it_was(
    release: str, shared_stores: Path, tmp_path: Path, native_file: Path
) -> None:
    source = shared_stores / f"lionagi-{release}.db"
    ended = _killed(source, tmp_path, [*range(20, 700, 45), 5000])
    assert set(ended.values()) == {0, 9}, "some were killed, and the last went through"
    for count, how in ended.items():
        path = tmp_path / str(count) / "state.db"
        shutil.copyfile(source, tmp_path / "was.db")
        before = dump(tmp_path / "was.db")
        found = dump(path)
        if found != before:
            assert shape(path) == shape(native_file), f"half done after {count} statements"
            assert how == 0 or found["schema_meta"] != before["schema_meta"]
        await opened(path)
        assert shape(path) == shape(native_file)
        assert len(dump(path)["sessions"]) == 11


async def test_a_kill_while_a_store_is_made_leaves_none(tmp_path: Path, native_file: Path) -> None:
    ended = _killed(None, tmp_path, [*range(0, 220, 15), 5000])
    assert set(ended.values()) == {0, 9}
    for count in ended:
        path = tmp_path / str(count) / "state.db"
        assert not path.exists() or shape(path) == shape(native_file)
        await opened(path)
        assert shape(path) == shape(native_file)
        assert beside(path) == {"state.db"}


async def test_a_kill_while_an_empty_file_becomes_a_store_leaves_one_or_the_other(
    tmp_path: Path, native_file: Path
) -> None:
    """No journal is ever beside the empty file: the two would be refused from then on (DECISIONS 18)."""
    empty = tmp_path / "empty"
    empty.touch()
    ended = _killed(empty, tmp_path, [*range(0, 220, 15), 5000])
    assert set(ended.values()) == {0, 9}
    for count in ended:
        path = tmp_path / str(count) / "state.db"
        assert (
            not {f"state.db{end}" for end in ("-journal", "-wal", "-shm")} & beside(path)
            or path.stat().st_size
        )
        assert path.stat().st_size == 0 or shape(path) == shape(native_file)
        await opened(path)
        assert shape(path) == shape(native_file)
        assert beside(path) == {"state.db"}


# -- an empty file -----------------------------------------------------------------------------------------


async def test_an_empty_file_somebody_else_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "50")
    path = tmp_path / "state.db"
    path.touch()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=MEMORY")  # with one on disk it would be refused, not waited for
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError):
            await opened(path)
        other.execute("ROLLBACK")
        assert path.stat().st_size == 0 and beside(path) == {"state.db"}
    assert (await opened(path)).created


async def test_what_another_program_put_into_the_empty_file_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    path.touch()
    real = creation._complete

    def overtaken(made: bytes, where: str) -> Any:
        run_sql(path, "CREATE TABLE theirs (x)")
        return real(made, where)

    monkeypatch.setattr(creation, "_complete", overtaken)
    with pytest.raises(UnrecognizedStoreError):
        await opened(path)
    assert set(dump(path)) == {"", "theirs"} and beside(path) == {"state.db"}


async def test_an_empty_file_that_cannot_be_replaced_is_written_in_place(
    tmp_path: Path, native_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is a mount of its own, or another user's."""

    def mounted(*_: Any) -> None:
        raise OSError(16, "Device or resource busy")

    path = tmp_path / "state.db"
    path.touch()
    monkeypatch.setattr(os, "replace", mounted)
    number = path.stat().st_ino
    assert (await opened(path)).created
    assert path.stat().st_ino == number and shape(path) == shape(native_file)
    assert beside(path) == {"state.db"}


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'", ForeignLineageError),
        ("UPDATE schema_meta SET value = '5' WHERE key = 'version'", SchemaTooNewError),
        ("DELETE FROM schema_meta", UnrecognizedStoreError),
        ("ALTER TABLE sessions ADD COLUMN owner_id TEXT", UnrecognizedStoreError),
    ],
)
async def test_a_refused_store_keeps_every_byte(
    native_file: Path, tmp_path: Path, change: str, refusal: type[StoreError]
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(native_file, path)
    run_sql(path, change)
    before, modified = path.read_bytes(), path.stat().st_mtime_ns
    db = StateDB(path, mode=Mode.NATIVE)
    with pytest.raises(refusal):
        await db.open()
    assert not db.is_open
    assert path.read_bytes() == before and path.stat().st_mtime_ns == modified
    assert beside(path) == {"state.db"}
    with pytest.raises(StoreError) as unopened:
        await db.create_progression("p")
    assert unopened.value.code == "not-open"


@pytest.mark.parametrize("older", ["0.28.0"], indirect=True)
async def test_a_row_written_before_the_lock_refuses_under_it(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the reads and the write lock another application claims the store."""
    real = application.check_under_lock

    def claimed(connection: sqlite3.Connection, where: str) -> Any:
        connection.execute("INSERT INTO schema_meta VALUES ('lineage', 'acme-desk')")
        return real(connection, where)

    before = dump(older)
    monkeypatch.setattr(application, "check_under_lock", claimed)
    with pytest.raises(ForeignLineageError):
        await opened(older)
    assert dump(older) == before and beside(older) == {"state.db"}


async def test_a_store_that_became_another_s_takes_no_further_write(
    native_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(native_file, path)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        await db.create_progression("mine")
        run_sql(path, "UPDATE schema_meta SET value = '7' WHERE key = 'version'")
        await db.create_progression("a version above is no write's business")
        run_sql(path, "UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
        writes: list[Callable[[], Any]] = [
            lambda: db.create_progression("theirs"),
            lambda: db.execute("DELETE FROM progressions"),
            db.vacuum,
        ]
        for write in writes:
            with pytest.raises(ForeignLineageError):
                await write()
        with pytest.raises(ForeignLineageError):
            async with db.transaction():
                raise AssertionError("begun")
        assert len(await db.list_progressions()) == 2


async def test_a_file_that_took_the_store_s_name_takes_no_write(native_file: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "state.db", tmp_path / "other.db"
    shutil.copyfile(native_file, path)
    shutil.copyfile(native_file, other)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        await db.create_progression("mine")
        other.rename(path)
        with pytest.raises(StoreError) as moved:
            await db.create_progression("lost")
        assert moved.value.code == "store-moving"
        path.unlink()
        with pytest.raises(StoreError):
            await db.create_progression("lost")


async def test_a_failed_open_holds_nothing(
    native_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.engines.gate import gate_for
    from persistence.location import StoreLocation

    path = tmp_path / "state.db"
    shutil.copyfile(native_file, path)
    found = path.stat()

    def failing(*_: Any) -> Any:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(opening, "_writer", failing)
    with pytest.raises(StoreError):
        await opened(path)
    monkeypatch.undo()
    assert gate_for((found.st_dev, found.st_ino)).handles == ()
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    held.close()
    assert isinstance(locate(path), StoreLocation)
    assert not plan_for_path(path)
    await opened(path)


def plan_for_path(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(plan_for(connection, whole=True))
