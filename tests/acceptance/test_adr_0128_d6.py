"""ADR-0128 D6: what compatibility mode refuses, before any statement and with every byte as it was."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persistence import StateCompatibilityRefused, StateDB, StoreError
from persistence.writing.surface import RecordWrites, StoreWrites
from tests.managed import Spied, dump, live, make_run, message, profile_of, shipped, stamps

SURFACE = [
    name
    for surface in (RecordWrites, StoreWrites)
    for name, value in vars(surface).items()
    if not name.startswith("_") and inspect.isfunction(value)
]
OUTSIDE = sorted(set(SURFACE) - set(shipped().operations) - {"execute", "transaction"})
NOT_OF_THE_FACADE = (
    "migrate",
    "create_all",
    "rebuild",
    "backfill",
    "stamp",
    "prune",
    "preview_prune",
    "erase_content",
    "import_session",
    "insert_rows",
    "repair",
    "repair_session_progression",
    "repair_branch_progression",
    "delete_imported_session",
    "set_session_provenance",
    "mark_session_control_applying",
    "submit_run",
)
"""Operations other writers of such stores have; a name that is not the manifest's refuses, whatever it is."""

SAYS = {
    "vacuum": "maintenance",
    "checkpoint": "maintenance",
    "prune": "maintenance",
    "import_session": "maintenance",
    "delete_schedule": "removes rows",
    "delete_project": "removes rows",
    "delete_engine_def": "removes rows",
    "delete_workflow_def": "removes rows",
    "delete_imported_session": "removes rows",
    "set_progression": "order of a progression",
    "update_workflow_def": "revisions",
    "attach_session_invocation": "did not make",
    "insert_session_control": "did not make",
    "create_schedule": "outside a fresh run",
    "insert_engine_run": "outside a fresh run",
    "create_invocation": "outside a fresh run",
    "register_project": "project",
}


@pytest.fixture
async def first(desk: Path) -> Any:
    """A handle of the catalogue's own profile, in the middle of a run."""
    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        await make_run(db)
        yield db


