"""ADR-0055 D1 on a native store: the schema it has, what a write promises, what it never touches."""

from __future__ import annotations

import inspect
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData
from sqlalchemy.exc import IntegrityError

from persistence import ConstraintError, Mode, StateDB
from persistence.schema import metadata
from persistence.schema.known import GROUPS
from persistence.writing.native import backup as backup_module
from persistence.writing.surface import RecordWrites, StoreWrites
from tests.native import Backend, count
from tests.persistence.stores import make_filled, run_sql

GROUP_TABLES = {
    "0055-D1-07": ("conversation", "message_types messages progressions sessions branches"),
    "0055-D1-08": ("execution", "invocations shows plays teams team_messages"),
    "0055-D1-09": ("scheduling", "schedules schedule_runs workers"),
    "0055-D1-10": ("definitions", "definitions engine_defs workflow_defs"),
    "0055-D1-11": (
        "control",
        "schema_meta projects session_signals engine_runs session_controls run_tags approvals "
        "approval_evidence",
    ),
    "0055-D1-12": ("evidence", "artifacts status_transitions admin_events"),
    "0055-D1-13": ("delivery", "dispatch_outbox"),
}
NESTED: dict[str, Any] = {
    "text": 'a "quoted" \\ tab\t nl\n é 漢 👩‍🔬 \u202e \x7f',
    "numbers": [0, -1, 2**63 - 1, -(2**63), 1.5, 0.1, 1e300, -2.5e-10],
    "flags": [True, False, None],
    "deep": {"a": {"b": [{"c": [[], {}, ""]}]}},
    "": "an empty key",
}


@pytest.mark.adr("0055-D1-06")
async def test_a_new_store_has_exactly_the_metadata_s_tables(native: StateDB) -> None:
    assert isinstance(metadata, MetaData)
    shapes = {shape.name: shape for shape in await native.catalogue()}
    assert set(shapes) == set(metadata.tables)
    assert len(shapes) == 32
    for name, table in metadata.tables.items():
        shape = shapes[name]
        assert [column.name for column in shape.columns] == [column.name for column in table.columns], name
        assert set(shape.primary_key) == {column.name for column in table.primary_key}, name
        required = {c.name for c in shape.columns if not c.nullable or c.primary_key}
        assert required == {column.name for column in table.columns if not column.nullable}, name
        keys = {(key.columns, key.table, key.on_delete) for key in shape.foreign_keys}
        assert keys == {
            ((key.parent.name,), key.column.table.name, key.ondelete or "NO ACTION")
            for key in table.foreign_keys
        }, name
        checks = [one for one in table.constraints if type(one).__name__ == "CheckConstraint"]
        assert len(shape.checks) == len(checks), name
        made = {index.name for index in shape.indexes if index.origin == "c"}
        assert {str(index.name) for index in table.indexes} <= made, name


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=pytest.mark.adr(number)) for number in GROUP_TABLES]
)
async def test_the_groups_of_the_schema(native: StateDB, number: str) -> None:
    group, names = GROUP_TABLES[number]
    assert GROUPS[group] == tuple(names.split())
    shapes = {shape.name: shape.group for shape in await native.catalogue()}
    assert [shapes.get(name) for name in names.split()] == [group] * len(names.split())


@pytest.mark.adr("0055-D1-14")
async def test_mappings_and_scalars_go_in_and_come_out(native: StateDB, native_session: str) -> None:
    plain = (dict, list, str, int, float, bool, bytes, type(None))

    def only_plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(isinstance(k, str) and only_plain(v) for k, v in value.items())
        if isinstance(value, list):
            return all(only_plain(part) for part in value)
        return isinstance(value, plain)

    await native.insert_message({"id": "m", "content": NESTED, "role": "user", "embedding": [0.5]})
    await native.insert_artifact(kind="k", name="n", content=NESTED)
    answers = [
        await native.get_session("s"),
        await native.get_message("m"),
        list(await native.list_artifacts()),
        await native.fetch_one("SELECT * FROM sessions"),
    ]
    assert all(map(only_plain, answers))
    for surface in (RecordWrites, StoreWrites):
        for name, method in inspect.getmembers(surface, inspect.isfunction):
            hints = " ".join(map(str, inspect.get_annotations(method).values()))
            assert "IO" not in hints and "Path" not in hints, name


