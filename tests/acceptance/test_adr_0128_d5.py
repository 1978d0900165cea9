"""ADR-0128 D5: the owner is on every insert and in every update, and shared along a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persistence import StateCompatibilityRefused, StateDB
from persistence.lineage.rows import quoted
from persistence.profiles import closure
from persistence.profiles.records import Profile, WriteRule
from persistence.writing.compatibility.declarations import Rule
from persistence.writing.compatibility.manifest import OPERATIONS, book_of, compiled
from tests.managed import dump, live, make_run, manager, message, profile_of, stamps
from tests.persistence.compatibility.lifecycle import live_through, no

OWNED = ("progressions", "messages", "sessions", "branches", "session_signals", "status_transitions")
Ask = Callable[[StateDB], Coroutine[Any, Any, Any]]


def owned_columns(path: Path) -> dict[str, int]:
    """The tables that have the owner's column, and where it stands."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = {}
        for name in tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(name)})")]
            if "owner_id" in columns:
                found[name] = columns.index("owner_id")
    return found


@pytest.mark.adr("0128-D5-01", "0128-D5-02", "0128-D5-04", "0128-A2-50")
async def test_every_row_a_life_adds_carries_the_owner_never_the_default(
    desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "20")
    before = dump(desk)
    async with StateDB(desk, profile=profile_of(), owner="kim") as db:
        await live_through(db, desk, tmp_path)
    after = dump(desk)
    where = owned_columns(desk)
    for table, position in where.items():
        added = [row for row in after[table] if row not in before[table]]
        # What the test's own manager gave to lee meanwhile apart.
        assert {row[position] for row in added if not str(row[0]).endswith("-t")} <= {"kim"}, table
        assert table not in OWNED or added, table
    assert not any(
        "acme-system" in row for table in OWNED for row in after[table] if row not in before[table]
    )


@pytest.mark.adr("0128-D5-01", "0128-D5-05")
def test_every_statement_on_an_owned_table_carries_the_owner() -> None:
    profile = profile_of()
    for entry in compiled(profile, "kim").statements.values():
        shape = profile.closure.table(entry.table)
        owned = shape is not None and shape.column("owner_id") is not None
        assert bool(entry.owner) is (owned and entry.verb != "select"), entry.text
        if entry.verb == "update":
            assert f"{entry.table}.owner_id = ?" in entry.text.partition("WHERE")[2]


@pytest.mark.adr("0128-D5-06")
def test_no_statement_updates_a_row_that_an_insert_met() -> None:
    texts = compiled(profile_of(), "kim").statements
    assert not any("DO UPDATE" in text or " OR REPLACE" in text or "RETURNING" in text for text in texts)
    # What is written again is an update of its own, with the owner among its conditions.
    again = [entry for entry in texts.values() if entry.verb == "update" and entry.table == "messages"]
    assert again and all(entry.owner == ("owner",) for entry in again)


@pytest.mark.adr("0128-D5-04")
@pytest.mark.parametrize("owner", [None, "", "nobody", "KIM"])
async def test_without_a_principal_there_is_no_open(desk: Path, owner: str | None) -> None:
    before, written = dump(desk), stamps(desk)
    with pytest.raises(StateCompatibilityRefused):
        await StateDB(desk, profile=profile_of(), owner=owner).open()
    assert dump(desk) == before and stamps(desk) == written


FOREIGN: dict[str, Ask] = {
    "a message": lambda db: db.insert_message(message("lee-msg")),
    "a live message": lambda db: live(db, "lee-msg"),
    "a session": lambda db: db.create_session({"id": "lee-sess", "progression_id": "sp"}),
    "a branch": lambda db: db.create_branch({"id": "lee-branch", "session_id": "s", "progression_id": "bp"}),
    "a progression": lambda db: db.create_progression("lee-prog"),
}


@pytest.mark.adr("0128-D5-07", "0128-D8-13")
@pytest.mark.parametrize("what", FOREIGN)
async def test_an_id_of_another_principal_refuses_and_stays(run: StateDB, desk: Path, what: str) -> None:
    before = dump(desk)
    error = await no(FOREIGN[what](run))
    assert error.code == "id-taken" and "another owner's" in error.message and "lee" in str(error.observed)
    assert dump(desk) == before