def nonsense(method: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of the wrong kinds for all that the signature requires."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.default is not parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = object()
        else:
            positional.append(object())
    return positional, named


@pytest.mark.adr(
    "0128-D6-01", "0128-D6-17", "0128-D6-18", "0128-D6-19", "0128-D3-14", "0128-A2-61", "0128-D6-11"
)
@pytest.mark.parametrize("name", OUTSIDE)
async def test_what_the_profile_does_not_name_is_refused_before_anything(
    name: str, first: StateDB, desk: Path, spied: Spied
) -> None:
    before, written = dump(desk), stamps(desk)
    spied.clear()
    method = getattr(first, name)
    positional, named = nonsense(method)
    with pytest.raises(StateCompatibilityRefused) as caught:
        await method(*positional, **named)
    error = caught.value
    assert (error.operation, error.profile, error.committed) == (name, shipped().identity, ())
    assert error.message.startswith(f"{name}: ") and error.remedy and error.code == "not-in-profile"
    assert SAYS.get(name, "the profile does not name it") in error.message
    assert spied.texts == [] and dump(desk) == before and stamps(desk) == written
    again = pickle.loads(pickle.dumps(error))
    assert again.as_dict() == error.as_dict() and again.as_dict()["operation"] == name
    assert again.reason == error.message == error.as_dict()["message"]
    await live(first, "next")  # and the run goes on


@pytest.mark.adr(
    "0128-D6-02",
    "0128-D6-03",
    "0128-D6-05",
    "0128-D6-06",
    "0128-D6-07",
    "0128-D6-09",
    "0128-D6-10",
    "0128-D6-11",
)
@pytest.mark.parametrize("name", NOT_OF_THE_FACADE)
async def test_operations_of_other_writers_are_refused_by_name(
    name: str, first: StateDB, desk: Path, spied: Spied
) -> None:
    before = dump(desk)
    spied.clear()
    with pytest.raises(StateCompatibilityRefused, match=SAYS.get(name, name)) as caught:
        getattr(first._writer, name)("lee-sess")
    assert caught.value.operation == name
    assert spied.texts == [] and dump(desk) == before


@pytest.mark.adr("0128-D6-04", "0128-D6-08", "0128-D6-13")
@pytest.mark.parametrize("mode", ["PASSIVE", "FULL", "RESTART", "TRUNCATE", "no mode"])
async def test_vacuum_and_checkpoints_of_every_mode_are_refused(
    first: StateDB, desk: Path, mode: str
) -> None:
    written = stamps(desk)
    for call in (first.checkpoint(mode), first.vacuum(), first.update_workflow_def("w", name="n")):
        with pytest.raises(StateCompatibilityRefused):
            await call
    assert stamps(desk) == written


@pytest.mark.adr("0128-D6-12")
@pytest.mark.parametrize("progression", ["sp", "lee-prog", "kim-old-prog"])
@pytest.mark.parametrize("collection", [[], ["m"]])
async def test_an_order_is_never_replaced(
    first: StateDB, desk: Path, progression: str, collection: list[str]
) -> None:
    before = dump(desk)
    with pytest.raises(StateCompatibilityRefused):
        await first.set_progression(progression, collection)
    assert dump(desk) == before


WRITES = (
    "INSERT INTO message_types (lion_class) VALUES ('x')",
    "UPDATE sessions SET desk_pinned = 1",
    "DELETE FROM messages",
    "CREATE TABLE t (a)",
    "INSERT INTO message_types (lion_class) VALUES ('x') RETURNING type_id",
    "WITH a AS (SELECT 'x' AS v) INSERT INTO message_types (lion_class) SELECT v FROM a",
    "REPLACE INTO message_types VALUES (0, 'x')",
    "INSERT OR REPLACE INTO messages SELECT * FROM messages",
    "UPDATE OR REPLACE messages SET id = 'x'",
    "ATTACH 'other.db' AS o",
    "DETACH o",
    "CREATE TEMP TABLE t (a)",
    "CREATE TEMP TRIGGER tt AFTER INSERT ON messages BEGIN SELECT 1; END",
    "VACUUM",
    "VACUUM INTO 'vac.db'",
    "ANALYZE",
    "REINDEX",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT s",
    "COMMIT",
    "SELECT load_extension('x')",
    "PRAGMA user_version = 5",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA optimize",
    "PRAGMA writable_schema = ON",
)
READS = (
    "SELECT 1",
    "VALUES (1)",
    "PRAGMA table_info(sessions)",
    "PRAGMA user_version",
    "SELECT name FROM pragma_table_info('sessions') LIMIT 1",
    "SELECT value FROM json_each('[1]')",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT count(*) FROM c",
)


@pytest.mark.adr("0128-D3-16", "0128-D3-17", "0128-D3-18", "0128-D3-19", "0128-D3-20", "0128-D3-21")
@pytest.mark.parametrize("sql", WRITES)
async def test_sql_that_does_not_read_is_refused_on_every_way(first: StateDB, desk: Path, sql: str) -> None:
    before, written = dump(desk), stamps(desk)
    for ask in (first.execute, first.fetch_all, first.fetch_one):
        with pytest.raises(StateCompatibilityRefused) as caught:
            await ask(sql)
        assert caught.value.code == "not-a-read" and caught.value.profile == shipped().identity
    async with first.transaction() as reads:
        assert await reads.fetch_one("SELECT 1 AS n") == {"n": 1}
        with pytest.raises(StateCompatibilityRefused):
            await reads.execute(sql)
        with pytest.raises(StoreError) as over:
            await reads.fetch_all("SELECT 1")
        assert over.value.code == "transaction-over"
    assert dump(desk) == before and stamps(desk) == written
    assert not list(desk.parent.glob("*vac*")) and not list(desk.parent.glob("other*"))


@pytest.mark.adr("0128-D3-18")
@pytest.mark.parametrize("sql", READS)
async def test_sql_that_reads_is_served(first: StateDB, sql: str) -> None:
    assert await first.fetch_all(sql)
    assert await first.execute(sql) is None
    async with first.transaction() as reads:
        assert await reads.fetch_all(sql)


async def test_two_statements_in_one_text_run_neither(first: StateDB, desk: Path) -> None:
    before = dump(desk)
    for ask in (first.execute, first.fetch_all):
        with pytest.raises(StoreError):
            await ask("SELECT 1; DELETE FROM messages")
    assert dump(desk) == before


@pytest.mark.adr("0128-D3-17")
async def test_an_operation_within_a_transaction_is_refused_and_ends_it(first: StateDB, desk: Path) -> None:
    before = dump(desk)
    async with first.transaction() as reads:
        with pytest.raises(StateCompatibilityRefused) as caught:
            await reads.insert_message({"id": "x"})
        assert caught.value.operation == "insert_message"
        with pytest.raises(StoreError):
            await reads.fetch_one("SELECT 1")
    assert dump(desk) == before


@pytest.mark.adr("0128-D6-25", "0128-D6-19")
async def test_what_was_committed_before_is_told(desk: Path) -> None:
    from persistence.runs import RunRecorder

    no_branch = profile_of(*(name for name in shipped().operations if name != "create_branch"))
    async with StateDB(desk, profile=no_branch, owner="kim") as db:
        with pytest.raises(StateCompatibilityRefused) as caught:
            await RunRecorder(db, session_id="s").begin()
        assert caught.value.operation == "create_branch"
        assert caught.value.committed == ("progression", "session")
        assert "othing of this operation was done" in caught.value.message
        session = await db.get_session("s")
        assert session is not None and session["status"] == "failed"


@pytest.mark.adr("0128-D6-25")
async def test_no_error_half_way_says_that_nothing_was_written(desk: Path) -> None:
    """Of whatever type: what it says of nothing written is said of its own operation."""
    from persistence.runs import RunRecorder

    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        run = RunRecorder(db)
        await run.begin()
        for spoiled, code in (({"created_at": "never"}, "value-refused"), ({"id": "lee-msg"}, "id-taken")):
            with pytest.raises(StoreError) as caught:
                await run.message(message("m") | spoiled)
            error = caught.value
            assert error.code == code and error.committed == ("progression", "session", "branch")
            said = f"{error} {error.message} {error.remedy}"
            assert "nothing was written" not in said.lower()
            assert "othing of this operation was written" in said
            assert pickle.loads(pickle.dumps(error)).as_dict() == error.as_dict()


@pytest.mark.adr("0128-D1-12")
async def test_a_handle_that_is_not_open_writes_nothing(desk: Path) -> None:
    db = StateDB(desk, profile=shipped(), owner="nobody")
    before = dump(desk)
    with pytest.raises(StateCompatibilityRefused):
        await db.open()
    assert not db.is_open
    for name in shipped().operations:
        positional, named = nonsense(getattr(db, name))
        with pytest.raises(StoreError) as caught:
            await getattr(db, name)(*positional, **named)
        assert caught.value.code == "not-open"
    assert dump(desk) == before
