"""Schema application on SQLite: new stores, current ones, older ones."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence import (
    Mode,
    StateDB,
    StoreMissingError,
    StorePermissionError,
)
from persistence.schema.known import MESSAGE_TYPES, RELEASES, TABLES
from persistence.writing.native import creation
from persistence.writing.native.backfills import BACKFILLS
from tests.persistence.schema.facts import FACTS
from tests.persistence.stores import make_filled, run_sql
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


# -- a new store -------------------------------------------------------------------------------------------


async def test_a_new_store(tmp_path: Path, native_file: Path) -> None:
    path = tmp_path / "state.db"
    applied = await opened(path)
    assert applied.created and applied.changed and applied.from_version is None
    assert set(applied.tables_added) == set(TABLES) and applied.backup is None
    assert beside(path) == {"state.db"}, "the log is folded in, and nothing is left beside"
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert {row[0] for row in names} == set(FACTS["sqlite"]["tables"])
        meta = dict(connection.execute("SELECT key, value FROM schema_meta"))
        assert set(meta) == {"version", "created_at", "lineage", *(backfill.key for backfill in BACKFILLS)}
        assert meta["version"] == "4" and meta["lineage"] == "lionagi" and meta["created_at"].isdigit()
        assert all(meta[backfill.key] == "1" for backfill in BACKFILLS)
        assert connection.execute("SELECT * FROM message_types").fetchall() == list(MESSAGE_TYPES)
        settings = {"user_version": 0, "application_id": 0, "page_size": 4096, "encoding": "UTF-8"}
        for pragma, value in settings.items():
            assert connection.execute(f"PRAGMA {pragma}").fetchone()[0] == value, pragma
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    again = await opened(path)
    assert not again.changed and again.from_version == "4"


async def test_its_folder_is_made_only_for_a_store_named_in_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "a" / "b" / "state.db"
    monkeypatch.setenv("LIONAGI_STATE_DB_URL", str(deep))
    with pytest.raises(StoreMissingError, match="no such folder"):
        await StateDB(mode=Mode.NATIVE).open()
    monkeypatch.delenv("LIONAGI_STATE_DB_URL")
    monkeypatch.setenv("LIONAGI_HOME", str(deep.parent))
    with pytest.raises(StoreMissingError):
        await StateDB(mode=Mode.NATIVE).open()
    assert list(tmp_path.iterdir()) == []
    deep.parent.mkdir(parents=True)
    async with StateDB(mode=Mode.NATIVE) as db:  # the default's own folder is there: its store may be made
        assert db.applied is not None and db.applied.created
    named = tmp_path / "c" / "d" / "state.db"
    assert (await opened(named)).created
    for other in (Mode.READ_ONLY,):
        with pytest.raises(StoreMissingError):
            await StateDB(tmp_path / "e" / "state.db", mode=other).open()
    assert not (tmp_path / "e").exists()


async def test_an_empty_file_becomes_a_store(tmp_path: Path, native_file: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    path.chmod(0o640)
    applied = await opened(path)
    assert applied.created and applied.stamped
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert shape(path) == shape(native_file) and beside(path) == {"state.db"}


async def test_new_stores_are_the_same_file_but_for_when_they_were_made(tmp_path: Path) -> None:
    """Each in a process of its own: no order of theirs hangs on where objects lie in memory."""
    code = """
import asyncio, sys, time
from persistence import Mode, StateDB
time.time = lambda: 1795953600.0
async def made(path):
    async with StateDB(path, mode=Mode.NATIVE):
        pass
