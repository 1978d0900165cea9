"""Opening a managed store for writing: admitted twice, guarded, and, when refused, as it was to the byte."""

from __future__ import annotations

import asyncio
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from persistence.engines import compatibility_opening
from persistence.engines.compatibility import open_compatibility
from persistence.engines.gate import gate_for
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError
from persistence.lineage.held import claim
from persistence.location import StoreLocation, locate
from persistence.profiles import admission
from tests.persistence.guard import kit

ADD_COLUMN = "ALTER TABLE messages ADD COLUMN desk_colour TEXT"
DROP_LINEAGE = "DELETE FROM schema_meta WHERE key = 'lineage'"
DROP_OWNER = "DELETE FROM principals WHERE id = 'eve'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return kit.managed(tmp_path)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[sqlite3.Connection]]:
    """Every connection that is made, in order."""
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **named)
        made.append(connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", recorded)
    yield made


def is_closed(connection: sqlite3.Connection) -> bool:
    try:
        sqlite3.Connection.in_transaction.__get__(connection)  # type: ignore[attr-defined]
    except sqlite3.ProgrammingError:
        return True
    return False


def killed_after(path: Path, *statements: str) -> None:
    """Another process commits and is gone at once: its frames stay in the log of a store nobody has open."""
    script = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for s in sys.argv[2:]: c.execute(s)\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path), *statements], check=True)


