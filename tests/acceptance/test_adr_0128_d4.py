"""ADR-0128 D4: the write set is a manifest of operations, and a traced run proves it."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from persistence.engines import compatibility_opening
from persistence.profiles.needs import INVARIANTS, NEEDS
from persistence.writing.compatibility.declarations import NewId, Own, Rule
from persistence.writing.compatibility.manifest import (
    OPERATIONS,
    WITHOUT_STATEMENTS,
    book_of,
    by_table,
    compiled,
    needs,
    reference,
)
from persistence.writing.native.writer import NativeWriter
from persistence.writing.surface import RecordWrites, StoreWrites
from tests.managed import ALL, Spied, dump, live, make_run, profile_of, shipped
from tests.persistence.compatibility.lifecycle import live_through, no

FIRST = {
    "create_progression",
    "create_session",
    "create_branch",
    "insert_message",
    "persist_live_message",
    "append_to_progression",
    "insert_session_signal",
    "update_session",
    "update_artifact_verification",
    "merge_session_node_metadata",
    "update_status",
    "finalize_branch",
}


@pytest.mark.adr("0128-D4-01", "0128-D4-12")
def test_the_manifest_has_an_entry_an_operation() -> None:
    assert {name for name, one in OPERATIONS.items() if not one.optional} == FIRST
    assert all(name == one.name and hasattr(StateDB, name) for name, one in OPERATIONS.items())
    assert set(shipped().operations) <= set(OPERATIONS)
    for one in OPERATIONS.values():
        rows = [rule for rule in one.requires if isinstance(rule, NewId | Own)]
        assert rows or one.name in ("insert_message",), one.name


@pytest.mark.adr("0128-D4-02", "0128-D4-05", "0128-D4-06")
@pytest.mark.parametrize("name", ALL)
def test_an_entry_says_who_reaches_it_what_it_keeps_and_what_is_committed(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.reached_from and operation.does.endswith(".")
    assert operation.transaction and operation.leaves
    assert operation.keeps and set(operation.keeps) <= set(INVARIANTS)
    assert len({one.transaction for one in OPERATIONS.values()}) == len(OPERATIONS)
    assert "one-owner" in operation.keeps


@pytest.mark.adr("0128-D4-03", "0128-D4-04", "0128-D5-12")
def test_effects_and_row_predicates_are_declared_the_indirect_ones_too() -> None:
    effects = {
        name: {(spec.verb, spec.table) for spec in one.statements_beside(ALL)}
        for name, one in OPERATIONS.items()
    }
    assert {
        ("insert", "sessions"),
        ("insert", "status_transitions"),
        ("update", "invocations"),
    } <= effects["create_session"]
    assert ("insert", "message_types") in effects["insert_message"]
    assert {("insert", "status_transitions"), ("insert", "admin_events")} <= effects["update_status"]
    assert not any(table == "projects" for found in effects.values() for _, table in found)
    assert any("project" in said for said in OPERATIONS["create_session"].without)
    for one in OPERATIONS.values():
        assert all(rule.says for rule in one.requires)
        if ("insert", "message_types") in effects[one.name]:
            assert any(isinstance(rule, Rule) and rule.table == "message_types" for rule in one.requires)
    said = " ".join(rule.says for rule in OPERATIONS["create_session"].requires)
    assert "no row of sessions has" in said and "of the same owner" in said and "invocation" in said


@pytest.mark.adr("0128-D4-07")
@pytest.mark.parametrize("name", ALL)
def test_an_entry_names_tests_that_are_there(name: str, request: pytest.FixtureRequest) -> None:
    here = Path(__file__).resolve().parents[2]
    assert OPERATIONS[name].tests
    for test in OPERATIONS[name].tests:
        file, _, function = test.partition("::")
        function, _, parameter = function.partition("[")
        text = (here / file).read_text("utf-8")
        assert f"def {function}(" in text and parameter == f"{name}]"
        assert '@pytest.mark.parametrize("name", ALL)' in text


@pytest.mark.adr("0128-D4-08")
def test_tables_are_an_index_into_the_manifest() -> None:
    index = by_table()
    assert set(index["session_signals"]) == {"insert_session_signal"}
    assert "create_session" in index["invocations"] and "update_session" in index["invocations"]
    for table, names in index.items():
        for name in names:
            assert table in {spec.table for spec in OPERATIONS[name].statements}
    # What the loader of profiles asks for is the same, kept where nothing of SQLAlchemy is needed.
    for name, theirs in NEEDS.items():
        written = {table: need for table, need in theirs.tables.items() if need.insert or need.update}
        mine = needs(name)
        assert set(mine) == set(written), name
        for table, (inserts, updates) in mine.items():
            assert set(inserts) == set(written[table].insert), (name, table)
            assert set(updates) == set(written[table].update), (name, table)


@pytest.mark.adr("0128-D4-09", "0128-A2-10")
def test_what_reaches_the_store_otherwise_is_accounted_for() -> None:
    assert {"terminal callbacks", "steer tombstone sweep", "project registration"} <= set(WITHOUT_STATEMENTS)
    reached = {way for one in OPERATIONS.values() for way in one.reached_from}
    assert any("session-start" in way for way in reached) and any("branch-end" in way for way in reached)
    assert any("retry queue" in way for way in reached)


@pytest.mark.adr("0128-D4-02", "0128-D4-09")
@pytest.mark.parametrize(
    ("action", "module"), [("record", "record.py"), ("copy-run", "copying.py"), ("probe", "probe.py")]
)
def test_what_the_gated_actions_call_is_reached_from_them(action: str, module: str) -> None:
    actions = Path(__file__).resolve().parents[2] / "inspector" / "actions"
    text = (actions / module).read_text("utf-8") + (actions / "plan.py").read_text("utf-8")
    calls = set(re.findall(r'Call\(\s*"([a-z_]+)"', text))
    from_it = {
        name
        for name, one in OPERATIONS.items()
        if any(way.startswith(f"{action}: ") for way in one.reached_from)
    }
    assert {"create_session", "update_status"} <= calls
    assert calls == from_it


@pytest.mark.adr("0128-D4-18")
def test_the_operations_are_documented_and_fewer_than_natively() -> None:
    guide = (Path(__file__).resolve().parents[2] / "persistence" / "README.md").read_text("utf-8")
    part = guide.partition("## `writing/compatibility/`")[2].partition("\n## ")[0]
    assert all(f"`{name}`" in part for name in OPERATIONS)
    natively = {
        name
        for surface in (RecordWrites, StoreWrites)
        for name, value in vars(surface).items()
        if not name.startswith("_") and callable(value) and hasattr(NativeWriter, name)
    }
    assert set(OPERATIONS) < natively


def test_the_reference_is_plain_data_about_what_runs() -> None:
    page = reference(profile_of())
    texts = compiled(profile_of(), "kim").statements
    assert {row["sql"] for one in page["operations"] for row in one["statements"]} == set(texts)
    for one in page["operations"]:
        assert one["rows"] and one["tests"] and one["keeps"][0]["says"]
    assert page["owner"] == "owner_id" and page["tables"]["sessions"]
    only = reference(profile_of("create_progression"))
    assert [one["name"] for one in only["operations"]] == ["create_progression"]


VALUE = r"(?:NULL|-?[0-9.]+(?:e[+-]?[0-9]+)?|'(?:[^']|'')*')"
OF_THE_GUARD = re.compile(
    r"BEGIN IMMEDIATE|COMMIT|ROLLBACK|EXPLAIN .*|PRAGMA .*|-- .*|"
    r"SELECT (?:key, value|1|type, name, tbl_name, sql|count\(\*\)) FROM .*",
    re.DOTALL,
)


class Traced:
    """What SQLite itself says it executed on the writer's connection, with the values in place."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.on = False

    def __call__(self, text: str) -> None:
        if self.on:
            self.texts.append(text)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    seen = Traced()
    connect = compatibility_opening._connect

    def connected(*arguments: Any) -> Any:
        connection = connect(*arguments)
        sqlite3.Connection.set_trace_callback(connection, seen)
        return connection

    monkeypatch.setattr(compatibility_opening, "_connect", connected)
    return seen


