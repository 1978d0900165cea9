"""A small store with a story, the same in every run: what the application's tests and pictures look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.persistence.stores import make_store, message, put

CLOCK = 1_795_953_600.0
"""2026-11-29 12:00:00 UTC."""
HOUR, DAY = 3600.0, 86_400.0

REVIEW = "0f3c21aa-7b1e-4c55-9d10-5a7be0c49ab4"
"""The run with the rich conversation."""

STATUSES = ("completed", "failed", "running", "cancelled", "timed_out", "aborted", "completed_empty", None)
NAMES = (
    "tide tables",
    "[b]markup[/b] name",
    "日誌 summary",
    "ANSI \x1b[7m name",
    "Übung",
    "",
    None,
    "boats 🚢",
)

LOG = {"file": "ci/log.txt"}
OUTPUT = "line one\nline two\n\tdone"
PARAGRAPHS = "\n\n".join(f"Paragraph {number}, some words." for number in range(24))
ARABIC = "اكتب ملخصا قصيرا لجدول المد والجزر"
LONG = """# What failed

Two of the three checks fail for the **same reason**: the harbour sends its times in local time.

1. `lookup_tide` takes them as UTC
2. the board rounds them *afterwards*

```python
def rounded(moment: float) -> float:
    return moment - moment % 900
```

| port | late by |
| --- | --- |
| Ærøskøbing | 60 min |
| Marstal | 75 min |
"""


def make_world(path: Path) -> Path:
    """A store with 40 runs; one has branches, tool calls, signals, a contract and every kind of mark."""
    make_store(path)
    put(path, "sessions", *(_run(number) for number in range(39)), _review())
    empty = ({"id": f"p{number:03}", "created_at": CLOCK, "collection": []} for number in range(39))
    put(path, "progressions", *empty)
    _fill_review(path)
    return path


def _run(number: int) -> dict[str, Any]:
    started = CLOCK - DAY * (number // 3) - HOUR * (number % 3 + 1)
    status = STATUSES[number % len(STATUSES)]
    ended = started + 600 + 37 * number if status not in ("running", None) else None
    return {
        "id": f"{number:08x}-0000-4000-8000-{number:012x}",
        "created_at": started,
        "updated_at": ended or started + 60,
        "progression_id": f"p{number:03}",
        "name": NAMES[number % len(NAMES)],
        "status": status,
        "started_at": started,
        "ended_at": ended,
        "agent_name": ("planner", "clerk", None)[number % 3],
        "model": ("model-3", "model-3-mini")[number % 2],
        "project": ("harbour", "日誌", None)[number % 3],
        "total_cost_usd": 0.0125 * number if number % 4 == 0 else None,
    }


def _review() -> dict[str, Any]:
    started = CLOCK - 2 * HOUR
    expected = [
        {"id": "board", "path": "out/board.md", "required": True},
        {"id": "data", "path": "data/out.csv", "required": True},
        {"id": "notes", "path": "notes.md", "required": False},
    ]
    return {
        "id": REVIEW,
        "created_at": started,
        "updated_at": CLOCK - 60,
        "progression_id": "p-review",
        "name": "nightly build review",
        "user_label": "keep ✎",
        "status": "completed",
        "started_at": started,
        "ended_at": CLOCK - 60,
        "agent_name": "planner",
        "model": "model-3",
        "project": "harbour",
        "playbook_name": "review",
        "input_tokens": 12_400,
        "output_tokens": 2_070,
        "total_cost_usd": 0.0731,
        "status_reason_code": "run.completed.ok",
        "status_reason_summary": "two of three checks explained",
        "artifact_contract_json": {"expected": expected},
        "artifact_verification_json": {
            "status": "failed",
            "checked_at": CLOCK - 30,
            "missing_required": [expected[1]],
            "missing_optional": [expected[2]],
            "produced": [{"id": "board", "path": "out/board.md", "size": 12_410, "present": True}],
        },
    }


def conversation() -> list[dict[str, Any]]:
    """The messages of the review's main branch, in order, the missing one left out."""
    at = CLOCK - 2 * HOUR
    rows = {"rows": [{"t": f"{hour:02}:00", "m": 0.5 + hour / 4} for hour in range(6)], "note": "spring tide"}
    contents: list[tuple[str, int, Any, float]] = [
        ("system", 1, {"system_message": "You are a careful reviewer.", "system_datetime": "2026-11-29"}, 0),
        ("user", 2, {"instruction": "Why did the nightly build fail?", "context": [LOG]}, 11),
        ("action", 4, {"function": "lookup_tide", "arguments": {"port": "Ærøskøbing", "day": 3}}, 23),
        ("action", 5, {"function": "lookup_tide", "arguments": {"port": "Ærøskøbing"}, "output": rows}, 35),
        ("assistant", 3, {"assistant_response": LONG}, 46),
        ("user", 2, {"instruction": "And the third? \x1b[31m[/red] [@click=app.quit]x[/] \u202eabc"}, HOUR),
        ("action", 4, {"function": "read_log", "arguments": {**LOG, "lines": [1, 200]}}, HOUR + 9),
        ("action", 5, {"function": "read_log", "arguments": {}, "output": OUTPUT}, HOUR + 10),
        ("assistant", 3, {"assistant_response": PARAGRAPHS}, HOUR + 30),
        ("assistant", 3, {"assistant_response": ARABIC}, HOUR + 20),
        ("assistant", 6, ["a list", {"of": "things"}], HOUR + 50),
    ]  # fmt: skip
    return [
        message(number, role=role, lion_class=kind, content=content, created_at=at + after)
        for number, (role, kind, content, after) in enumerate(contents)
    ]