async def ended(threads: int) -> None:
    """Waits for the threads that came to go again."""
    for _ in range(200):
        if threading.active_count() <= threads:
            return
        await asyncio.sleep(0.01)
    raise AssertionError([thread.name for thread in threading.enumerate()])


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def afterwards(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Something happens between the admission on the read-only route and the writer."""
    real = admission.admit

    def admit(*arguments: Any, **named: Any) -> Any:
        report = real(*arguments, **named)
        happens()
        return report

    monkeypatch.setattr(admission, "admit", admit)


# -- an open that is admitted --------------------------------------------------------------------------------


async def test_it_opens_writes_and_closes(path: Path) -> None:
    engine = await kit.opened(path)
    assert engine.report.admitted
    for number in range(3):
        assert (
            await engine.run(
                "persist_live_message", lambda n=number: kit.live_message(n), transaction="message"
            )
            == number
        )
    rows = await engine.reader.load(lambda snapshot: snapshot.rows("SELECT count(*) FROM messages"))
    assert rows[0][0] == 4
    await engine.close()
    assert names(path.parent) == [path.name]
    assert gate_for((path.stat().st_dev, path.stat().st_ino)).handles == ()
    assert len([row for row in kit.contents(path)["messages"] if row[-1] == "kim"]) == 3


async def test_what_it_sets_is_the_connections_own(path: Path) -> None:
    engine = await kit.opened(path, busy_timeout=1234)
    try:
        from persistence.engines.driver_thread import on_thread

        real = kit.dug_out(engine)

        def settings() -> dict[str, Any]:
            real.hold.authorizer.record()  # asked by this test alone
            asked = (
                "busy_timeout",
                "foreign_keys",
                "synchronous",
                "recursive_triggers",
                "wal_autocheckpoint",
            )
            try:
                return {name: kit.beneath(real, f"PRAGMA {name}")[0][0] for name in asked}
            finally:
                real.hold.authorizer.know()

        found = await on_thread(engine._driver, settings)
        assert found == {
            "busy_timeout": 1234, "foreign_keys": 1, "synchronous": 1, "recursive_triggers": 1,
            "wal_autocheckpoint": 1000,
        }  # fmt: skip
    finally:
        await engine.close()


async def test_the_log_is_folded_in_by_sqlite_alone(path: Path) -> None:
    """The automatic checkpoint goes on at its default of 1000 pages."""
    engine = await kit.opened(path)
    try:
        size = path.stat().st_size
        log = path.with_name(path.name + "-wal")
        for number in range(900):
            await engine.run("persist_live_message", lambda n=number: kit.live_message(n), transaction="m")
        assert path.stat().st_size > size
        assert log.stat().st_size < 12_000_000
    finally:
        await engine.close()


async def test_an_ownerless_profile_still_keeps_rows_from_going(path: Path) -> None:
    engine = await kit.opened(path, using=kit.profile(owner=None), owner=None, make=kit.ownerless)
    try:
        await engine.run(
            "create_progression", lambda: kit.progression("p9", "lee"), transaction="progression"
        )
        before = kit.digest(path)
        real = kit.dug_out(engine)

        def steps() -> Any:
            yield kit.PROGRESSION(id="p8", at=1.0, collection="[]", owner="lee")
            kit.beneath(real, "REPLACE INTO progressions VALUES ('lee-prog', 1.0, '[]', 'lee')")

        with pytest.raises(StoreError):
            await engine.run("create_progression", steps, transaction="progression")
        assert kit.digest(path) == before
    finally:
        await engine.close()


async def test_two_owners_at_once(path: Path) -> None:
    kim, lee = await kit.opened(path), await kit.opened(path, owner="lee")
    try:
        await kim.run("create_progression", lambda: kit.progression("k", "kim"), transaction="progression")
        await lee.run("create_progression", lambda: kit.progression("l", "lee"), transaction="progression")
        with pytest.raises(StateCompatibilityRefused):
            await lee.run(
                "create_progression", lambda: kit.progression("x", "kim"), transaction="progression"
            )
    finally:
        await kim.close()
        await lee.close()
    owners = {row[1]: row[-1] for row in kit.contents(path)["progressions"]}
    assert (owners["k"], owners["l"]) == ("kim", "lee")
    assert "x" not in owners


async def test_a_handle_may_be_used_from_another_loop(path: Path) -> None:
    """The mark and the turn are the connection's: a thread with a loop of its own takes its turn."""
    engine = await kit.opened(path)
    try:

        async def write() -> str:
            return await engine.run("create_progression", kit.progression, transaction="progression")

        assert await asyncio.to_thread(lambda: asyncio.run(write())) == "p1"
    finally:
        await engine.close()


# -- opens that are refused before a writer is opened --------------------------------------------------------


REFUSED: dict[str, tuple[tuple[str, ...], str | None]] = {
    "another lineage": (("UPDATE schema_meta SET value = 'other' WHERE key = 'lineage'",), "kim"),
    "its own lineage": (("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'",), "kim"),
    "no lineage": ((DROP_LINEAGE,), "kim"),
    "a new column": ((ADD_COLUMN,), "kim"),
    "a trigger": (("CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM tickets; END",), "kim"),
    "an owner nobody knows": ((), "eve"),
    "no owner": ((), None),
}


@pytest.mark.parametrize("crashed", [False, True], ids=["at rest", "beside a log"])
@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_open_changes_nothing(path: Path, name: str, crashed: bool) -> None:
    statements, owner = REFUSED[name]
    using = kit.profile()
    if crashed:
        killed_after(path, *(statements or ("UPDATE tickets SET subject = 'x'",)))
        path.with_name(path.name + "-shm").unlink(missing_ok=True)
    else:
        kit.manager(path, *statements)
    before = kit.files(path)
    threads = threading.active_count()
    with pytest.raises(StateCompatibilityRefused) as refused:
        await kit.opened(path, using=using, owner=owner)
    assert refused.value.operation == "open"
    assert refused.value.committed == ()
    assert kit.files(path) == before
    assert names(path.parent) == sorted(before)
    await ended(threads)
    again = pickle.loads(pickle.dumps(refused.value))
    assert again.as_dict() == refused.value.as_dict()


async def test_a_store_that_is_not_in_wal_mode_stays_so(path: Path) -> None:
    kit.manager(path, "PRAGMA journal_mode = DELETE")
    before = kit.files(path)
    with pytest.raises(StateCompatibilityRefused) as refused:
        await kit.opened(path)
    assert refused.value.code == "journal-mode"
    assert kit.files(path) == before


async def test_a_store_beside_a_hot_journal(path: Path) -> None:
    kit.manager(path, "PRAGMA journal_mode = DELETE")
    killed_after(
        path, "PRAGMA cache_size = 1", "BEGIN", "UPDATE sessions SET desk_note = hex(zeroblob(40000))",
        "UPDATE messages SET content = hex(zeroblob(40000))",
    )  # fmt: skip
    before = kit.files(path)
    assert f"{path.name}-journal" in before
    with pytest.raises(StateCompatibilityRefused):
        await kit.opened(path)
    assert kit.files(path) == before


async def test_a_server_refuses(connections: list[sqlite3.Connection]) -> None:
    server = StoreLocation("postgresql", "postgresql://u@h/d", "argument", url="postgresql+asyncpg://u@h/d")
    using = kit.profile()
    connections.clear()
    with pytest.raises(StateCompatibilityRefused) as refused:
        await open_compatibility(server, using, "kim", kit.OPERATIONS, kit.factory)
    assert refused.value.code == "compatibility-server"
    assert connections == []


async def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StateCompatibilityRefused):
        await kit.opened(tmp_path / "none.db")
    assert names(tmp_path) == []


async def test_a_native_handle_of_this_process_keeps_it_out(path: Path) -> None:
    found = path.stat()
    with (
        claim((found.st_dev, found.st_ino), "native", "the native one"),
        pytest.raises(StateCompatibilityRefused) as refused,
    ):
        await kit.opened(path)
    assert "the native one" in (refused.value.observed or "")
    engine = await kit.opened(path)
    try:
        with (
            pytest.raises(StateCompatibilityRefused, match="kit-desk@1"),
            claim((found.st_dev, found.st_ino), "native", "the native one"),
        ):
            pass
    finally:
        await engine.close()


# -- opens that are refused under the lock -------------------------------------------------------------------


