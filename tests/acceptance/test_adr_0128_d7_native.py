"""ADR-0128 D7 through the facade: which stores a writable native open takes, and what a refusal leaves."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB
from persistence.errors import (
    BusyError,
    ForeignLineageError,
    SchemaTooNewError,
    StoreError,
    UnreadableStoreError,
    UnrecognizedStoreError,
)
from persistence.lineage import examine
from persistence.location import locate
from persistence.schema.known import RELEASES, TABLES
from persistence.writing.native import opening
from tests.persistence.engines.states import writer
from tests.persistence.lineage.craft import (
    META,
    VERSION_ROW,
    beside,
    complete,
    edit,
    foreign,
    hot,
    logged,
    meta,
    small,
    spoil,
    state_of,
)

ROOT = Path(__file__).resolve().parents[2]
LEDGER = "CREATE TABLE ledger (id INTEGER PRIMARY KEY)"
PROGRESSIONS = (
    "CREATE TABLE progressions (id TEXT NOT NULL PRIMARY KEY, created_at FLOAT NOT NULL, "
    "collection TEXT DEFAULT '[]' NOT NULL)"
)


async def opened(path: Path) -> dict[str, str]:
    """Opens natively and closes again; the rows of schema_meta then."""
    async with StateDB(path, mode=Mode.NATIVE):
        pass
    return rows(path)


async def refused(path: Path, kind: type[StoreError]) -> StoreError:
    """The refusal of a native open, which left the object unopened."""
    db = StateDB(path, mode=Mode.NATIVE)
    with pytest.raises(kind) as error:
        await db.open()
    assert type(error.value) is kind
    assert not db.is_open
    return error.value


def rows(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = dict(connection.execute("SELECT key, value FROM schema_meta").fetchall())
    connection.close()
    return found


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return {name for name in found if not name.startswith("sqlite_")}


# -- what is opened -----------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-01", "0128-D7-21")
@pytest.mark.parametrize("what", ["no file", "an empty file", "no tables", "only a view"])
async def test_a_store_without_tables_is_new_and_gets_its_row(what: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    if what == "an empty file":
        path.touch()
    elif what == "no tables":
        small(tmp_path, "PRAGMA user_version = 1", name="state.db")
    elif what == "only a view":
        small(tmp_path, "CREATE VIEW v AS SELECT 1 AS one", name="state.db")
    found = await opened(path)
    assert (found["lineage"], found["version"]) == ("lionagi", "4")
    assert tables(path) == set(TABLES)


@pytest.mark.adr("0128-D7-09")
@pytest.mark.parametrize("moment", ["before the row", "after the row"])
def test_stopped_midway_neither_the_schema_nor_the_row_is_there(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    code = (
        "import asyncio, os, sys\n"
        "from persistence import Mode, StateDB\n"
        "from persistence.writing.native import application\n"
        "real = application.stamp\n"
        "def stamp(connection, where):\n"
        f"    {'real(connection, where)' if moment == 'after the row' else 'pass'}\n"
        "    connection.execute('PRAGMA cache_size=1')\n"
        "    connection.execute('UPDATE message_types SET lion_class = lion_class')\n"
        "    os.kill(os.getpid(), 9)\n"
        "application.stamp = stamp\n"
        "asyncio.run(StateDB(sys.argv[1], mode=Mode.NATIVE).open())\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -9
    connection = sqlite3.connect(path)  # rolls back what was interrupted
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


@pytest.mark.adr("0128-D7-04", "0128-D7-13", "0128-D7-14")
@pytest.mark.parametrize("release", [release for release in RELEASES if release not in ("0.26.18", "0.36.0")])
async def test_what_a_release_made_is_adopted_and_gets_the_row(release: str, tmp_path: Path) -> None:
    path = complete(tmp_path, release)
    assert "lineage" not in rows(path)
    found = await opened(path)
    assert (found["lineage"], found["version"]) == ("lionagi", "4")


@pytest.mark.adr("0128-D7-13")
async def test_an_unknown_table_beside_sessions_does_not_matter(tmp_path: Path) -> None:
    path = edit(complete(tmp_path, "0.34.1"), LEDGER)
    assert (await opened(path))["lineage"] == "lionagi"
    assert "ledger" in tables(path)


@pytest.mark.adr("0128-D7-15")
async def test_a_first_open_that_was_stopped_is_finished(tmp_path: Path) -> None:
    path = small(tmp_path, META, (VERSION_ROW, ("3",)), PROGRESSIONS)
    assert (await opened(path))["lineage"] == "lionagi"


@pytest.mark.adr("0128-D7-22")
@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TABLE studio_operator_views (id TEXT PRIMARY KEY)",),
        (
            "CREATE TABLE approvals (id TEXT PRIMARY KEY, action_kind, params_hash, session_id, status, "
            "proposed_at, granted_at, consumed_at, expires_at)",
        ),
    ],
)
async def test_tables_components_create_before_any_open_are_adopted(
    statements: tuple[str, ...], tmp_path: Path
) -> None:
    path = small(tmp_path, *statements)
    before = tables(path)
    found = await opened(path)
    assert found["lineage"] == "lionagi"
    assert before <= tables(path)


@pytest.mark.adr("0128-D7-11", "0128-D7-12")
@pytest.mark.parametrize("version", [None, "0", "004", " 4 ", "", "four", "4.0", "-1", b"4"])
async def test_beside_the_row_a_version_no_release_writes_is_stamped_over(
    version: Any, tmp_path: Path
) -> None:
    path = meta(complete(tmp_path), "version", version)
    assert (await opened(path))["version"] == "4"


# -- what is refused ----------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Path], Path], type[StoreError]]] = {
    "too new": (lambda d: meta(complete(d), "version", "5"), SchemaTooNewError),
    "too new, no row": (lambda d: meta(complete(d, "0.34.1"), "version", "5"), SchemaTooNewError),
    "no version": (lambda d: meta(complete(d, "0.34.1"), "version", None), UnrecognizedStoreError),
    "padded": (lambda d: meta(complete(d, "0.34.1"), "version", "03"), UnrecognizedStoreError),
    "spaced": (lambda d: meta(complete(d, "0.34.1"), "version", " 3"), UnrecognizedStoreError),
    "empty": (lambda d: meta(complete(d, "0.34.1"), "version", ""), UnrecognizedStoreError),
    "zero": (lambda d: meta(complete(d, "0.34.1"), "version", "0"), UnrecognizedStoreError),
    "word": (lambda d: meta(complete(d, "0.34.1"), "version", "three"), UnrecognizedStoreError),
    "no sessions": (lambda d: small(d, META, (VERSION_ROW, ("3",)), LEDGER), UnrecognizedStoreError),
    "no pair": (lambda d: small(d, "CREATE TABLE schema_meta (name, val)"), UnrecognizedStoreError),
    "unknown": (lambda d: small(d, LEDGER), UnrecognizedStoreError),
    "look-alike": (
        lambda d: small(
            d, "CREATE TABLE sessions (sid INTEGER PRIMARY KEY)", "CREATE TABLE messages (mid INTEGER)"
        ),
        UnrecognizedStoreError,
    ),
    "foreign": (lambda d: meta(complete(d), "lineage", "acme-desk"), ForeignLineageError),
    "foreign and too new": (
        lambda d: meta(meta(complete(d), "lineage", "acme-desk"), "version", "99"),
        ForeignLineageError,
    ),
    "foreign in the log": (lambda d: logged(d, "lionagi", "acme-desk", native=True), ForeignLineageError),
    "foreign, no index": (lambda d: logged(d, "-", "acme-desk", shm=False), ForeignLineageError),
    "hidden by a journal": (lambda d: hot(d, "acme-desk", "lionagi"), ForeignLineageError),
    "another's column": (
        lambda d: edit(complete(d), "ALTER TABLE sessions ADD COLUMN tenant TEXT"),
        UnrecognizedStoreError,
    ),
    "unreadable log": (
        lambda d: spoil(beside(logged(d, "lionagi", "acme-desk"), "-wal"), 0, lambda b: b"\x99" * len(b)),
        UnreadableStoreError,
    ),
}


@pytest.mark.adr(
    "0128-D7-03",
    "0128-D7-10",
    "0128-D7-16",
    "0128-D7-17",
    "0128-D7-18",
    "0128-D7-19",
    "0128-D7-20",
    "0128-D7-23",
    "0128-D7-26",
    "0128-D7-28",
    "0128-D7-34",
    "0128-D7-65",
    "0128-D7-71",
    "0128-D7-75",
    "0128-A0-01",
)
@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_open_leaves_every_byte_and_no_engine(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, kind = REFUSED[name]
    folder = tmp_path / "store"
    folder.mkdir()
    build(folder)
    before = state_of(folder)
    connections: list[object] = []
    monkeypatch.setattr(opening, "_connect", connections.append)
    threads = threading.active_count()
    error = await refused(folder / "store.db", kind)
    assert connections == []  # before any writable connection exists
    assert state_of(folder) == before
    assert threading.active_count() == threads
    assert error.where and error.observed and error.remedy and error.expected


@pytest.mark.adr("0128-D7-66", "0128-A0-10")
async def test_a_file_the_reads_cannot_read_is_left_to_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
    verdict = examine(locate(path)).native
    assert (verdict.opens, verdict.by) == (False, "connection")
    verdict.check()  # the reads do not refuse it

    made: list[sqlite3.Connection] = []
    real = opening._connect

    def connect(given: bytes) -> sqlite3.Connection:
        connection = real(given)
        made.append(connection)
        path.write_bytes(data)  # readable just in time
        return connection

    monkeypatch.setattr(opening, "_connect", connect)
    await refused(path, ForeignLineageError)
    assert len(made) == 1
    with pytest.raises(sqlite3.ProgrammingError):
        made[0].execute("SELECT 1")


# -- between the reads and the connection ---------------------------------------------------------------


@pytest.mark.adr("0128-D7-68", "0128-D7-69", "0128-D7-70")
@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_a_row_written_after_the_reads_is_refused_by_the_connection(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = edit(complete(tmp_path, "0.34.1"), f"PRAGMA journal_mode={mode}")
    real = opening._connect
    made: list[sqlite3.Connection] = []

    def connect(given: bytes) -> sqlite3.Connection:
        with writer(path) as other:
            other.do("INSERT OR REPLACE INTO schema_meta VALUES ('lineage', 'acme-desk')")
            other.close()
        made.append(real(given))
        return made[-1]

    monkeypatch.setattr(opening, "_connect", connect)
    schema = tables(path)
    error = await refused(path, ForeignLineageError)
    assert error.observed == "the lineage row 'acme-desk'"
    with pytest.raises(sqlite3.ProgrammingError):
        made[0].execute("SELECT 1")
    # At most a journal rolled back, an index built or marked, a log folded in: the rows are the other's.
    assert rows(path) == {**rows(path), "lineage": "acme-desk", "version": "3"}
    assert tables(path) == schema
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == (mode,)
    connection.close()


@pytest.mark.adr("0128-D7-33", "0128-D7-74", "0128-A0-02", "0128-A0-03")
async def test_a_row_written_before_the_lock_is_refused_before_any_step_or_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 0.26.0: every kind of step is due, rebuilds with their backup included.
    path = complete(tmp_path, "0.26.0")
    real = opening.check_first_connection
    steps: list[str] = []

    def late(connection: sqlite3.Connection, where: str) -> Any:
        asked = real(connection, where)
        with writer(path) as other:
            other.do("INSERT OR REPLACE INTO schema_meta VALUES ('lineage', 'acme-desk')")
            other.do("UPDATE schema_meta SET value = '99' WHERE key = 'version'")
            other.close()
        connection.set_trace_callback(steps.append)
        return asked

    monkeypatch.setattr(opening, "check_first_connection", late)
    await refused(path, ForeignLineageError)
    assert "BEGIN IMMEDIATE" in steps
    changing = ("CREATE", "ALTER", "DROP", "INSERT", "UPDATE", "DELETE", "PRAGMA journal_mode", "VACUUM")
    assert not [step for step in steps if step.lstrip().upper().startswith(changing)]
    assert sorted(entry.name for entry in tmp_path.iterdir() if "bak" in entry.name) == []
    assert rows(path)["version"] == "99"


@pytest.mark.adr("0128-D7-30", "0128-D7-67")
async def test_each_connection_of_an_open_asks_before_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = complete(tmp_path, "0.34.1")
    real = opening._connect
    said: list[list[str]] = []

    def connect(given: bytes) -> sqlite3.Connection:
        connection = real(given)
        said.append([])
        connection.set_trace_callback(said[-1].append)
        return connection

    monkeypatch.setattr(opening, "_connect", connect)
    await opened(path)
    assert len(said) == 2
    for statements in said:
        asked = next(number for number, text in enumerate(statements) if "schema_meta" in text)
        before = [
            text
            for text in statements[:asked]
            if not text.startswith(("BEGIN", "SELECT", "PRAGMA main.", "PRAGMA database_list"))
        ]
        assert before == []
        settings = [
            number for number, text in enumerate(statements) if text.startswith("PRAGMA ") and "=" in text
        ]
        assert all(number > asked for number in settings)


@pytest.mark.adr("0128-D7-32", "0128-D7-73")
async def test_a_version_raised_under_an_open_handle_does_not_stop_its_writes(tmp_path: Path) -> None:
    path = complete(tmp_path)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        with writer(path) as other:
            other.do("UPDATE schema_meta SET value = '9' WHERE key = 'version'")
        await db.insert_admin_event(action="probe", details={}, target_id="x")
        assert len(await db.list_admin_events()) == 1
    await refused(path, SchemaTooNewError)


@pytest.mark.adr("0128-D7-34", "0128-D7-72", "0128-A0-11")
async def test_an_open_that_fails_after_its_commit_leaves_nothing_and_the_next_reads_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = complete(tmp_path, "0.34.1")
    db = StateDB(path, mode=Mode.NATIVE)
    real = opening._writer

    def fails(*_arguments: Any) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(opening, "_writer", fails)
    threads = threading.active_count()
    with pytest.raises(StoreError):
        await db.open()
    assert not db.is_open
    assert rows(path)["lineage"] == "lionagi"  # the schema was committed
    assert threading.active_count() == threads
    monkeypatch.setattr(opening, "_writer", real)
    meta(path, "lineage", "acme-desk")
    with pytest.raises(ForeignLineageError):  # the same object reads the store again
        await db.open()
    assert not db.is_open


@pytest.mark.adr("0128-D7-72")
async def test_an_open_whose_connection_never_read_the_store_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = edit(complete(tmp_path), "PRAGMA journal_mode=DELETE")
    threads = threading.active_count()
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "50")
    with writer(path, "BEGIN EXCLUSIVE"):
        assert (await refused(path, BusyError)).code == "busy"
    assert threading.active_count() == threads


@pytest.mark.adr("0128-D7-39", "0128-D7-02")
async def test_reading_and_refusing_write_no_row(tmp_path: Path) -> None:
    path = meta(complete(tmp_path, "0.34.1"), "version", "7")
    before = state_of(tmp_path)
    async with StateDB(path) as db:
        await db.list_sessions()
        await db.facts()
    await refused(path, SchemaTooNewError)
    examine(locate(path))
    assert state_of(tmp_path) == before
    assert "lineage" not in rows(path)