@pytest.mark.adr("0055-D1-15")
async def test_each_create_takes_one_mapping_writes_one_row_and_returns_none(
    native: StateDB, native_session: str
) -> None:
    await native.create_schedule({"id": "sc", "name": "n", "trigger_type": "cron", "action_kind": "agent"})
    calls = {
        "sessions": (native.create_session, {"id": "s2", "progression_id": "ps"}),
        "messages": (native.insert_message, {"id": "m", "content": {"a": 1}, "role": "user"}),
        "branches": (native.create_branch, {"id": "b2", "session_id": "s", "progression_id": "pb"}),
        "invocations": (native.create_invocation, {"id": "i", "skill": "review"}),
        "schedule_runs": (
            native.create_schedule_run,
            {
                "id": "r",
                "schedule_id": "sc",
                "action_kind": "agent",
                "trigger_context": {},
                "action_args": {},
            },
        ),
    }
    for table, (method, mapping) in calls.items():
        before = await count(native, table)
        given = dict(mapping)
        assert await method(mapping) is None  # type: ignore[func-returns-value]
        assert mapping == given, "the caller's mapping is the caller's"
        assert await count(native, table) == before + 1, table
        assert len(inspect.signature(method).parameters) == 1


@pytest.mark.adr("0055-D1-17")
async def test_insert_admin_event(native: StateDB) -> None:
    parameters = inspect.signature(native.insert_admin_event).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "action": inspect.Parameter.empty,
        "details": inspect.Parameter.empty,
        "target_id": None,
        "actor": "admin",
    }
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in parameters.values())
    event_id = await native.insert_admin_event(action="doctor.run", details={"checks": [1, 2]})
    assert isinstance(event_id, str)
    assert await count(native, "admin_events") == 1
    row = await native.get_admin_event(event_id)
    assert row is not None
    assert (row["action"], row["details"], row["target_id"], row["actor"]) == (
        "doctor.run",
        {"checks": [1, 2]},
        None,
        "admin",
    )


@pytest.mark.adr("0055-D1-18")
async def test_what_returned_is_there_and_what_was_rolled_back_is_not(native_backend: Backend) -> None:
    async with StateDB(native_backend.location, mode=Mode.NATIVE) as db:
        await db.create_progression("kept", ["a"])
        with pytest.raises(RuntimeError, match="not this one"):
            async with db.transaction() as transaction:
                await transaction.create_progression("lost")
                assert await transaction.fetch_one("SELECT id FROM progressions WHERE id = 'lost'")
                raise RuntimeError("not this one")
        with pytest.raises(ConstraintError):
            await db.create_session({"id": "s", "progression_id": "nowhere", "status": "running"})
        async with db.transaction() as transaction:
            await transaction.create_progression("together-1")
            await transaction.create_progression("together-2")
    async with StateDB(native_backend.location, mode=Mode.NATIVE) as db:
        ids = {row["id"] for row in await db.list_progressions()}
        assert ids == {"kept", "together-1", "together-2"}
        assert await count(db, "sessions") == await count(db, "status_transitions") == 0


