"""A managed store that moves under an open handle: asked at each transaction's start, under the lock."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.engines.write_faults import StoreIntegrityError
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError, ValueRefusedError
from persistence.guard.writeset import write_set
from tests.persistence.guard import kit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return kit.managed(tmp_path)


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[CompatibilityEngine]:
    opened = await kit.opened(path, busy_timeout=100)
    yield opened
    await opened.close()


async def write(engine: CompatibilityEngine, number: int = 1) -> None:
    assert (
        await engine.run("persist_live_message", partial(kit.live_message, number), transaction="message")
        == number
    )


async def refused(engine: CompatibilityEngine, path: Path) -> StateCompatibilityRefused:
    """What a write is refused with; the store stays as the manager left it."""
    before = kit.digest(path)
    with pytest.raises(StateCompatibilityRefused) as met:
        await write(engine)
    assert kit.digest(path) == before
    assert met.value.operation == "persist_live_message"
    assert met.value.committed == ()
    return met.value


MOVES: dict[str, tuple[str, tuple[str, ...]]] = {
    "lineage is lionagi": (
        "lineage-moved", ("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'",)
    ),
    "lineage is another": (
        "lineage-moved", ("UPDATE schema_meta SET value = 'other' WHERE key = 'lineage'",)
    ),
    "lineage is in another case": (
        "lineage-moved", ("UPDATE schema_meta SET value = 'Acme-Desk' WHERE key = 'lineage'",)
    ),
    "lineage is gone": ("lineage-moved", ("DELETE FROM schema_meta WHERE key = 'lineage'",)),
    "schema_meta is gone": ("lineage-moved", ("DROP TABLE schema_meta",)),
    "a column came": ("", ("ALTER TABLE sessions ADD COLUMN desk_x",)),
    "a column is called otherwise": ("", ("ALTER TABLE messages RENAME COLUMN desk_flags TO flags",)),
    "a trigger came": (
        "", ("CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE tickets SET subject = 'x'; END",)
    ),
    "a unique index came": ("", ("CREATE UNIQUE INDEX u ON messages (role, created_at)",)),
    "a table is gone": ("", ("DROP TABLE session_signals",)),
    "the owner is gone": (
        "owner-gone", ("PRAGMA foreign_keys = OFF", "DELETE FROM principals WHERE id = 'kim'")
    ),
    "the principals are gone": ("", ("PRAGMA foreign_keys = OFF", "DROP TABLE principals")),
    "the schema changed and its number was set back": (
        "schema-hidden",
        (
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = replace(sql, 'desk_flags    INTEGER', 'desk_flags    TEXT') "
            "WHERE name = 'messages'",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
async def test_it_is_refused_under_the_lock(engine: CompatibilityEngine, path: Path, name: str) -> None:
    await write(engine, 0)
    code, statements = MOVES[name]
    if code == "schema-hidden":
        # Rewritten in place: the number that says so stays the old one.
        kit.manager(path, "PRAGMA writable_schema = ON",
                    "UPDATE sqlite_master SET sql = sql || ' ' WHERE name = 'messages'")  # fmt: skip
    else:
        kit.manager(path, *statements)
    error = await refused(engine, path)
    assert error.profile == "kit-desk@1"
    assert code in ("", error.code)
    assert (await refused(engine, path)).code == error.code  # and it stays so


async def test_a_version_that_moved_is_admitted_by_the_profile_alone(path: Path) -> None:
    using = kit.profile(store_versions=("7", "8"))
    engine = await kit.opened(path, using=using)
    try:
        kit.manager(path, "UPDATE schema_meta SET value = '8' WHERE key = 'version'")
        await write(engine)
        kit.manager(path, "UPDATE schema_meta SET value = '9' WHERE key = 'version'")
        assert (await refused(engine, path)).code == "version-unlisted"
        kit.manager(path, "UPDATE schema_meta SET value = '8' WHERE key = 'version'")
        await write(engine, 2)
    finally:
        await engine.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE unrelated (a)",
        "CREATE INDEX plain ON messages (role)",
        "VACUUM",
        "ANALYZE",
        "INSERT INTO schema_meta VALUES ('desk_theme', 'dark')",
    ],
)
async def test_what_the_profile_does_not_depend_on_may_change(
    engine: CompatibilityEngine, path: Path, statement: str
) -> None:
    await write(engine, 0)
    kit.manager(path, statement)
    await write(engine)
    kit.manager(path, "UPDATE tickets SET subject = 'x'")
    await write(engine, 2)


async def test_a_table_rebuilt_by_its_manager_is_still_guarded(
    engine: CompatibilityEngine, path: Path
) -> None:
    await write(engine, 0)
    connection = sqlite3.connect(path)
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'messages'").fetchone()
    connection.close()
    kit.manager(
        path, "PRAGMA foreign_keys = OFF", "BEGIN", "ALTER TABLE messages RENAME TO old", sql,
        "INSERT INTO messages SELECT * FROM old", "DROP TABLE old", "COMMIT",
    )  # fmt: skip
    try:
        await write(engine)
    except StateCompatibilityRefused:
        return  # renaming also rewrote a link of another table: the closure is another one
    before = kit.digest(path)
    real = kit.dug_out(engine)
    for sql in (
        "UPDATE messages SET content = '9'",
        "REPLACE INTO messages (id, created_at, content, role, lion_class, owner_id) "
        "VALUES ('lee-msg', 1, '1', 'user', 0, 'kim')",
    ):

        def steps(sql: str = sql) -> Steps[None]:
            yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
            kit.beneath(real, sql)

        with pytest.raises(StoreError):
            await engine.run("create_progression", steps, transaction="progression")
    assert kit.digest(path) == before


async def test_a_file_that_was_exchanged(engine: CompatibilityEngine, path: Path) -> None:
    """Also by one of the same bytes, and of the same schema number."""
    await write(engine, 0)
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    path.unlink()
    copy.rename(path)
    assert (await refused(engine, path)).code == "store-replaced"


async def test_a_name_that_is_gone(engine: CompatibilityEngine, path: Path) -> None:
    await write(engine, 0)
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(StateCompatibilityRefused) as met:
        await write(engine)
    assert met.value.code == "store-replaced"
    assert met.value.observed == "no file"
    assert not path.exists()


async def test_a_link_that_was_turned(tmp_path: Path) -> None:
    real = kit.managed(tmp_path / "a")
    other = kit.managed(tmp_path / "b")
    link = tmp_path / "link.db"
    link.symlink_to(real)
    engine = await kit.opened(link)
    try:
        await write(engine, 0)
        link.unlink()
        link.symlink_to(other)
        before = kit.digest(other)
        with pytest.raises(StateCompatibilityRefused) as met:
            await write(engine)
        assert met.value.code == "store-replaced"
        assert kit.digest(other) == before
    finally:
        await engine.close()


async def test_a_new_connection_is_admitted_anew_never_by_its_number(
    engine: CompatibilityEngine, path: Path
) -> None:
    await write(engine, 0)
    kit.manager(path, "UPDATE schema_meta SET value = 'third' WHERE key = 'lineage'")  # the number stays
    with pytest.raises(StateCompatibilityRefused) as met:
        await engine._alchemy.connect()
    assert met.value.code == "lineage-other"


async def test_a_further_connection_after_the_file_was_exchanged(
    engine: CompatibilityEngine, path: Path
) -> None:
    other = kit.managed(path.parent / "third")
    path.unlink()
    other.rename(path)
    with pytest.raises(StateCompatibilityRefused) as met:
        await engine._alchemy.connect()
    assert met.value.code == "store-replaced"


async def test_busy_is_busy(engine: CompatibilityEngine, path: Path) -> None:
    manager = sqlite3.connect(path, isolation_level=None)
    manager.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(BusyError):
            await write(engine)
    finally:
        manager.execute("ROLLBACK")
        manager.close()
    await write(engine)


# -- what SQLite says, and what it does by itself ------------------------------------------------------------


async def test_a_constraint_is_a_typed_error_and_undoes_everything(
    engine: CompatibilityEngine, path: Path
) -> None:
    await write(engine)
    before = kit.digest(path)
    with pytest.raises(StoreIntegrityError) as met:
        await write(engine)  # the same id again
    assert met.value.committed == ()
    assert kit.digest(path) == before
    await write(engine, 2)


async def test_a_value_that_cannot_be_kept(engine: CompatibilityEngine, path: Path) -> None:
    before = kit.digest(path)
    for value in (2**70, object()):

        def steps(value: Any = value) -> Steps[None]:
            yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
            yield kit.PROGRESSION(id="a2", at=value, collection="[]", owner="kim")

        with pytest.raises(ValueRefusedError):
            await engine.run("create_progression", steps, transaction="progression")
    assert kit.digest(path) == before


async def test_the_store_ending_the_transaction_by_itself(engine: CompatibilityEngine, path: Path) -> None:
    """As when a statement's own conflict rolls back: nothing after it runs outside a transaction."""
    before = kit.digest(path)
    real = kit.dug_out(engine)

    def steps() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        real.hold.authorizer.door = "ROLLBACK"
        kit.beneath(real, "ROLLBACK")
        real.hold.authorizer.door = None
        yield kit.PROGRESSION(id="a2", at=1.0, collection="[]", owner="kim")
        return "done"

    with pytest.raises(StateCompatibilityRefused) as met:
        await engine.run("create_progression", steps, transaction="progression")
    assert met.value.code == "guard-ended"

    def alone() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        real.hold.authorizer.door = "ROLLBACK"
        kit.beneath(real, "ROLLBACK")
        real.hold.authorizer.door = None
        text = kit.PROGRESSION.compiled("sqlite").sql
        for way in (real.execute, partial(kit.beneath, real)):
            with pytest.raises((StoreError, sqlite3.Error)):
                way(text, ("a3", 1.0, "[]", "kim"))
        return "done"

    with pytest.raises(StateCompatibilityRefused):
        await engine.run("create_progression", alone, transaction="progression")
    assert kit.digest(path) == before

    def last() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        real.hold.authorizer.door = "ROLLBACK"
        kit.beneath(real, "ROLLBACK")
        real.hold.authorizer.door = None
        return "done"

    with pytest.raises(StateCompatibilityRefused) as met:
        await engine.run("create_progression", last, transaction="progression")
    assert met.value.code == "guard-ended"
    assert kit.digest(path) == before
    await write(engine)


