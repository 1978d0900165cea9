"""A recorded run: its rows as they come, its expected files looked at when it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from persistence import StateDB
from persistence.artifacts import ArtifactContract, resolve_artifact_contract
from persistence.runs import RunRecorder, record_run
from tests.native import count


@pytest.fixture
def contract() -> ArtifactContract:
    found = resolve_artifact_contract(
        agent_defaults={"expected": [{"id": "board", "path": "out/board.md"}]},
        playbook_artifacts={"expected": [{"id": "log", "path": "log.txt", "required": False}]},
    )
    assert found is not None
    return found


@pytest.mark.adr("0055-D5-30", "0055-D5-01")
async def test_the_contract_is_checked_at_teardown_and_the_result_kept(
    native: StateDB, contract: ArtifactContract, tmp_path: Path
) -> None:
    async with record_run(native, contract=contract, artifacts_root=str(tmp_path), name="tides") as run:
        await run.message({"id": "m1", "content": {"instruction": "go"}, "role": "user"})
        await run.message({"id": "m2", "content": {"assistant_response": "done"}, "role": "assistant"})
        assert await run.signal("op.progress", {"n": 1}) == 1
        session = await native.get_session(run.session_id)
        assert session is not None
        assert session["status"] == "running" and session["artifact_verification_json"] is None
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "board.md").write_text("# board")
    session = await native.get_session(run.session_id)
    assert session is not None and session["status"] == "completed"
    verification = session["artifact_verification_json"]
    assert verification == run.verification
    assert verification["status"] == "warning"
    assert [one["id"] for one in verification["missing_optional"]] == ["log"]
    assert verification["produced"] == [{"id": "board", "path": "out/board.md", "size": 7, "present": True}]
    assert session["artifact_contract_json"] == contract
    messages = await native.get_branch_messages(run.branch_id)
    assert [message["id"] for message in messages] == ["m1", "m2"]
    assert await native.get_progression(session["progression_id"]) == ["m1", "m2"]
    assert await count(native, "artifacts") == 0, "a verification is no artifact"
    history = await native.list_status_transitions("session", run.session_id)
    assert [row["status"] for row in history] == ["running", "completed"]


async def test_a_run_that_fails_or_is_cancelled_says_so(
    native: StateDB, contract: ArtifactContract, tmp_path: Path
) -> None:
    runs: list[RunRecorder] = []

    async def fail() -> None:
        async with record_run(native, contract=contract, artifacts_root=str(tmp_path)) as run:
            runs.append(run)
            raise KeyError("lost")

    with pytest.raises(KeyError):
        await fail()

    begun = asyncio.Event()

    async def wait() -> None:
        async with record_run(native) as run:
            runs.append(run)
            begun.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(wait())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    failed, cancelled = [await native.get_session(run.session_id) for run in runs]
    assert failed is not None and cancelled is not None
    assert (failed["status"], failed["status_reason_code"]) == ("failed", "run.failed.exception")
    assert failed["artifact_verification_json"]["status"] == "failed"
    assert (cancelled["status"], cancelled["artifact_verification_json"]) == ("cancelled", None)


async def test_a_refused_write_is_no_run_that_succeeded(native: StateDB) -> None:
    with pytest.raises(ValueError, match="content"):
        async with record_run(native) as run:
            await run.message({"id": "m", "content": float("nan"), "role": "user"})
    (session,) = await native.list_sessions()
    assert session["status"] == "failed"
