"""ADR-0128 D7: what each writable connection of a native open asks itself, and what a refusal leaves."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import (
    ForeignLineageError,
    NotAStoreError,
    SchemaTooNewError,
    StoreDamagedError,
    StoreError,
    UnrecognizedStoreError,
)
from persistence.lineage import (
    check_first_connection,
    check_later_connection,
    check_transaction,
    check_under_lock,
    stamp,
)
from tests.persistence.lineage.craft import complete, edit, foreign, loose_meta, meta, small, spoil

Check = Callable[[sqlite3.Connection, str], object]
CHECKS: tuple[Check, ...] = (check_first_connection, check_later_connection, check_under_lock)


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    connection.execute("PRAGMA busy_timeout=100")
    return connection


def closed(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError as error:
        return "closed" in str(error)
    return False


def rows(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    found = dict(connection.execute("SELECT key, value FROM schema_meta").fetchall())
    connection.close()
    return found


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return complete(tmp_path)


@pytest.mark.adr("0128-D7-67", "0128-D7-30")
def test_a_first_connection_reads_all_of_it_before_anything_is_set(own: Path) -> None:
    connection = connect(own)
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    answers = check_first_connection(connection, "x")
    connection.set_trace_callback(None)
    text = "\n".join(asked)
    assert "sqlite_master" in text and "schema_meta" in text and 'table_xinfo("sessions")' in text
    for statement in asked:
        assert re.match(r"\s*(SELECT|BEGIN|ROLLBACK|PRAGMA main\.table_xinfo)\b", statement), statement
    assert [asked.rule.name for asked in answers][-1] == "shape-is-a-releases"
    assert connection.total_changes == 0
    assert not connection.in_transaction
    connection.close()


@pytest.mark.adr("0128-D7-31", "0128-D7-73")
def test_a_later_connection_reads_the_two_rows_alone(own: Path) -> None:
    connection = connect(own)
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    check_later_connection(connection, "x")
    statements = [statement for statement in asked if not statement.startswith(("BEGIN", "ROLLBACK"))]
    assert statements
    assert all("FROM main.schema_meta" in statement for statement in statements)
    assert "'lineage'" in statements[0] and "'version'" in statements[1]
    connection.close()


@pytest.mark.adr("0128-D7-68", "0128-D7-69", "0128-D7-75")
@pytest.mark.parametrize("check", CHECKS)
def test_a_row_written_since_is_refused_and_the_connection_closed(check: Check, own: Path) -> None:
    connection = connect(own)
    meta(own, "lineage", "acme-desk")
    meta(own, "version", "99")
    with pytest.raises(ForeignLineageError) as refused:
        check(connection, "~/state.db")
    assert refused.value.where == "~/state.db"
    assert (refused.value.lineage, refused.value.rule) == ("acme-desk", "lineage-names")
    assert closed(connection)


@pytest.mark.adr("0128-D7-32", "0128-D7-31")
def test_a_version_above_ours_refuses_an_open_and_no_later_connection(own: Path) -> None:
    meta(own, "version", "9")
    for check in (check_first_connection, check_under_lock):
        connection = connect(own)
        with pytest.raises(SchemaTooNewError):
            check(connection, "x")
        assert closed(connection)
    connection = connect(own)
    check_later_connection(connection, "x")
    check_transaction(connection, "x")
    connection.close()


@pytest.mark.adr("0128-D7-74", "0128-A0-04")
def test_under_the_lock_lineage_is_read_again_ahead_of_the_version(own: Path) -> None:
    meta(own, "version", "99")
    connection = connect(own)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
    with pytest.raises(ForeignLineageError):
        check_under_lock(connection, "x")
    assert closed(connection)
    assert rows(own)["lineage"] == "lionagi"  # the transaction was rolled back


def test_under_the_lock_the_transaction_stays_open_when_nothing_refuses(own: Path) -> None:
    connection = connect(own)
    connection.execute("BEGIN IMMEDIATE")
    check_under_lock(connection, "x")
    assert connection.in_transaction
    connection.execute("UPDATE schema_meta SET value = '4' WHERE key = 'version'")
    connection.execute("COMMIT")
    connection.close()


@pytest.mark.adr("0128-A0-10")
@pytest.mark.parametrize(
    ("spoiled", "kind"),
    [
        (foreign, ForeignLineageError),
        (
            lambda d: meta(meta(complete(d, "0.34.1"), "lineage", None), "version", None),
            UnrecognizedStoreError,
        ),
        (lambda d: small(d, "CREATE TABLE ledger (id)"), UnrecognizedStoreError),
        (lambda d: small(d, "CREATE TABLE schema_meta (name, val)"), UnrecognizedStoreError),
        (lambda d: edit(complete(d), "ALTER TABLE sessions ADD COLUMN tenant"), UnrecognizedStoreError),
        (lambda d: spoil(foreign(d), 4096, lambda b: b"\xff" * 4096 + b[4096:]), StoreDamagedError),
        (lambda d: spoil(foreign(d), 0, lambda b: b"not a database" + b[14:]), NotAStoreError),
    ],
)
def test_what_the_first_reads_would_have_refused_the_connection_refuses(
    spoiled: Callable[[Path], Path], kind: type[StoreError], tmp_path: Path
) -> None:
    connection = connect(spoiled(tmp_path))
    with pytest.raises(kind):
        check_first_connection(connection, "x")
    assert closed(connection)


def test_a_store_that_is_locked_is_called_busy(tmp_path: Path) -> None:
    path = foreign(tmp_path)
    other = connect(path)
    other.execute("BEGIN EXCLUSIVE")
    connection = connect(path)
    with pytest.raises(StoreError) as error:
        check_first_connection(connection, "x")
    assert error.value.code == "busy"
    assert closed(connection)
    other.close()


@pytest.mark.parametrize("factory", [sqlite3.Row, lambda cursor, row: {"a": 1}, None])
@pytest.mark.parametrize("text", [bytes, str, lambda data: "always this"])
def test_what_a_connection_is_set_to_neither_confuses_nor_is_changed(
    factory: Any, text: Any, own: Path
) -> None:
    connection = connect(own)
    connection.row_factory, connection.text_factory = factory, text
    check_first_connection(connection, "x")
    check_later_connection(connection, "x")
    assert (connection.row_factory, connection.text_factory) == (factory, text)
    connection.close()


def test_a_connection_that_begins_transactions_by_itself_is_left_without_one(own: Path) -> None:
    connection = sqlite3.connect(own)  # the module's own transactions
    check_first_connection(connection, "x")
    assert not connection.in_transaction
    connection.close()


# -- the stamp ----------------------------------------------------------------------------------------


@pytest.fixture
def unstamped(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(meta(complete(tmp_path, "0.34.1"), "lineage", None))
    yield connection
    connection.close()


@pytest.mark.adr("0128-D7-02")
def test_the_row_is_written_only_within_a_transaction(unstamped: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.ProgrammingError):
        stamp(unstamped, "x")
    unstamped.execute("BEGIN IMMEDIATE")
    stamp(unstamped, "x")
    unstamped.execute("ROLLBACK")
    assert unstamped.execute("SELECT count(*) FROM schema_meta WHERE key = 'lineage'").fetchone() == (0,)


@pytest.mark.adr("0128-D7-02", "0128-D7-39")
@pytest.mark.parametrize("value", ["acme-desk", "", b"lionagi", 1])
def test_the_row_of_another_application_is_never_written_over(value: Any, tmp_path: Path) -> None:
    path = loose_meta(complete(tmp_path), ("version", "4"), ("lineage", value))
    connection = connect(path)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(ForeignLineageError):
        stamp(connection, "x")
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT value FROM schema_meta WHERE key = 'lineage'").fetchall() == [(value,)]
    connection.close()


@pytest.mark.adr("0128-D7-02", "0128-D7-39", "0128-D7-05")
def test_nothing_else_of_the_product_writes_the_row() -> None:
    """In the sources: one function writes it, and what calls it is the native schema application."""
    root = Path(__file__).resolve().parents[2]
    callers = []
    for file in sorted([*(root / "persistence").rglob("*.py"), *(root / "inspector").rglob("*.py")]):
        place = file.relative_to(root).as_posix()
        text = file.read_text("utf-8")
        if re.search(r"\bstamp\(", text) and not place.startswith("persistence/lineage/"):
            callers.append(place)
        writes = re.findall(r"(?i)(?:insert|update|replace)[^\"']{0,40}schema_meta", text)
        # They play other programs: a proof on its scratch copies alone, and it tries what is refused.
        if writes and not place.startswith(("inspector/demo/", "persistence/proof/")):
            assert place in (
                "persistence/lineage/connection.py",
                "persistence/writing/native/application.py",
            ), place
    assert callers == ["persistence/writing/native/application.py"]
    application = (root / "persistence/writing/native/application.py").read_text("utf-8")
    keys = re.findall(r'rows\["(\w+)"\] =', application)
    assert "lineage" not in keys