@pytest.mark.parametrize("crashed", [False, True], ids=["committed", "left in the log"])
@pytest.mark.parametrize("name", ["another lineage", "no lineage", "a new column", "a trigger", "its owner"])
async def test_a_store_that_moved_is_refused_under_the_lock(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    connections: list[sqlite3.Connection],
    name: str,
    crashed: bool,
) -> None:
    kit.manager(path, "INSERT INTO principals VALUES ('eve', 'Eve', 'person', 1.0)")
    statements = (DROP_OWNER,) if name == "its owner" else REFUSED[name][0]
    seen: list[dict[str, bytes]] = []

    def happens() -> None:
        (killed_after if crashed else kit.manager)(path, *statements)
        seen.append(kit.files(path))

    using = kit.profile()
    afterwards(monkeypatch, happens)
    threads = threading.active_count()
    with pytest.raises(StateCompatibilityRefused):
        await kit.opened(path, using=using, owner="eve")
    assert kit.files(path) == seen[0]
    await ended(threads)
    assert all(is_closed(connection) for connection in connections)
    assert gate_for((path.stat().st_dev, path.stat().st_ino)).handles == ()


async def test_a_mode_that_changed_is_refused_under_the_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    afterwards(monkeypatch, lambda: kit.manager(path, "PRAGMA journal_mode = DELETE"))
    with pytest.raises(StateCompatibilityRefused) as refused:
        await kit.opened(path)
    assert refused.value.code == "journal-mode"
    assert names(path.parent) == [path.name]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


async def test_a_journal_that_came_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = path.with_name(path.name + "-journal")
    afterwards(monkeypatch, lambda: journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504)))
    before = path.read_bytes()
    with pytest.raises(StateCompatibilityRefused) as refused:
        await kit.opened(path)
    assert refused.value.code == "journal-beside"
    assert path.read_bytes() == before
    assert journal.stat().st_size == 512


async def test_a_file_that_was_exchanged_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = kit.managed(path.parent / "other")
    kit.manager(other, "UPDATE schema_meta SET value = 'third' WHERE key = 'lineage'")

    def happens() -> None:
        path.unlink()
        other.rename(path)

    afterwards(monkeypatch, happens)
    with pytest.raises(StateCompatibilityRefused) as refused:
        await kit.opened(path)
    assert refused.value.code == "store-replaced"


async def test_a_writer_that_holds_the_lock(path: Path) -> None:
    manager = sqlite3.connect(path, isolation_level=None)
    manager.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(BusyError):
            await kit.opened(path, busy_timeout=50)
        assert gate_for((path.stat().st_dev, path.stat().st_ino)).handles == ()
    finally:
        manager.execute("ROLLBACK")
        manager.close()
    engine = await kit.opened(path)
    await engine.close()


# -- guards that cannot be installed -------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["authorizer", "triggers", "function", "settings"])
async def test_a_guard_that_cannot_be_installed_refuses_the_open(
    path: Path, monkeypatch: pytest.MonkeyPatch, connections: list[sqlite3.Connection], step: str
) -> None:
    from persistence.guard.transaction import TransactionGuard
    from persistence.guard.triggers import Trigger

    def fails(*_arguments: Any) -> Any:
        raise sqlite3.OperationalError("not to be installed")

    if step == "authorizer":
        monkeypatch.setattr(TransactionGuard, "_know", fails)
    elif step == "triggers":
        monkeypatch.setattr(
            compatibility_opening, "triggers", lambda *_: (Trigger("x", "CREATE TEMP TRIGGER"),)
        )
    elif step == "function":
        monkeypatch.setattr(compatibility_opening, "SPOIL", "x" * 300)
    else:
        monkeypatch.setattr(compatibility_opening, "SETTINGS", ("foreign_keys=(",))
    before = kit.files(path)
    threads = threading.active_count()
    with pytest.raises(StoreError):
        await kit.opened(path)
    assert all(is_closed(connection) for connection in connections)
    assert kit.files(path) == before
    await ended(threads)


async def test_a_manifest_that_goes_beyond_its_profile_refuses_the_open(path: Path) -> None:
    narrow = kit.profile()
    writes = dict(narrow.writes)
    del writes["session_signals"]
    with pytest.raises(StateCompatibilityRefused) as refused:
        await kit.opened(path, using=kit.profile(writes=writes))
    assert refused.value.code == "guard-statement"
    assert "session_signals" in (refused.value.observed or "")


async def test_a_cancelled_open_leaves_nothing_open(
    path: Path, connections: list[sqlite3.Connection]
) -> None:
    before = kit.files(path)
    opening = asyncio.create_task(kit.opened(path))
    for _ in range(4):
        await asyncio.sleep(0.01)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        engine = await opening
        await engine.close()  # it was faster
        raise asyncio.CancelledError
    for _ in range(100):
        if all(is_closed(connection) for connection in connections):
            break
        await asyncio.sleep(0.02)
    assert all(is_closed(connection) for connection in connections)
    assert kit.files(path) == before
    assert gate_for((path.stat().st_dev, path.stat().st_ino)).handles == ()


def test_the_location_is_what_it_says(path: Path) -> None:
    assert locate(path).path == os.fsencode(path)