async def test_a_store_without_room(engine: CompatibilityEngine, path: Path) -> None:
    await write(engine, 0)
    before = kit.digest(path)
    real = kit.dug_out(engine)

    def limited(pages: str) -> None:
        real.hold.authorizer.record()
        try:
            kit.beneath(real, f"PRAGMA max_page_count = {pages}")
        finally:
            real.hold.authorizer.know()

    (pages,) = await on_thread(
        engine._driver, lambda: sqlite3.connect(path).execute("PRAGMA page_count").fetchone()
    )
    await on_thread(engine._driver, partial(limited, str(pages)))

    def steps() -> Steps[None]:
        for number in range(2000):
            yield kit.PROGRESSION(id=f"a{number}", at=1.0, collection="[" + "1," * 400 + "1]", owner="kim")

    with pytest.raises(StoreError) as met:
        await engine.run("create_progression", steps, transaction="progression")
    assert met.value.code == "no-room"
    assert kit.digest(path) == before
    await on_thread(engine._driver, partial(limited, "1000000"))
    await write(engine)


async def test_a_statement_that_changes_other_than_its_rows(path: Path) -> None:
    engine = await kit.opened(path)
    try:
        await write(engine, 0)
        kit.manager(path, "UPDATE sessions SET owner_id = 'lee' WHERE id = 'kim-old-sess'")
        before = kit.digest(path)
        with pytest.raises(StateCompatibilityRefused) as met:
            await write(engine)
        assert met.value.code == "guard-changes"
        assert met.value.observed == "0 rows"
        assert kit.digest(path) == before
    finally:
        await engine.close()