@pytest.mark.adr("0128-D4-10", "0128-D8-06")
async def test_a_traced_life_runs_what_is_declared_and_all_of_it(
    traced: Traced, spied: Spied, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "20")
    book = book_of(profile_of())
    declared = {
        (name, entry.text): spec
        for name, operation in book.operations.items()
        for spec, entry in book.entries(operation)
    }
    async with StateDB(desk, profile=profile_of(), owner="kim") as db:
        traced.on = True
        await live_through(db, desk, tmp_path)
        traced.on = False
    ran = set(spied.texts)
    assert ran - set(declared) == set(), "a statement the manifest does not have"
    unseen = {(name, declared[name, text]) for name, text in set(declared) - ran}
    assert unseen == set(), "a declared statement that nothing runs"
    patterns = [re.compile(VALUE.join(re.escape(part) for part in text.split("?"))) for _, text in declared]
    for text in traced.texts:
        known = any(pattern.fullmatch(text) for pattern in patterns)
        assert known or OF_THE_GUARD.fullmatch(text), text
    matched = {pattern.pattern for pattern in patterns if any(map(pattern.fullmatch, traced.texts))}
    assert matched == {pattern.pattern for pattern in patterns}


@pytest.mark.adr("0128-D4-12", "0128-D4-17", "0128-D6-14", "0128-D6-15", "0128-D6-16")
async def test_rows_of_an_earlier_run_of_the_same_owner_are_not_written(run: StateDB, desk: Path) -> None:
    await run.close()
    async with StateDB(desk, profile=profile_of(), owner="kim") as later:
        await make_run(later, "2")
        before = dump(desk)
        for call in (
            live(later, "new"),
            later.update_session("s", name="mine"),
            later.update_status(
                "session", "s", new_status="running", reason_code="session.reopened.by_resume"
            ),
            later.finalize_branch("b", status="completed"),
            later.update_branch("b", name="x"),
            later.create_branch({"id": "b3", "session_id": "s", "progression_id": "bp2"}),
            later.create_session({"id": "s3", "progression_id": "sp"}),
            later.append_to_progression("bp", "m2"),
            later.append_to_progression("bp2", "m"),
            later.insert_session_signal(session_id="s", kind="k", ts=1.0, payload={}),
            later.merge_session_node_metadata("s", {"a": 1}),
            later.update_artifact_verification("s", {}),
            later.set_session_user_label("s", "x"),
        ):
            error = await no(call)
            assert error.code == "not-own"
        error = await no(later.insert_message({"id": "m", "content": {}, "role": "user"}))
        assert error.code == "id-taken"
        assert dump(desk) == before
