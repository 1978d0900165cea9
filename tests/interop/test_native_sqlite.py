"""Native stores on SQLite, shared both ways with the real lionagi 0.36.0."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB
from tests.interop.conftest import RealStore
from tests.interop.natively import call, dump, fill, run_calls
from tests.persistence.writing.shapes import shape

THEIRS = {
    "id": "theirs",
    "created_at": 50.0,
    "content": {"a": "潮"},
    "role": "user",
    "node_metadata": {"lion_class": "acme.custom.New"},
}


@pytest.fixture
async def ours(tmp_path: Path) -> Path:
    """A store we made and filled."""
    path = tmp_path / "ours" / "state.db"
    async with StateDB(path, mode=Mode.NATIVE) as db:
        await fill(db)
    return path


def test_a_store_we_make_equals_one_they_make_object_by_object(native_file: Path, made: RealStore) -> None:
    assert shape(native_file) == shape(made.path)
    theirs, mine = dump(made.path), dump(native_file)
    assert set(theirs) == set(mine)
    keys = {row[0] for row in theirs["schema_meta"]}
    assert {row[0] for row in mine["schema_meta"]} == keys
    assert mine["message_types"][:6] == theirs["message_types"][:6]


async def test_they_open_a_store_we_made_and_migrate_nothing(
    ours: Path, lionagi_python: str, tmp_path: Path
) -> None:
    before = dump(ours)
    assert run_calls(lionagi_python, tmp_path, ours, [call("schema_version")]) == ["4"]
    assert dump(ours) == before
    assert {entry.name for entry in ours.parent.iterdir()} == {"state.db"}, "no backup was thought needed"


def _plain(theirs: Any, mine: Any) -> Any:
    """Some of their methods hand JSON out as text; `null` there is our None."""
    if isinstance(theirs, str) and not isinstance(mine, str):
        return json.loads(theirs)
    return theirs


async def test_they_read_what_we_wrote(ours: Path, lionagi_python: str, tmp_path: Path) -> None:
    calls = [
        call("list_sessions"),
        call("get_session", "s1"),
        call("get_progression", "pb2"),
        call("get_branch_messages", "b1"),
        call("get_message", "s0-m1"),
        call("list_artifacts_for_session", "s1"),
        call("get_definition", "agent", "clerk"),
        call("list_definition_versions", "agent", "clerk"),
        call("get_session_signals_after", "s1", 0),
        call("list_admin_events"),
        call("list_invocations"),
        call("list_plays", "sh"),
        call("list_schedule_runs", "sc"),
        call("list_engine_runs"),
        call("list_projects"),
        call("list_pending_session_controls", "s1"),
        call("get_workflow_def_by_name", "flow"),
    ]
    theirs = run_calls(lionagi_python, tmp_path, ours, calls)
    async with StateDB(ours) as db:
        mine: list[Any] = [
            list(await db.list_sessions()),
            await db.get_session("s1"),
            await db.get_progression("pb2"),
            await db.get_branch_messages("b1"),
            await db.get_message("s0-m1"),
            list(await db.list_artifacts_for_session("s1")),
            await db.get_definition("agent", "clerk"),
            list(await db.list_definition_versions("agent", "clerk")),
            list(await db.get_session_signals_after("s1", 0)),
            list(await db.list_admin_events()),
            list(await db.list_invocations()),
            list(await db.list_plays("sh")),
            list(await db.list_schedule_runs("sc")),
            list(await db.list_engine_runs()),
            list(await db.list_projects()),
            list(await db.list_pending_session_controls("s1")),
            (await db.list_workflow_defs())[0],
        ]
    for asked, their, my in zip(calls, theirs, mine, strict=True):
        if isinstance(my, dict) and isinstance(their, dict):
            their, my = [their], [my]
        if my and isinstance(my[0], dict):
            assert len(their) == len(my), asked[0]
            key = next(name for name in ("id", "name") if name in my[0])
            of_theirs = {row[key]: row for row in their}
            for row in my:
                same = of_theirs[row[key]]
                for name in same.keys() & row.keys() - {"embedding"}:
                    assert _plain(same[name], row[name]) == row[name], (asked[0], name)
        else:
            assert their == my, asked[0]


async def test_they_add_to_what_we_wrote_and_we_read_it(
    ours: Path, lionagi_python: str, tmp_path: Path
) -> None:
    async with StateDB(ours) as db:
        (artifact,) = [
            row for row in await db.list_artifacts_for_session("s1") if row["invocation_id"] is None
        ]
    answers = run_calls(
        lionagi_python,
        tmp_path,
        ours,
        [
            call("insert_message", THEIRS),
            call("append_to_progression", "pb1", "theirs"),
            call("append_to_progression", "pb1", "s1-m0"),
            call("insert_messages", [{"id": "batch", "created_at": 51.0, "content": {}, "role": "user"}],
                 progression_ids=["ps1"], session_id="s1", activity_at=60.0),
            call("save_definition", kind="agent", name="clerk", path="c.md", content="theirs"),
            call("insert_artifact", kind="report", name="board", content={"v": 2}, session_id="s1"),
            call("insert_session_signal", session_id="s1", kind="op", ts=9.0, payload={}),
            call("update_status", "session", "s2", new_status="failed", reason_code="run.failed.exception",
                 expected_statuses=["running"]),
            call("update_session", "s0", name="renamed by them"),
            call("merge_session_node_metadata", "s1", {"theirs": {"k": 1}}),
            call("finalize_branch", "b1", status="completed"),
        ],
    )  # fmt: skip
    assert answers[4:8] == [4, artifact["id"], 4, True]
    async with StateDB(ours, mode=Mode.NATIVE) as db:
        assert db.applied is not None and not db.applied.changed
        assert (await db.get_progression("pb1"))[-1] == "theirs" and len(await db.get_progression("pb1")) == 7
        assert (await db.get_progression("ps1"))[-1] == "batch"
        message = await db.get_message("theirs")
        assert message is not None
        assert (message["content"], message["lion_class_str"]) == ({"a": "潮"}, "acme.custom.New")
        assert (await db.get_definition("agent", "clerk") or {})["content"] == "theirs"
        assert (await db.get_artifact(artifact["id"]) or {})["content"] == {"v": 2}
        session = await db.get_session("s2")
        assert session is not None and session["status"] == "failed"
        history = await db.list_status_transitions("session", "s2")
        assert [(row["previous_status"], row["status"]) for row in history] == [
            (None, "running"),
            ("running", "failed"),
        ]
        metadata = (await db.get_session("s1") or {})["node_metadata"]
        assert metadata == {"nested": [1, {"z": None}], "theirs": {"k": 1}}
        assert await db.save_definition(kind="agent", name="clerk", path="c.md", content="mine") == 5
        assert await db.insert_session_signal(session_id="s1", kind="op", ts=9.0, payload={}) == 5


async def test_we_open_a_store_they_made_and_migrate_nothing(made: RealStore, tmp_path: Path) -> None:
    path = tmp_path / "theirs" / "state.db"
    path.parent.mkdir()
    shutil.copyfile(made.path, path)
    before = dump(path)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        assert db.applied is not None and not db.applied.changed
    assert dump(path) == before
    assert {entry.name for entry in path.parent.iterdir()} == {"state.db"}


async def test_we_add_to_what_they_wrote_and_they_read_it(
    made: RealStore, lionagi_python: str, tmp_path: Path
) -> None:
    path = tmp_path / "theirs" / "state.db"
    path.parent.mkdir()
    shutil.copyfile(made.path, path)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        session = next(row for row in await db.list_sessions() if row["status"] == "completed")
        (branch, *_) = await db.list_branches(session["id"])
        order = await db.get_progression(branch["progression_id"])
        await db.insert_messages(
            [{"id": "ours", "content": {"text": "é 漢"}, "role": "assistant"}],
            progression_ids=[branch["progression_id"]],
            session_id=session["id"],
        )
        await db.update_session(session["id"], name="renamed by us", node_metadata={"k": [1, None]})
        await db.update_artifact_verification(session["id"], {"status": "warning", "produced": []})
        version = await db.save_definition(kind="playbook", name="new", path="p", content="ours")
    answers = run_calls(
        lionagi_python,
        tmp_path,
        path,
        [
            call("get_progression", branch["progression_id"]),
            call("get_message", "ours"),
            call("get_session", session["id"]),
            call("get_definition", "playbook", "new"),
            call("get_branch_messages", branch["id"]),
        ],
    )
    assert answers[0] == [*order, "ours"]
    assert answers[1]["content"] == {"text": "é 漢"}
    assert (answers[2]["name"], answers[2]["node_metadata"], answers[2]["status"]) == (
        "renamed by us",
        {"k": [1, None]},
        "completed",
    )
    assert answers[2]["artifact_verification_json"] == {"status": "warning", "produced": []}
    assert (answers[3]["version"], answers[3]["content"]) == (version, "ours")
    assert answers[4][-1]["id"] == "ours"


@pytest.mark.parametrize("release", ["0.26.0", "0.28.0", "0.32.0"])
async def test_what_we_migrated_they_have_nothing_to_migrate_in(
    release: str, shared_stores: Path, lionagi_python: str, tmp_path: Path
) -> None:
    path = tmp_path / "older" / "state.db"
    path.parent.mkdir()
    shutil.copyfile(shared_stores / f"lionagi-{release}.db", path)
    async with StateDB(path, mode=Mode.NATIVE) as db:
        assert db.applied is not None and db.applied.backup is not None
        sessions = {row["id"] for row in await db.list_sessions()}
    before, names = dump(path), {entry.name for entry in path.parent.iterdir()}
    (theirs,) = run_calls(lionagi_python, tmp_path, path, [call("list_sessions")])
    assert {row["id"] for row in theirs} == sessions and len(sessions) == 11
    assert dump(path) == before
    assert {entry.name for entry in path.parent.iterdir()} == names