async def test_a_commit_that_fails_is_rolled_back(engine: CompatibilityEngine, path: Path) -> None:
    """And one after which the transaction is gone is said to be unknown."""
    before = kit.digest(path)
    guard = next(
        cell.cell_contents
        for cell in engine._hand.transact.__closure__  # type: ignore[union-attr]
        if type(cell.cell_contents).__name__ == "TransactionGuard"
    )
    end = guard._end

    def fails(word: str) -> None:
        if word == "COMMIT":
            raise sqlite3.OperationalError("disk I/O error")
        end(word)

    guard._end = fails
    with pytest.raises(StoreError):
        await write(engine)
    assert kit.digest(path) == before

    def lost(word: str) -> None:
        if word == "COMMIT":
            end("ROLLBACK")
            raise sqlite3.OperationalError("disk I/O error")
        end(word)

    guard._end = lost
    with pytest.raises(StateCompatibilityRefused) as met:
        await write(engine)
    assert met.value.code == "commit-unknown"
    assert kit.digest(path) == before
    guard._end = end
    await write(engine)


async def test_a_trigger_the_profile_declares_is_accounted_for(path: Path) -> None:
    """It writes within the profile, for the owner of the row; the rows counted are our own statement's."""
    kit.manager(
        path,
        "CREATE TRIGGER noted AFTER INSERT ON session_signals BEGIN UPDATE sessions SET updated_at = 4e9 "
        "WHERE id = NEW.session_id AND owner_id = NEW.owner_id; END",
    )
    declared = kit.profile(path)
    assert [shape.name for shape in declared.closure.objects] == ["noted"]
    engine = await kit.opened(path, using=declared)
    try:

        def signal() -> Steps[None]:
            yield kit.SIGNAL(id="s1", session="kim-old-sess", seq=1, at=1.0, owner="kim")

        await engine.run("insert_session_signal", signal, transaction="signal")
        assert 4e9 in next(row for row in kit.contents(path)["sessions"] if row[1] == "kim-old-sess")
        kit.manager(path, "DROP TRIGGER noted")
        with pytest.raises(StateCompatibilityRefused):  # a declared one that is gone is a difference, too
            await write(engine)
    finally:
        await engine.close()


async def test_a_trigger_that_could_set_itself_off_is_refused(path: Path) -> None:
    kit.manager(
        path,
        "CREATE TRIGGER again AFTER UPDATE ON sessions BEGIN "
        "UPDATE sessions SET desk_note = 'x' WHERE id = NEW.id; END",
    )
    before = kit.files(path)
    with pytest.raises(StateCompatibilityRefused) as met:
        await kit.opened(path, using=kit.profile(path))
    assert met.value.code in ("guard-trigger", "trigger-hazard") or "trigger" in met.value.code
    assert kit.files(path) == before


def test_two_entries_of_one_text_have_to_agree() -> None:
    first, *_ = kit.factory(kit.profile(), "kim").statements.values()
    from dataclasses import replace

    with pytest.raises(ValueError, match="differ"):
        write_set(kit.profile(), "kim", [first, replace(first, table="other")])
    with pytest.raises(ValueError, match="no parameter"):
        replace(first, owner=("nobody",))
    with pytest.raises(ValueError, match="no operation"):
        replace(first, operations=frozenset())
    both = write_set(kit.profile(), "kim", [first, replace(first, operations=frozenset(("other",)))])
    assert both.statements[first.text].operations == first.operations | {"other"}
