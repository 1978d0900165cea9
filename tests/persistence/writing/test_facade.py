"""The facade's other operations, on both databases, and what the reference answered to the same calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persistence import NoSuchRowError, StateDB, TransitionRejectedError, UnreadableValueError
from tests.native import Backend, count, one

ORACLE: dict[str, Any] = json.loads(Path(__file__).with_name("oracle-boundary.json").read_text("utf-8"))
ANSWERS = {case["name"]: case for case in ORACLE["facade"]}


async def test_sessions(native: StateDB, native_session: str) -> None:
    await native.create_session(
        {"id": "s2", "progression_id": "ps", "created_at": 10.0, "name": "two", "model": "m", "project": "p"}
    )
    row = await native.get_session("s2")
    assert row is not None
    assert (row["created_at"], row["updated_at"], row["last_message_at"]) == (10.0, 10.0, 10.0)
    assert (row["status"], row["name"], row["source_kind"]) == (None, "two", "live")
    assert [found["id"] for found in await native.list_sessions(project="p")] == ["s2"]
    assert [found["id"] for found in await native.list_sessions(status="running")] == ["s"]
    await native.update_session("s2", name=None, model="other", set_if_null={"model"}, effort="high")
    row = await native.get_session("s2")
    assert row is not None
    assert (row["name"], row["model"], row["effort"]) == (None, "m", "high")
    assert row["updated_at"] > 10.0
    await native.update_session("missing", name="x")
    await native.update_session("s2")
    assert await native.set_session_user_label("s2", "mine") is True
    assert await native.set_session_user_label("missing", "mine") is False
    assert await one(native, "SELECT user_label FROM sessions WHERE id = 's2'") == "mine"


async def test_clocks_of_a_session_never_go_back(native: StateDB, native_session: str) -> None:
    async def clocks() -> tuple[Any, Any]:
        row = await native.get_session("s")
        assert row is not None
        return row["last_message_at"], row["updated_at"]

    await native.touch_session_activity("s", at=3e9)
    assert await clocks() == (3e9, 3e9)
    await native.touch_session_activity("s", at=1.0)
    await native.touch_session_activity("s")
    await native.update_session("s", last_message_at=2.0, updated_at=2.0, name="x")
    await native.insert_messages(
        [{"id": "m", "content": {}, "role": "user"}], session_id="s", activity_at=5.0
    )
    await native.update_artifact_verification("s", {"status": "passed"})
    assert await clocks() == (3e9, 3e9)
    await native.touch_session_activity("missing", at=1.0)


async def test_merging_metadata(native: StateDB, native_session: str) -> None:
    async def merged(patch: dict[str, Any]) -> Any:
        await native.merge_session_node_metadata("s", patch)
        row = await native.get_session("s")
        assert row is not None
        return row["node_metadata"]

    assert await merged({"a": {"b": 1}, "n": None}) == {"a": {"b": 1}}
    assert await merged({"a": {"c": [1, None]}, "é": "漢"}) == {"a": {"b": 1, "c": [1, None]}, "é": "漢"}
    assert await merged({"a": {"b": None, "c": {"d": 1.5}}}) == {"a": {"c": {"d": 1.5}}, "é": "漢"}
    assert await merged({"a": [1]}) == {"a": [1], "é": "漢"}
    assert await merged({}) == {"a": [1], "é": "漢"}
    with pytest.raises(ValueError, match="mapping"):
        await native.merge_session_node_metadata("s", [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="node_metadata"):
        await native.merge_session_node_metadata("s", {"x": float("nan")})
    await native.merge_session_node_metadata("missing", {"a": 1})
    await native.update_session("s", node_metadata=["not", "a", "mapping"])
    with pytest.raises(UnreadableValueError, match="lose it"):
        await native.merge_session_node_metadata("s", {"a": 1})
    assert (await native.get_session("s") or {})["node_metadata"] == ["not", "a", "mapping"]


async def test_branches(native: StateDB, native_session: str) -> None:
    await native.update_branch("b", name="main", model="m")
    assert await native.finalize_branch("b", status="completed", ended_at=9.0) is True
    assert await native.finalize_branch("b", status="failed") is False
    assert await native.finalize_branch("missing", status="failed") is False
    row = await native.get_branch("b")
    assert row is not None
    assert (row["name"], row["model"], row["status"], row["ended_at"]) == ("main", "m", "completed", 9.0)
    with pytest.raises(TransitionRejectedError):
        await native.update_branch("b", status="running", name="other")
    assert (await native.get_branch("b") or {})["name"] == "main"
    await native.update_branch("b", status="completed", name="renamed")
    assert (await native.get_branch("b") or {})["name"] == "renamed"
    for odd in ("running", "odd", None):
        with pytest.raises(ValueError, match="status"):
            await native.finalize_branch("b", status=odd)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="session_id"):
        await native.update_branch("b", session_id="s")


async def test_messages(native: StateDB, native_session: str) -> None:
    await native.insert_message(
        {
            "id": "m",
            "content": {"n": 1},
            "role": "user",
            "created_at": 5.0,
            "sender": "kim",
            "node_metadata": {"lion_class": "lionagi.protocols.messages.instruction.Instruction"},
        }
    )
    first = await native.get_message("m")
    assert first is not None
    assert (first["lion_class"], first["sender"], first["created_at"]) == (2, "kim", 5.0)
    await native.insert_message({"id": "m", "content": {"n": 2}, "role": "assistant", "created_at": 9.0})
    second = await native.get_message("m")
    assert second is not None
    assert (second["content"], second["role"], second["sender"], second["created_at"]) == (
        {"n": 2},
        "assistant",
        None,
        5.0,
    ), "overwritten, but for when it was made"
    assert (second["lion_class"], second["lion_class_str"]) == (0, "__unknown__")
    for name, number in (("acme.A", 6), ("acme.B", 7), ("acme.A", 6)):
        await native.insert_message({"id": name, "content": {}, "role": "user", "lion_class": name})
        assert await one(native, "SELECT lion_class FROM messages WHERE id = ?", name) == number
    read = await native.get_message("acme.A")
    assert read is not None
    await native.insert_message(read)  # what was read can be written again
    assert await native.get_message("acme.A") == read
    for needed in ("id", "content", "role"):
        row = {"id": "x", "content": {}, "role": "user"}
        del row[needed]
        with pytest.raises(ValueError, match=needed):
            await native.insert_message(row)


async def test_a_batch_of_messages_is_one(native: StateDB, native_session: str) -> None:
    batch = [{"id": f"m{n}", "content": {"n": n}, "role": "user"} for n in range(5)]
    await native.insert_messages(
        batch, progression_ids=["ps", "pb", "missing"], session_id="s", activity_at=4e9
    )
    assert (
        await native.get_progression("ps")
        == await native.get_progression("pb")
        == [f"m{n}" for n in range(5)]
    )
    assert (await native.get_session("s") or {})["last_message_at"] == 4e9
    await native.insert_messages(
        [*batch[3:], {"id": "m9", "content": {}, "role": "user"}], progression_ids=["pb"]
    )
    assert (await native.get_progression("pb"))[-2:] == ["m4", "m9"]
    await native.insert_messages([])
    with pytest.raises(Exception, match="refused the row"):
        await native.insert_messages(
            [
                {"id": "good", "content": {}, "role": "user"},
                {"id": "bad", "content": {}, "role": "user", "lion_class": 999},
            ],
            progression_ids=["pb"],
        )
    assert await native.get_message("good") is None
    assert (await native.get_progression("pb"))[-1] == "m9"


async def test_invocations(native: StateDB, native_session: str) -> None:
    await native.create_invocation({"id": "i", "skill": "review", "started_at": 3.0, "prompt": "p"})
    await native.create_invocation({"id": "j", "skill": "plan"})
    await native.create_session({"id": "s2", "progression_id": "ps", "invocation_id": "i"})

    async def counts() -> tuple[Any, Any]:
        return (
            await one(native, "SELECT session_count FROM invocations WHERE id = 'i'"),
            await one(native, "SELECT session_count FROM invocations WHERE id = 'j'"),
        )

    assert await counts() == (1, 0)
    await native.attach_session_invocation("s", "i")
    await native.attach_session_invocation("s", "i")
    assert await counts() == (2, 0)
    await native.attach_session_invocation("s", "j")
    assert await counts() == (1, 1)
    with pytest.raises(NoSuchRowError):
        await native.attach_session_invocation("missing", "j")
    with pytest.raises(Exception, match="refused the row"):
        await native.attach_session_invocation("s", "missing")
    assert await counts() == (1, 1)
    await native.update_invocation("i", status="completed", reason_code="run.completed.ok", ended_at=9.0)
    await native.merge_invocation_node_metadata("i", {"a": 1})
    row = await native.get_invocation("i")
    assert row is not None
    assert (row["status"], row["ended_at"], row["node_metadata"], row["prompt"]) == (
        "completed",
        9.0,
        {"a": 1},
        "p",
    )
    with pytest.raises(ValueError, match="session_count"):
        await native.update_invocation("i", session_count=9)


async def test_shows_plays_teams(native: StateDB, native_session: str) -> None:
    await native.create_show({"id": "sh", "topic": "t", "show_dir": "d", "goal": "ship"})
    await native.create_play({"id": "p", "show_id": "sh", "name": "n", "depends_on": ["a"], "sort_order": 2})
    await native.update_show("sh", repo="acme/x")
    await native.update_play("p", session_id="s", status="running", reason_code="play.pending.ready")
    show, play = await native.get_show("sh"), await native.get_play("p")
    assert show is not None and play is not None
    assert (show["repo"], show["status_source"]) == ("acme/x", "unknown")
    assert (play["status"], play["depends_on"], play["session_id"]) == ("running", ["a"], "s")
    await native.create_team({"id": "t", "name": "crew", "members": ["a", "b"]})
    await native.insert_team_message({"team_id": "t", "sender": "a", "content": "hello"})
    await native.update_team("t", status="archived", reason_code="team.archived.operator")
    team = await native.get_team("t")
    assert team is not None and (team["member_count"], team["status"]) == (2, "archived")
    (message,) = await native.list_team_messages("t")
    assert (message["recipient"], message["read_by"], message["content"]) == ("all", [], "hello")


async def test_schedules(native: StateDB) -> None:
    await native.create_schedule(
        {
            "id": "sc",
            "name": "nightly",
            "trigger_type": "cron",
            "cron_expr": "0 3 * * *",
            "action_kind": "agent",
        }
    )
    assert await native.update_schedule("sc", enabled=0, next_fire_at=5.0) is True
    assert await native.update_schedule("missing", enabled=0) is False
    await native.create_schedule_run(
        {"id": "r", "schedule_id": "sc", "action_kind": "agent", "status": "queued"}
    )
    await native.update_schedule_run("r", status="running", reason_code="run.started.ok", leased_by="w")
    schedule, run = await native.get_schedule("sc"), await native.get_schedule_run("r")
    assert schedule is not None and run is not None
    assert (schedule["enabled"], schedule["action_extra_args"], schedule["missed_fire_policy"]) == (
        0,
        [],
        "skip",
    )
    assert (run["status"], run["leased_by"], run["trigger_context"]) == ("running", "w", {})
    history = await native.list_status_transitions("schedule_run", "r")
    assert [row["reason_code"] for row in history] == ["schedule.queued.created", "run.started.ok"]
    assert await native.delete_schedule("sc") is True
    assert await native.delete_schedule("sc") is False
    assert await native.get_schedule_run("r") is None


async def test_definitions_beside_versions(native: StateDB) -> None:
    await native.create_engine_def({"id": "e", "name": "deep", "kind": "research", "options": {"a": 1}})
    await native.update_engine_def("e", max_depth=3)
    await native.create_workflow_def({"id": "w", "name": "flow", "spec_json": {"nodes": []}})
    await native.update_workflow_def("w", description="d")
    engine, workflow = await native.get_engine_def("e"), await native.get_workflow_def("w")
    assert engine is not None and workflow is not None
    assert (engine["max_depth"], engine["options"], workflow["description"]) == (3, {"a": 1}, "d")
    assert await native.delete_engine_def("e") is await native.delete_workflow_def("w") is True
    assert await native.delete_engine_def("e") is await native.delete_workflow_def("w") is False


async def test_projects(native: StateDB) -> None:
    await native.register_project("p", "git_remote", path="/srv/p")
    first = await native.get_project("p")
    await native.register_project("p", "cwd_dir", github="https://example.invalid/p")
    second = await native.get_project("p")
    assert first is not None and second is not None
    assert (second["source"], second["path"], second["github"]) == (
        "git_remote",
        "/srv/p",
        "https://example.invalid/p",
    )
    assert second["last_seen_at"] > first["last_seen_at"] and second["created_at"] == first["created_at"]
    await native.create_project("hand", description="made by hand")
    assert (await native.get_project("hand") or {})["source"] == "manual"
    assert await native.update_project("hand", description="d") is True
    assert await native.update_project("missing", description="d") is False
    assert await native.delete_project("hand") is True
    assert await native.delete_project("hand") is False


async def test_signals_controls_and_engine_runs(native: StateDB, native_session: str) -> None:
    numbers = [
        await native.insert_session_signal(session_id="s", kind="k", ts=float(n), payload={"n": n})
        for n in range(3)
    ]
    assert numbers == [1, 2, 3]
    assert [row["seq"] for row in await native.get_session_signals_after("s", 1)] == [2, 3]
    control = await native.insert_session_control(session_id="s", verb="pause", payload={"why": "coffee"})
    assert control is not None
    assert await native.insert_session_control(session_id="missing", verb="pause") is None
    with pytest.raises(Exception, match="refused the row"):
        await native.insert_session_control(session_id="s", verb="dance")
    assert [row["id"] for row in await native.list_pending_session_controls("s")] == [control]
    assert await native.finalize_session_control(control, result="done") is True
    assert await native.finalize_session_control(control, result="again") is False
    row = await native.get_session_control(control)
    assert row is not None and (row["result"], row["payload"]) == ("done", {"why": "coffee"})
    await native.insert_engine_run(run_id="e", kind="research", spec_json={"q": 1}, session_id="s")
    await native.update_engine_run("e", status="completed", ended_at=9.0, outcome_json={"ok": True})
    run = await native.get_engine_run("e")
    assert run is not None
    assert (run["status"], run["outcome_json"], run["parent_session_id"]) == ("completed", {"ok": True}, "s")
    with pytest.raises(Exception, match="refused the row"):
        await native.update_engine_run("e", status="odd")


async def test_transactions_do_several_things_as_one(native: StateDB, native_session: str) -> None:
    async with native.transaction() as transaction:
        await transaction.insert_message({"id": "m", "content": {}, "role": "user"})
        await transaction.append_to_progression("pb", "m")
        assert await transaction.update_status(
            "session", "s", new_status="completed", reason_code="run.completed.ok"
        )
        await transaction.execute("UPDATE sessions SET name = ? WHERE id = ?", ("x", "s"))
        assert await transaction.fetch_one("SELECT name FROM sessions WHERE id = ?", ["s"]) == {"name": "x"}
        assert len(await transaction.fetch_all("SELECT * FROM status_transitions")) == 2
        assert await transaction.fetch_one("SELECT 1 AS n WHERE 1 = 0") is None
        with pytest.raises(Exception, match="refused the row"):
            await transaction.insert_messages(
                [
                    {"id": "half", "content": {}, "role": "user"},
                    {"id": "x", "content": {}, "role": "u", "lion_class": 99},
                ]
            )
        assert await native.get_message("m") is None, "nobody else sees it yet"
        assert await transaction.save_definition(kind="agent", name="n", path="p", content="c") == 1
    assert await native.get_message("half") is None, "a part that failed left nothing, and the rest stands"
    assert await native.get_progression("pb") == ["m"]
    assert (await native.get_session("s") or {})["name"] == "x"
    with pytest.raises(Exception, match="over"):
        await transaction.create_progression("late")
    with pytest.raises(Exception, match="transaction of this task"):
        async with native.transaction():
            await native.create_progression("deadlock")
    assert await native.get_progression("deadlock") == []


async def test_vacuum(native: StateDB, native_backend: Backend) -> None:
    await native.create_progression("p", [f"m{n}" for n in range(20_000)])
    await native.execute("DELETE FROM progressions")
    before = await one(native, "PRAGMA page_count") if native_backend.sqlite else None
    await native.vacuum()
    if before is not None:
        assert await one(native, "PRAGMA page_count") < before


# -- what the reference answered ---------------------------------------------------------------------------

# Where DECISIONS or the ADR say otherwise than the reference does, and which of them.
OTHERWISE = {
    "append-5": "0055 D3: a collection holds message-id strings",
    "append-'5'": "as above: what follows a refused append differs",
    "append-None": "0055 D3: a collection holds message-id strings",
    "def-'skill'": "DECISIONS 2",
    "art-abs-path": "DECISIONS 3: file_path stays uninterpreted",
    "art-dotdot-path": "DECISIONS 3",
    "art-list-content": "0055 D4: content must be a mapping",
    "art-none-content": "0055 D4: content must be a mapping",
}


async def test_progressions_answer_as_the_reference_does(native: StateDB) -> None:
    await native.create_progression("p1", None)
    assert await native.get_progression("p1") == ANSWERS["prog-none"]["returns"]
    await native.create_progression("p2", ["a", "b"])
    assert await native.get_progression("p2") == ANSWERS["prog-list"]["returns"]
    await native.create_progression("p2", ["z"])
    assert await native.get_progression("p2") == ANSWERS["prog-recreate"]["returns"]
    assert await native.get_progression("missing") == ANSWERS["prog-missing"]["returns"]
    await native.append_to_progression("missing", "a")
    assert await native.get_progression("missing") == ANSWERS["append-missing-get"]["returns"]
    for text in ("c", "a", "c", "é", "a'b", ""):
        await native.append_to_progression("p2", text)
    expected = [one for one in ANSWERS["append-''"]["returns"] if isinstance(one, str) and one != "5"]
    assert await native.get_progression("p2") == expected
    await native.set_progression("p2", [])
    assert await native.get_progression("p2") == ANSWERS["set"]["returns"]


@pytest.mark.parametrize(
    "case",
    [c for c in ORACLE["facade"] if c["name"].startswith("def-'") and c["name"] not in OTHERWISE],
    ids=lambda case: str(case["name"]),
)
async def test_definition_kinds_answer_as_the_reference_does(native: StateDB, case: dict[str, Any]) -> None:
    kind = case["name"].removeprefix("def-").strip("'")
    save = native.save_definition(kind=kind, name="n", path="p", content="c")
    if "error" in case:
        with pytest.raises(ValueError, match="kind"):
            await save
    else:
        assert await save == case["returns"]


async def test_definitions_and_artifacts_answer_as_the_reference_does(
    native: StateDB, native_session: str
) -> None:
    await native.save_definition(kind="agent", name="n", path="p", content="c")
    second = await native.save_definition(kind="agent", name="n", path="p2", content="c2", message="m")
    assert second == ANSWERS["def-v2"]["returns"]
    for name, version in (("def-get", None), ("def-get-1", 1), ("def-get-9", 9)):
        row = await native.get_definition("agent", "n", version=version)
        expected = ANSWERS[name]["returns"]
        assert (None if row is None else {key: row[key] for key in expected}) == expected
    columns, versions = ANSWERS["def-list"]["returns"]
    rows = await native.list_definition_versions("agent", "n")
    assert sorted(rows[0]) == columns and [row["version"] for row in rows] == versions
    for name, given in (("art-glob-path", "a*b"), ("art-empty-path", "")):
        artifact_id = await native.insert_artifact(kind="k", name=name, content={}, file_path=given)
        row = await native.get_artifact(artifact_id)
        assert row is not None
        assert {key: row[key] for key in ("content", "file_path")} == ANSWERS[name]["returns"]
    for name, fields in (
        ("art-empty-kind", {"kind": ""}),
        ("art-empty-name", {"name": ""}),
        ("art-none-kind", {"kind": None}),
    ):
        assert ANSWERS[name]["error"] == "ValueError"
        with pytest.raises(ValueError, match="needs a"):
            await native.insert_artifact(**{"kind": "k", "name": "n", "content": {}, **fields})
    assert await native.update_artifact_verification("missing", {}) is ANSWERS["ver-missing"]["returns"]  # type: ignore[func-returns-value]
    assert await native.get_session("missing") is ANSWERS["get-missing"]["returns"]
    assert await native.get_artifact("missing") is ANSWERS["get-art-missing"]["returns"]
    assert list(await native.list_artifacts_for_session("missing")) == ANSWERS["list-missing"]["returns"]
    assert await count(native, "artifacts") == 2


def test_every_answer_of_the_reference_is_asked_for_or_explained() -> None:
    asked = {
        name
        for name in ANSWERS
        if name.startswith(("prog-", "append-", "def-", "art-", "set", "ver-", "get-", "list-", "del-"))
    }
    assert asked == set(ANSWERS)
    assert set(OTHERWISE) <= set(ANSWERS)
