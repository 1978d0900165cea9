"""A lock this process holds on a store stays, whatever is done with the store meanwhile (CASES C).

Closing any descriptor of a file drops every POSIX lock the process has on it; another process could then
write into a transaction that is open here.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli import run
from persistence import StateDB, files
from persistence.engines import copies, token
from persistence.lineage import check_later_connection, examine, held_here
from persistence.location import locate
from tests.persistence.engines.states import can_write
from tests.persistence.filled import ROWS
from tests.persistence.lineage.craft import beside
from tests.persistence.stores import make_filled

Act = Callable[[Path], object]


def _command(*words: str) -> Act:
    def act(path: Path) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run([word.format(path) for word in words])

    return act


def _read(path: Path) -> None:
    async def reading() -> None:
        async with StateDB(path) as db:
            await db.facts()
            await db.catalogue()
            await db.list_sessions()
            await db.token()

    asyncio.run(reading())


def _copied(path: Path) -> None:
    with copies.private_copy(locate(path)):
        pass


def _second_connection(path: Path) -> None:
    connection = sqlite3.connect(path, timeout=0)
    check_later_connection(connection, "x")
    connection.close()


ACTS: dict[str, Act] = {
    "examined": lambda path: examine(locate(path)),
    "examined as a link": lambda path: examine(locate(_link(path))),
    "copied": _copied,
    "described": lambda path: files.describe(locate(path)),
    "watched": lambda path: [token.settle(files.resolve(bytes(path))) for _ in range(3)],
    "asked after": lambda path: held_here((path.stat().st_dev, path.stat().st_ino), "native", "x"),
    "read": _read,
    "a connection refused or not": _second_connection,
    "doctor": _command("doctor", "{}", "--trace"),
    "doctor, parsed": _command("doctor", "--json", "--", "{}"),
    "runs": _command("runs", "{}", "--json"),
    "run": _command("run", "{}", "s000", "--json"),
    "tables": _command("tables", "{}"),
    "table": _command("tables", "{}", "messages", "--csv"),
}


def _link(path: Path) -> Path:
    link = path.parent / "link.db"
    if not link.is_symlink():
        link.symlink_to(path)
    return link


@pytest.fixture
def held(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, sqlite3.Connection]:
    """A store on which this process has an open write transaction."""
    path = make_filled(tmp_path / "state.db")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode={request.param}")
    if request.param == "wal":  # a rollback store whose pages were spilled lets nobody read
        connection.execute("PRAGMA cache_size=2")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("CREATE TABLE pending (a)")
    connection.execute("INSERT INTO pending SELECT randomblob(5000) FROM message_types")
    return path, connection


@pytest.mark.adr("0128-D7-59")
@pytest.mark.parametrize("held", ["delete", "wal"], indirect=True)
@pytest.mark.parametrize("name", ACTS)
def test_the_lock_is_still_there(name: str, held: tuple[Path, sqlite3.Connection]) -> None:
    path, connection = held
    assert can_write(path) == "SQLITE_BUSY"
    for _ in range(2):
        ACTS[name](path)
        assert can_write(path) == "SQLITE_BUSY"
    connection.execute("COMMIT")
    connection.close()
    assert can_write(path) == "ok"
    check = sqlite3.connect(path)
    assert check.execute("SELECT count(*) FROM pending").fetchone()[0] > 0
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()
    assert ROWS and not beside(path, "-journal").exists()


def test_the_hazard_is_real(tmp_path: Path) -> None:
    """Without the care taken, the lock is gone: so the tests above can fail."""
    path = make_filled(tmp_path / "state.db")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    assert can_write(path) == "SQLITE_BUSY"
    path.read_bytes()  # opens and closes it
    assert can_write(path) == "ok"
    connection.close()