def _fill_review(path: Path) -> None:
    messages = conversation()
    ids = [row["id"] for row in messages]
    put(path, "messages", *messages)
    broken = {"content": "{not json", "role": "assistant", "created_at": CLOCK - HOUR + 60}
    put(path, "messages", message(900, **broken))
    listed = [*ids[:5], "4b1f09c2-gone", *ids[5:], ids[4], "m0900"]
    put(
        path,
        "progressions",
        {"id": "p-main", "created_at": CLOCK, "collection": listed},
        {"id": "p-side", "created_at": CLOCK, "collection": ids[:2]},
        {"id": "p-review", "created_at": CLOCK, "collection": ids[:3]},
    )
    branch = {"created_at": CLOCK, "session_id": REVIEW, "user": "kim", "model": "model-3"}
    put(
        path,
        "branches",
        {"id": "b-main", **branch, "name": "main", "progression_id": "p-main", "status": "completed"},
        {"id": "b-side", **branch, "name": "side ветка", "progression_id": "p-side", "status": "failed"},
    )
    start = CLOCK - 2 * HOUR
    put(
        path,
        "session_signals",
        *(
            {
                "id": f"sig{number}",
                "session_id": REVIEW,
                "seq": number,
                "kind": kind,
                "op_id": f"op-{number}",
                "ts": start + number * 15,
                "payload": json.dumps({"text": f"signal [x] {number}"}),
            }
            for number, kind in enumerate(("run.started", "op.progress", "run.note"))
        ),
    )
    put(
        path,
        "status_transitions",
        _change(0, None, "running", start),
        _change(1, "running", "completed", CLOCK - 60),
    )
    put(
        path,
        "artifacts",
        *(
            {
                "id": f"art{number}",
                "session_id": REVIEW,
                "created_at": CLOCK - HOUR,
                "updated_at": CLOCK - 60,
                "kind": "report",
                "name": f"report {number}",
                "content": {"v": number},
                "file_path": f"out/report{number}.md",
            }
            for number in range(2)
        ),
    )


def _change(number: int, before: str | None, after: str, at: float) -> dict[str, Any]:
    return {
        "id": f"tr{number}",
        "entity_type": "session",
        "entity_id": REVIEW,
        "previous_status": before,
        "status": after,
        "reason_code": f"run.{after}.ok",
        "reason_summary": "",
        "evidence_refs": "[]",
        "source": "system",
        "actor": "engine",
        "created_at": at,
        "metadata": "{}",
    }
