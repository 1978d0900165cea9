"""What the native interop tests share: calls made by the real lionagi, and stores compared row by row."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from persistence import StateDB
from tests.interop.conftest import environment

CALLS = Path(__file__).with_name("calls.py")
Call = tuple[str, Sequence[Any], dict[str, Any]]
Theirs = Callable[..., list[Any]]


def call(method: str, *positional: Any, **named: Any) -> Call:
    return method, positional, named


def run_calls(
    python: str, folder: Path, store: str | Path, calls: Sequence[Call], **environ: str
) -> list[Any]:
    """What the real lionagi's methods returned on a store it opened natively, in order."""
    home = Path(tempfile.mkdtemp(prefix="theirs-", dir=folder))
    (home / "calls.json").write_text(json.dumps(calls), "utf-8")
    command = [python, str(CALLS), str(store), str(home / "calls.json"), str(home / "answers.json")]
    done = subprocess.run(
        command,
        cwd=home,
        env={**environment(home), **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = json.loads((home / "answers.json").read_text("utf-8"))
    refused = [answer for answer in answers if "returns" not in answer]
    assert refused == []
    return [answer["returns"] for answer in answers]


def dump(path: Path) -> dict[str, Any]:
    """Every object of the schema, and every row with the storage class of its values."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal"):
            if Path(f"{path}{suffix}").exists():
                shutil.copyfile(f"{path}{suffix}", Path(folder, f"copy{suffix}"))
        with closing(sqlite3.connect(Path(folder, "copy"))) as connection:
            schema = sorted(
                connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            )
            out: dict[str, Any] = {"": schema}
            for kind, name, _, _ in schema:
                if kind == "table":
                    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
                    shown = ", ".join(f"{column}, typeof({column})" for column in columns)
                    out[name] = connection.execute(f"SELECT {shown} FROM {name} ORDER BY rowid").fetchall()
            return out


async def fill(db: StateDB) -> None:
    """Rows in every group the facade writes, through our native writer."""
    await db.register_project("harbour", "git_remote", path="/srv/harbour")
    await db.create_invocation({"id": "i", "skill": "review", "started_at": 5.0, "prompt": "潮汐"})
    for number in range(3):
        run = f"s{number}"
        await db.create_progression(f"ps{number}")
        await db.create_progression(f"pb{number}")
        await db.create_session(
            {
                "id": run,
                "progression_id": f"ps{number}",
                "status": "running" if number else None,
                "name": ["Tide board", "[b]é 👩‍🔬[/b]", None][number],
                "invocation_id": "i" if number == 1 else None,
                "node_metadata": {"nested": [1, {"z": None}]} if number else None,
                "artifact_contract_json": {"expected": [{"id": "x", "path": "a.txt"}]} if number else None,
                "model": "m",
            }
        )
        await db.create_branch({"id": f"b{number}", "session_id": run, "progression_id": f"pb{number}"})
        await db.insert_messages(
            [
                {
                    "id": f"{run}-m{n}",
                    "content": {"instruction": "漢\u202e\x1b[0m", "n": n, "deep": [1.5, None, True]},
                    "role": ["system", "user", "assistant"][n % 3],
                    "created_at": 10.0 + n,
                    "node_metadata": {"lion_class": f"acme.custom.Kind{n % 2}"},
                    "sender": "kim",
                    "embedding": [0.5, -1.0] if n == 1 else None,
                }
                for n in range(6)
            ],
            progression_ids=[f"ps{number}", f"pb{number}"],
            session_id=run,
        )
    await db.update_status(
        "session", "s1", new_status="completed", reason_code="run.completed.ok", evidence_refs=[{"k": 1}]
    )
    await db.update_artifact_verification("s1", {"status": "passed", "checked_at": 1.5, "produced": []})
    await db.append_to_progression("pb2", "never-inserted")
    for version in range(3):
        await db.save_definition(
            kind="agent", name="clerk", path="c.md", content=f"v{version}\n", message=None
        )
    for parents in (
        {},
        {"session_id": "s1"},
        {"invocation_id": "i"},
        {"session_id": "s1", "invocation_id": "i"},
    ):
        await db.insert_artifact(
            kind="report", name="board", content={"v": [1]}, file_path="out.md", **parents
        )
    for n in range(3):
        await db.insert_session_signal(session_id="s1", kind="op", ts=float(n), payload={"n": n})
    await db.insert_session_control(session_id="s1", verb="pause")
    await db.insert_admin_event(action="doctor.run", details={"checks": [1]})
    await db.create_show({"id": "sh", "topic": "t", "show_dir": "d"})
    await db.create_play({"id": "p", "show_id": "sh", "name": "n", "session_id": "s2"})
    await db.create_schedule(
        {"id": "sc", "name": "n", "trigger_type": "interval", "interval_sec": 5, "action_kind": "agent"}
    )
    await db.create_schedule_run({"id": "r", "schedule_id": "sc", "action_kind": "agent"})
    await db.insert_engine_run(run_id="e", kind="research", spec_json={"q": 1}, session_id="s1")
    await db.create_engine_def({"id": "ed", "name": "deep", "kind": "research"})
    await db.create_workflow_def({"id": "wd", "name": "flow", "spec_json": {"nodes": []}})
    await db.create_team({"id": "t", "name": "crew", "members": ["a"]})
    await db.insert_team_message({"team_id": "t", "sender": "a", "content": "hello"})
    await db.enqueue_dispatch({"kind": "mail", "deliver_to": "kim", "payload": {"n": 1}, "session_id": "s1"})
