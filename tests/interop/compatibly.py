"""What the compatibility interop tests and benchmarks share: the real lionagi's run in a managed store."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.interop.conftest import environment
from tests.managed import profile_of

SCRIPT = Path(__file__).with_name("compat.py")
THEIRS = (
    "create_progression",
    "create_session",
    "create_branch",
    "insert_message",
    "persist_live_message",
    "insert_session_signal",
    "update_session",
    "update_artifact_verification",
    "merge_session_node_metadata",
    "update_status",
    "update_branch",
    "finalize_branch",
    "set_session_user_label",
)
"""The operations both have, by the same names."""

Call = tuple[str, list[Any], dict[str, Any]]


def run_compat(python: str, folder: Path, store: Path, calls: list[Call], **more: Any) -> dict[str, Any]:
    """What the real lionagi answered to the calls, and how long its live messages took."""
    profile = profile_of(*THEIRS)
    job = {
        "tables": [table.name for table in profile.closure.tables.values()],
        "writes": {
            name: {
                "insert": list(rule.insert),
                "update": list(rule.update),
                "unwritten": dict(rule.unwritten),
            }
            for name, rule in profile.writes.items()
        },
        "operations": list(THEIRS),
        "owner": "kim",
        "calls": calls,
        **more,
    }
    (folder / "job.json").write_text(json.dumps(job), "utf-8")
    command = [python, str(SCRIPT), str(store), str(folder / "job.json"), str(folder / "answers.json")]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, Any] = json.loads((folder / "answers.json").read_text("utf-8"))
    return answers