@pytest.mark.adr("0055-D1-19", "0055-D1-25", "0055-D1-29")
async def test_files_that_rows_name_are_nobody_s_business(
    native: StateDB, native_session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there.md"
    there.write_text("mine")
    before = there.stat()
    odd = [
        "",
        str(there),
        "/nowhere/at/all",
        "../../up",
        "a*b?",
        "C:\\x",
        "~/x",
        "a\nb",
        "file:///x",
        "ü" * 300,
    ]
    opened: list[str] = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **named: opened.append(path) or real(path, *rest, **named)
    )
    for number, path in enumerate(odd):
        for name in ("one", "two"):  # two rows may name one file
            await native.insert_artifact(kind="k", name=f"{name} {number}", content={}, file_path=path)
        await native.save_definition(kind="agent", name=f"d{number}", path=path, content="text")
        await native.update_session("s", artifacts_path=path)
    with pytest.raises(RuntimeError):
        async with native.transaction() as transaction:
            await transaction.insert_artifact(kind="k", name="gone", content={}, file_path=str(there))
            raise RuntimeError
    monkeypatch.undo()
    stored = {row["name"]: row["file_path"] for row in await native.list_artifacts()}
    assert stored == {f"{name} {n}": path for n, path in enumerate(odd) for name in ("one", "two")}
    assert there.read_text() == "mine"
    assert (there.stat().st_mtime_ns, there.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert not [path for path in opened if str(path).startswith(str(there))]
    assert not Path("/nowhere").exists()


@pytest.mark.adr("0055-D1-23")
async def test_a_foreign_key_that_names_no_row(native: StateDB, native_session: str) -> None:
    calls: list[Any] = [
        lambda: native.create_session({"id": "s2", "progression_id": "none"}),
        lambda: native.create_branch({"id": "b2", "session_id": "none", "progression_id": "pb"}),
        lambda: native.insert_artifact(kind="k", name="n", content={}, session_id="none"),
        lambda: native.create_play({"id": "p", "show_id": "none", "name": "n"}),
        lambda: native.insert_session_signal(session_id="none", kind="k", ts=1.0, payload={}),
        lambda: native.execute("DELETE FROM progressions WHERE id = 'ps'"),
    ]
    for call in calls:
        with pytest.raises(IntegrityError) as refused:
            await call()
        assert isinstance(refused.value, ConstraintError)
    assert await count(native, "sessions") == await count(native, "branches") == 1
    assert await count(native, "artifacts") == 0


@pytest.mark.adr("0055-D1-24")
async def test_a_key_that_is_taken(native: StateDB, native_session: str) -> None:
    await native.create_invocation({"id": "i", "skill": "review"})
    await native.create_show({"id": "sh", "topic": "t", "show_dir": "d"})
    await native.create_project("p")
    calls: list[Any] = [
        lambda: native.create_session({"id": "s", "progression_id": "ps"}),
        lambda: native.create_invocation({"id": "i", "skill": "other"}),
        lambda: native.create_show({"id": "sh2", "topic": "t", "show_dir": "d"}),
        lambda: native.create_project("p"),
    ]
    for call in calls:
        with pytest.raises(IntegrityError):
            await call()
    # Those that declare a rule of their own for the clash:
    await native.create_progression("ps", ["x"])
    await native.create_branch({"id": "b", "session_id": "s", "progression_id": "pb", "name": "other"})
    for text in ("one", "two"):
        await native.insert_message({"id": "m", "content": {"text": text}, "role": "user"})
    message = await native.get_message("m")
    assert message is not None and message["content"] == {"text": "two"}
    branch = await native.get_branch("b")
    assert branch is not None and branch["name"] is None
    assert await native.get_progression("ps") == []


@pytest.mark.adr("0055-D1-26")
async def test_nested_values_read_back_equal(native: StateDB, native_session: str) -> None:
    await native.insert_message({"id": "m", "content": NESTED, "role": "user", "node_metadata": NESTED})
    await native.update_session("s", node_metadata=NESTED, artifact_contract_json={"expected": []})
    await native.insert_artifact(kind="k", name="n", content=NESTED, session_id="s")
    await native.insert_admin_event(action="a", details=NESTED)
    await native.insert_session_signal(session_id="s", kind="k", ts=1.0, payload=NESTED)
    await native.create_workflow_def({"id": "w", "name": "w", "spec_json": NESTED})
    message, row = await native.get_message("m"), await native.get_session("s")
    workflow = await native.get_workflow_def("w")
    assert message is not None and row is not None and workflow is not None
    assert message["content"] == message["node_metadata"] == row["node_metadata"] == NESTED
    assert workflow["spec_json"] == NESTED
    assert [artifact["content"] for artifact in await native.list_artifacts()] == [NESTED]
    assert [event["details"] for event in await native.list_admin_events()] == [NESTED]
    assert [signal["payload"] for signal in await native.list_session_signals("s")] == [NESTED]


@pytest.mark.adr("0055-D1-01")
async def test_both_engines_answer_alike(native_file: Path, native_database: str, tmp_path: Path) -> None:
    """The same calls on both, and every row both then have, compared; ids and moments of their own aside."""

    async def fill(db: StateDB) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        await db.create_progression("p", ["x"])
        await db.create_session(
            {"id": "s", "progression_id": "p", "status": "running", "created_at": 1.0, "name": "é"}
        )
        await db.create_branch({"id": "b", "session_id": "s", "progression_id": "p", "created_at": 1.0})
        await db.insert_messages(
            [
                {"id": f"m{n}", "created_at": n / 2, "content": {"n": n, "t": "漢"}, "role": "user",
                 "node_metadata": {"lion_class": f"acme.C{n % 2}"}}
                for n in range(5)
            ],
            progression_ids=["p"],
            session_id="s",
            activity_at=2e9,
        )  # fmt: skip
        answers["status"] = await db.update_status(
            "run", "s", new_status="failed", reason_code="run.failed.exception", evidence_refs=[{"a": 1}]
        )
        answers["again"] = await db.update_status(
            "session", "s", new_status="failed", reason_code="run.failed.exception", expected_statuses={None}
        )
        answers["versions"] = [
            await db.save_definition(kind="agent", name="n", path="p", content=str(n)) for n in range(2)
        ]
        await db.insert_artifact(kind="k", name="n", content={"a": [1, None]}, session_id="s", file_path="x")
        answers["signals"] = [
            await db.insert_session_signal(session_id="s", kind="k", ts=float(n), payload={"n": n})
            for n in range(3)
        ]
        answers["progression"] = await db.get_progression("p")
        answers["branch"] = [message["id"] for message in await db.get_branch_messages("b")]
        answers["missing"] = [await db.get_session("no"), list(await db.list_branches("no"))]
        for name in ("sessions", "branches", "messages", "artifacts", "status_transitions"):
            page = await getattr(db, f"list_{name}")()
            answers[name] = [
                {k: v for k, v in row.items() if k not in ("id", "updated_at", "ended_at", "created_at")}
                for row in page
            ]
        return answers

    path = tmp_path / "state.db"
    path.write_bytes(native_file.read_bytes())
    async with StateDB(path, mode=Mode.NATIVE) as file, StateDB(native_database, mode=Mode.NATIVE) as server:
        of_file, of_server = await fill(file), await fill(server)
    assert json.loads(json.dumps(of_file)) == json.loads(json.dumps(of_server))


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.adr("0055-D1-32")
async def test_a_backup_holds_rows_and_no_file_they_name(tmp_path: Path) -> None:
    """The copy a migration makes is of the store alone, and nothing says that it is of more."""
    secret = b"what only the files hold: 7c1f94"
    outside = tmp_path / "run"
    outside.mkdir()
    for name in ("clerk.md", "board.md"):
        (outside / name).write_bytes(secret)
    path = make_filled(_folder(tmp_path / "store") / "state.db", "0.28.0")
    run_sql(
        path,
        "DELETE FROM schema_meta WHERE key = 'lineage'",
        "UPDATE schema_meta SET value = '1' WHERE key = 'version'",
        f"UPDATE definitions SET path = '{outside / 'clerk.md'}'",
        f"UPDATE artifacts SET file_path = '{outside / 'board.md'}'",
        f"UPDATE sessions SET artifacts_path = '{outside}'",
    )
    async with StateDB(path, mode=Mode.NATIVE) as db:
        assert db.applied is not None and db.applied.backup is not None
        backup = Path(db.applied.backup)
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, backup.name}
    assert secret not in backup.read_bytes() and secret not in path.read_bytes()
    with closing(sqlite3.connect(backup)) as copied:
        assert copied.execute("SELECT DISTINCT file_path FROM artifacts").fetchall() == [
            (str(outside / "board.md"),)
        ]
    said = " ".join(filter(None, (inspect.getdoc(backup_module), inspect.getdoc(backup_module.make_backup))))
    assert "artifact" not in said and "definition" not in said
