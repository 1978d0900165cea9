"""ADR-0128 A.2: what changes a run's session, its verification and its metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persistence import ConstraintError, StateDB
from tests.acceptance.test_adr_0128_a2 import refused, row
from tests.managed import ALL, Spied, dump, make_run, manager, profile_of


@pytest.mark.adr("0128-A2-38")
async def test_teardown_columns_are_one_transaction(run: StateDB, spied: Spied) -> None:
    spied.clear()
    await run.update_session(
        "s",
        first_msg_id="m",
        last_msg_id="m",
        node_metadata={"a": 1},
        input_tokens=3,
        output_tokens=4,
        total_cost_usd=0.5,
        num_turns=2,
    )
    assert run.committed["session update"] == 1
    assert sum(text.startswith("UPDATE") for text in spied.of("update_session")) == 1
    found = await row(run, "sessions", "s")
    assert (found["first_msg_id"], found["last_msg_id"]) == ("m", "m")
    assert (found["input_tokens"], found["output_tokens"], found["num_turns"]) == (3, 4, 2)
    assert found["total_cost_usd"] == 0.5 and json.loads(found["node_metadata"]) == {"a": 1}
    assert found["source_kind"] == "live", "what was not given stays"


@pytest.mark.adr("0128-A2-39", "0128-D4-05")
async def test_a_status_and_what_comes_with_it_are_one_transaction(run: StateDB, desk: Path) -> None:
    before = dump(desk)
    # acme-desk's own check refuses the column, so the status is not written either.
    with pytest.raises(ConstraintError) as caught:
        await run.update_session(
            "s", status="completed", reason_code="run.completed.ok", source_kind="imported_codex"
        )
    assert caught.value.committed == ()
    assert dump(desk) == before
    await run.update_session(
        "s", status="completed", reason_code="run.completed.ok", ended_at=9e9, num_turns=1
    )
    found = await row(run, "sessions", "s")
    assert (found["status"], found["ended_at"], found["num_turns"]) == ("completed", 9e9, 1)
    assert run.committed["session update"] == 1


@pytest.mark.adr("0128-A2-41")
async def test_metadata_is_merged_by_key_within_the_transaction(run: StateDB, desk: Path) -> None:
    await run.update_session("s", node_metadata={"mine": {"a": 1}})
    manager(
        desk, """UPDATE sessions SET node_metadata = '{"mine": {"a": 1}, "desk": "kept"}' WHERE id = 's'"""
    )
    await run.update_session("s", node_metadata={"mine": {"b": 2}})
    stored = json.loads((await row(run, "sessions", "s"))["node_metadata"])
    assert stored == {"mine": {"b": 2}, "desk": "kept"}
    manager(desk, "UPDATE sessions SET node_metadata = '[1]' WHERE id = 's'")
    before = dump(desk)
    for call in (run.update_session("s", node_metadata={"x": 1}), run.update_session("s", node_metadata=[1])):
        assert (await refused(call)).code == "metadata-not-a-mapping"
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-42")
@pytest.mark.parametrize(
    ("session", "fields", "code"),
    [
        ("lee-sess", {"name": "x"}, "not-own"),
        ("kim-old-sess", {"name": "x"}, "not-own"),
        ("s", {"last_msg_id": "lee-msg"}, "not-own"),
        ("s", {"first_msg_id": "lee-msg"}, "not-own"),
        ("s", {"invocation_id": "lee-inv"}, "not-own"),
        ("s", {"owner_id": "lee"}, "owner-given"),
        ("s", {"OWNER_ID": "kim"}, "owner-given"),
        ("s", {"progression_id": "bp"}, "column-not-in-profile"),
    ],
)
async def test_update_session_keeps_to_the_run_and_its_owner(
    run: StateDB, desk: Path, session: str, fields: dict[str, Any], code: str
) -> None:
    before = dump(desk)
    assert (await refused(run.update_session(session, **fields))).code == code
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-42")
async def test_an_invocation_of_the_same_owner_may_be_named(run: StateDB) -> None:
    await run.update_session("s", invocation_id="kim-inv")
    assert (await row(run, "sessions", "s"))["invocation_id"] == "kim-inv"


@pytest.mark.adr("0128-A2-43", "0128-A2-01")
async def test_a_verification_is_a_transaction_after_the_one_before(run: StateDB, desk: Path) -> None:
    seen = {"status": "passed", "produced": []}
    earlier = (await row(run, "sessions", "s"))["updated_at"]
    await run.update_session("s", num_turns=1)
    await run.update_artifact_verification("s", seen)
    assert {name: run.committed[name] for name in ("session update", "verification")} == {
        "session update": 1,
        "verification": 1,
    }
    found = await row(run, "sessions", "s")
    assert json.loads(found["artifact_verification_json"]) == seen and found["updated_at"] > earlier
    before = dump(desk)
    assert (await refused(run.update_artifact_verification("lee-sess", seen))).code == "not-own"
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-44", "0128-A2-45")
async def test_a_provider_s_error_is_a_merge_patch_of_the_metadata(run: StateDB, desk: Path) -> None:
    await run.update_session("s", node_metadata={"a": {"x": 1, "y": 2}, "b": 1})
    await run.merge_session_node_metadata("s", {"a": {"x": None}, "b": None, "error": "gone"})
    assert json.loads((await row(run, "sessions", "s"))["node_metadata"]) == {"a": {"y": 2}, "error": "gone"}
    before = dump(desk)
    assert (await refused(run.merge_session_node_metadata("lee-sess", {"a": 1}))).code == "not-own"
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-62")
async def test_a_profile_may_name_the_two_operations_the_appendix_lacks(run: StateDB, desk: Path) -> None:
    assert await run.set_session_user_label("s", "mine") is True
    await run.update_branch("b", name="trunk")
    assert (await row(run, "sessions", "s"))["user_label"] == "mine"
    assert (await row(run, "branches", "b"))["name"] == "trunk"
    await run.close()
    two = ("set_session_user_label", "update_branch")
    without = profile_of(*(name for name in ALL if name not in two))
    async with StateDB(desk, profile=without, owner="kim") as db:
        await make_run(db, "2")
        before = dump(desk)
        for call in (
            lambda: db.set_session_user_label("s2", "mine"),
            lambda: db.update_branch("b2", name="trunk"),
        ):
            assert (await refused(call())).code == "not-in-profile"
        assert dump(desk) == before