asyncio.run(made(sys.argv[1]))
"""
    paths = [tmp_path / name for name in ("one.db", "two.db")]
    for seed, path in enumerate(paths):
        environ = {**os.environ, "PYTHONHASHSEED": str(seed + 1), "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", code, str(path)], env=environ, check=True)
    assert paths[0].read_bytes() == paths[1].read_bytes()


async def test_a_folder_that_may_not_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if b".new-" in os.fsencode(path):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(creation.os, "open", refuse)
    with pytest.raises(StorePermissionError):
        await opened(tmp_path / "new" / "state.db")
    assert list(tmp_path.iterdir()) == [], "the folder that was made for it is gone again"


async def test_a_store_made_meanwhile_is_the_one_that_is_opened(
    tmp_path: Path, native_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    real = creation._take_name

    def late(made: bytes, target: bytes) -> None:
        shutil.copyfile(native_file, path)
        run_sql(path, "INSERT INTO progressions VALUES ('theirs', 1.0, '[]')")
        real(made, target)

    monkeypatch.setattr(creation, "_take_name", late)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        assert [row["id"] for row in await db.list_progressions()] == ["theirs"]
        assert db.applied is not None and not db.applied.created
    assert beside(path) == {"state.db"}


async def test_without_renameat2_a_name_is_taken_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(creation.sys, "platform", "other")
    assert (await opened(tmp_path / "state.db")).created
    assert (tmp_path / "state.db").stat().st_nlink == 1
    with pytest.raises(FileExistsError):
        creation._take_name(os.fsencode(tmp_path / "state.db"), os.fsencode(tmp_path / "state.db"))


async def test_what_a_killed_maker_left_is_removed_and_a_living_one_s_is_not(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    left = tmp_path / "state.db.new-123-abcd1234"
    left.write_bytes(b"half")
    (tmp_path / "state.db.new-123-abcd1234-journal").write_bytes(b"")
    other = tmp_path / "state.db.new-letter from home"
    other.write_text("keep")
    with creation._own_file(os.fsencode(path)) as living:
        await opened(path)
        assert Path(os.fsdecode(living)).exists()
    assert beside(path) == {"state.db", other.name}


# -- a store that is current -------------------------------------------------------------------------------


@pytest.mark.parametrize("older", ["0.36.0"], indirect=True)
async def test_a_store_of_this_version_is_left_as_it_is(older: Path) -> None:
    before, modified = dump(older), older.read_bytes()
    applied = await opened(older)
    assert not applied.changed and applied.tables_rebuilt == () and applied.backup is None
    assert dump(older) == before
    assert older.read_bytes() == modified
    assert beside(older) == {"state.db"}


async def test_a_table_and_an_index_that_went_missing_come_back(native_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(native_file, path)
    run_sql(path, "DROP TABLE run_tags", "DROP INDEX idx_sessions_updated")
    applied = await opened(path)
    assert applied.tables_added == ("run_tags",)
    assert set(applied.indexes_changed) == {"idx_run_tags_tag", "idx_sessions_updated"}
    assert applied.tables_rebuilt == () and applied.backup is None
    assert shape(path) == shape(native_file)


# -- an older store ----------------------------------------------------------------------------------------


@every_older
async def test_an_older_store_becomes_the_schema_with_every_row_kept(older: Path, native_file: Path) -> None:
    before = dump(older)
    applied = await opened(older)
    assert shape(older) == shape(native_file), "object by object what a new store has"
    after = dump(older)
    changed = {"ended_at", "ended_at_is_approximate", "dispatched_at", "parent_session_id"}
    for table, rows in before.items():
        if table in ("", "schema_meta"):
            continue
        assert len(after[table]) == len(rows), table
        for was, now in zip(rows, after[table], strict=True):
            assert {k: v for k, v in now.items() if k in was and k not in changed} == {
                k: v for k, v in was.items() if k not in changed
            }, table
            assert all(now[k] == v for k, v in was.items() if k in changed and v[0] is not None), table
    meta = {row["key"][0]: row["value"][0] for row in after["schema_meta"]}
    was_meta = {row["key"][0]: row["value"][0] for row in before["schema_meta"]}
    assert meta["version"] == "4" and meta["lineage"] == "lionagi"
    assert meta["created_at"] == was_meta["created_at"]
    assert applied.from_version == was_meta["version"] and applied.stamped and not applied.created
    with closing(sqlite3.connect(older)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert not (await opened(older)).changed, "once"


@every_older
async def test_the_backup_is_the_store_as_it_was_and_is_named(older: Path) -> None:
    before = dump(older)
    older.chmod(0o600)
    applied = await opened(older)
    backup = Path(applied.backup)
    assert backup.parent == older.parent and backup.name.startswith("state.db.pre-v4.")
    assert applied.backups == (backup.name,)
    assert dump(backup) == before
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert beside(older) == {"state.db", backup.name}
    again = await opened(older)
    assert again.backup is None and again.backups == (backup.name,), "told as long as it lies there"


@every_older
async def test_backfills_are_done_once(older: Path) -> None:
    applied = await opened(older)
    with closing(sqlite3.connect(older)) as connection:
        terminal = "('completed','completed_empty','failed','timed_out','aborted','cancelled')"
        open_ended = f"SELECT count(*) FROM sessions WHERE status IN {terminal} AND ended_at IS NULL"
        assert connection.execute(open_ended).fetchone()[0] == 0
        connection.execute("UPDATE sessions SET ended_at = NULL")
        connection.commit()
        assert all(count > 0 for count in applied.backfilled.values())
    await opened(older)
    with closing(sqlite3.connect(older)) as connection:
        assert connection.execute(open_ended).fetchone()[0] > 0


@pytest.mark.parametrize("release", RELEASES)
async def test_columns_of_every_release_known_are_brought_up(
    release: str, tmp_path: Path, native_file: Path
) -> None:
    path = make_filled(tmp_path / "state.db", release)
    run_sql(
        path,
        "DELETE FROM schema_meta WHERE key = 'lineage'",
        "UPDATE schema_meta SET value = '1' WHERE key = 'version'",
    )
    before = dump(path)
    await opened(path)
    assert shape(path) == shape(native_file)
    after = dump(path)
    assert all(
        len(after[table]) == len(rows)
        for table, rows in before.items()
        if table not in ("", "schema_meta", "message_types", "attention_disposition_revisions")
    )


_THEIRS = "SELECT name, sql FROM sqlite_master WHERE name IN ('mine', 'notes', 'latest', 'noted') ORDER BY 1"


async def test_what_somebody_added_to_a_table_stays(shared_stores: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(shared_stores / "lionagi-0.28.0.db", path)
    run_sql(
        path,
        "CREATE INDEX mine ON sessions (name) WHERE name IS NOT NULL",
        "CREATE TABLE notes (session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE, text TEXT)",
        "INSERT INTO notes SELECT id, 'kept' FROM sessions",
        "CREATE VIEW latest AS SELECT id, updated_at FROM sessions",
        "CREATE TRIGGER noted AFTER UPDATE OF name ON sessions BEGIN UPDATE notes SET text = new.name; END",
    )  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        before = connection.execute(_THEIRS).fetchall()
    applied = await opened(path)
    assert "sessions" in applied.tables_rebuilt
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(_THEIRS).fetchall() == before
        assert connection.execute("SELECT count(*) FROM notes WHERE text = 'kept'").fetchone()[0] == 11
        assert connection.execute("SELECT count(*) FROM latest").fetchone()[0] == 11


async def test_rows_that_pointed_nowhere_before_stand_in_nobody_s_way(
    shared_stores: Path, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(shared_stores / "lionagi-0.28.0.db", path)
    run_sql(path, "UPDATE branches SET system_msg_id = 'gone' WHERE rowid = 1")
    await opened(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() != []
        assert connection.execute("SELECT system_msg_id FROM branches WHERE rowid = 1").fetchone() == (
            "gone",
        )