@pytest.mark.adr("0128-D5-08", "0128-D5-09", "0128-D5-10")
@pytest.mark.parametrize(
    ("stolen", "asks"),
    [
        ("sessions:s", ("a branch", "a live message", "a signal")),
        ("progressions:bp", ("a branch", "a live message", "an append", "a session")),
        ("messages:m", ("an order", "a branch with it", "an append of it", "a link")),
    ],
)
async def test_links_share_one_owner_also_after_the_manager_changed_one(
    run: StateDB, desk: Path, stolen: str, asks: tuple[str, ...]
) -> None:
    calls: dict[str, Ask] = {
        "a branch": lambda db: db.create_branch({"id": "n", "session_id": "s", "progression_id": "bp"}),
        "a live message": lambda db: live(db, "n"),
        "a signal": lambda db: db.insert_session_signal(session_id="s", kind="k", ts=1.0, payload={}),
        "an append": lambda db: db.append_to_progression("bp", "m2"),
        "a session": lambda db: db.create_session({"id": "n", "progression_id": "bp"}),
        "an order": lambda db: db.create_progression("n", ["m"]),
        "a branch with it": lambda db: db.create_branch(
            {"id": "n", "session_id": "s", "progression_id": "bp", "system_msg_id": "m"}
        ),
        "an append of it": lambda db: db.append_to_progression("bp", "m"),
        "a link": lambda db: db.update_branch("b", system_msg_id="m"),
    }
    await run.insert_message(message("m2"))
    table, _, identity = stolen.partition(":")
    manager(desk, f"UPDATE {table} SET owner_id = 'lee' WHERE id = '{identity}'")
    before = dump(desk)
    for what in asks:
        error = await no(calls[what](run))
        assert error.code == "row-gone", what
        assert dump(desk) == before


@pytest.mark.adr("0128-D5-12")
def test_a_look_up_table_has_a_rule_of_its_own() -> None:
    for name in ("insert_message", "persist_live_message"):
        (rule,) = [
            one for one in OPERATIONS[name].requires if isinstance(one, Rule) and one.table == "message_types"
        ]
        assert "no owner" in rule.says
    entry = next(
        one for one in compiled(profile_of(), "kim").statements.values() if one.table == "message_types"
    )
    assert entry.owner == ()


def without_owner_column(desk: Path, table: str) -> Profile:
    """acme-desk's store with a linking table that has no owner, and a profile made for it."""
    shape = profile_of().closure.table(table)
    assert shape is not None
    columns = (
        "id TEXT NOT NULL PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, "
        "op_id TEXT NOT NULL DEFAULT '', ts REAL NOT NULL, payload JSON NOT NULL DEFAULT '{}', "
        "UNIQUE (session_id, seq)"
    )
    manager(desk, f"DROP TABLE {table}", f"CREATE TABLE {table} ({columns})")
    with closing(sqlite3.connect(desk)) as connection:
        live_closure = closure.read(connection, [one.name for one in profile_of().closure.tables.values()])
    writes = dict(profile_of().writes)
    rule = writes[table]
    writes[table] = WriteRule(tuple(name for name in rule.insert if name != "owner_id"), (), rule.unwritten)
    return replace(profile_of(), closure=live_closure, writes=writes)


@pytest.mark.adr("0128-D5-11")
async def test_a_linking_table_without_owner_is_checked_through_its_parent(desk: Path) -> None:
    profile = without_owner_column(desk, "session_signals")
    entries = [
        entry
        for _, entry in book_of(profile).entries(OPERATIONS["insert_session_signal"])
        if entry.verb == "insert"
    ]
    assert [entry.owner for entry in entries] == [()]
    async with StateDB(desk, profile=profile, owner="kim") as db:
        await make_run(db)
        assert await db.insert_session_signal(session_id="s", kind="k", ts=1.0, payload={}) == 1
        manager(desk, "UPDATE sessions SET owner_id = 'lee' WHERE id = 's'")
        before = dump(desk)
        error = await no(db.insert_session_signal(session_id="s", kind="k", ts=2.0, payload={}))
        assert error.code == "row-gone"
        assert dump(desk) == before


@pytest.mark.adr("0128-D8-13", "0128-D1-15")
async def test_two_principals_write_beside_each_other(desk: Path) -> None:
    before = dump(desk)
    async with (
        StateDB(desk, profile=profile_of(), owner="kim") as kim,
        StateDB(desk, profile=profile_of(), owner="lee") as lee,
    ):
        await make_run(kim, "-kim")
        await make_run(lee, "-lee")
        for db, other in ((kim, "-lee"), (lee, "-kim")):
            error = await no(db.update_session(f"s{other}", name="mine"))
            assert error.code == "not-own"
            assert (await no(db.insert_message(message(f"m{other}")))).code == "id-taken"
            assert (await no(live(db, "x", other))).code == "not-own"
    after = dump(desk)
    where = owned_columns(desk)
    for owner, key in (("kim", "-kim"), ("lee", "-lee")):
        added = [
            row
            for table in ("progressions", "messages", "sessions", "branches")
            for row in after[table]
            if row not in before[table] and row[where[table]] == owner
        ]
        assert {row[0] for row in added} == {f"{one}{key}" for one in ("sp", "bp", "m", "s", "b")}


async def test_a_profile_without_owners_goes_by_what_the_run_made(desk: Path) -> None:
    bare = replace(profile_of(), owner=None)
    texts = compiled(bare, None).statements
    assert all(entry.owner == () for entry in texts.values())
    assert not any("owner" in text for text in texts)
