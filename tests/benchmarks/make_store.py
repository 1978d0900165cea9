"""Makes a large store as lionagi 0.36.0 lays one out, the same bytes of content every time.

    python -m tests.benchmarks.make_store big.db --messages 1000000 --sessions 18000

One conversation is long (100,000 messages, or a tenth of all), the others share the rest. The file is in
WAL mode, checkpointed and at rest, as the orchestrator leaves it.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from persistence.schema import metadata
from persistence.schema.known import MESSAGE_TYPES

__all__ = ["Made", "make_store"]

START = 1_760_000_000.0
"""The moment the first run begins (October 2025)."""
_STATUSES = ("completed", "failed", "running", "cancelled")
_REASONS = {
    "completed": "run.completed.ok",
    "failed": "run.failed.exception",
    "running": "run.started.ok",
    "cancelled": "run.cancelled.system",
}
_MODELS = ("model-3", "model-3-small", "other-2", None)
_AGENTS = ("planner", "clerk", "reviewer", "builder", None)
_PROJECTS = ("harbour", "tides", "日誌", None)
_TEXT = "the harbour master counts boats and tides before anyone asks why it matters so much today"
_WORDS = tuple(_TEXT.split())
_CLASSES = {
    "system": 1,
    "user": 2,
    "assistant": 3,
    "request": 4,
    "result": 5,
}
_TURN = ("user", "assistant", "request", "result", "assistant")


@dataclass(frozen=True, slots=True)
class Made:
    """What was made, and what to look at in it."""

    path: Path
    messages: int
    sessions: int
    long_session: str
    long_progression: str
    long_length: int
    seconds: float
    size: int


def make_store(
    path: Path, *, messages: int = 1_000_000, sessions: int = 18_000, long: int | None = None, seed: int = 1
) -> Made:
    """The store at `path`, which must not exist. `long` is the length of the one long conversation."""
    if path.exists():
        raise FileExistsError(path)
    began = time.perf_counter()
    long = min(100_000, messages // 10) if long is None else long
    random_ = random.Random(seed)
    dialect = sqlite.dialect()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA cache_size=-200000")
        connection.execute("BEGIN")
        for table in metadata.sorted_tables:
            connection.execute(str(CreateTable(table).compile(dialect=dialect)))
        connection.executemany("INSERT INTO message_types VALUES (?, ?)", MESSAGE_TYPES)
        connection.executemany(
            "INSERT INTO schema_meta VALUES (?, ?)",
            [("version", "4"), ("created_at", str(int(START))), ("lineage", "lionagi")],
        )
        first, progression = _fill(connection, random_, messages, sessions, long)
        for table in metadata.sorted_tables:
            for index in sorted(table.indexes, key=lambda index: str(index.name)):
                connection.execute(str(CreateIndex(index).compile(dialect=dialect)))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Made(
        path,
        messages,
        sessions,
        first,
        progression,
        long,
        time.perf_counter() - began,
        path.stat().st_size,
    )


def _fill(
    connection: sqlite3.Connection, random_: random.Random, messages: int, sessions: int, long: int
) -> tuple[str, str]:
    """All rows; the ids of the long conversation's session and of its progression."""
    rest, extra = divmod(messages - long, max(1, sessions - 1))
    found = ("", "")
    for number in range(sessions):
        # The long one lies in the middle: neither the first nor the last page of the list has it.
        is_long = number == sessions // 2
        short = number - (number > sessions // 2)
        count = long if is_long else rest + (short < extra)
        began = START + number * 240.0
        session, branch, own, of_branch = (_id(random_) for _ in range(4))
        ids = [_id(random_) for _ in range(count)]
        rows = _messages(random_, ids, branch, began)
        _insert(connection, "messages", rows)
        listed = json.dumps(ids)
        lists = [{"id": each, "created_at": began, "collection": listed} for each in (own, of_branch)]
        _insert(connection, "progressions", lists)
        if is_long:
            found = session, of_branch
        _session(connection, random_, number, session, branch, (own, of_branch), ids, began)
    return found


def _id(random_: random.Random) -> str:
    text = f"{random_.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _messages(random_: random.Random, ids: list[str], branch: str, began: float) -> Iterator[dict[str, Any]]:
    words = " ".join(random_.choices(_WORDS, k=60))
    for place, each in enumerate(ids):
        kind = "system" if place == 0 else _TURN[(place - 1) % len(_TURN)]
        start = place * 7 % 200
        text = f"{words[start : start + 160]} ({place})"
        if kind == "system":
            content: dict[str, Any] = {"system_message": text, "system_datetime": "2025-10-09T08:00"}
        elif kind == "user":
            content = {"instruction": text, "context": [{"file": f"notes/{place}.md", "lines": [1, 2]}]}
        elif kind == "assistant":
            content = {"assistant_response": text * 2}
        elif kind == "request":
            content = {"function": "lookup_tide", "arguments": {"port": "Ærø", "day": place % 30}}
        else:
            content = {
                "function": "lookup_tide",
                "arguments": {"day": place % 30},
                "output": {"rows": [text[:80]]},
            }
        yield {
            "id": each,
            "created_at": began + place * 0.9,
            "node_metadata": '{"lion_class": "generated"}',
            "content": json.dumps(content),
            "sender": "kim" if kind == "user" else branch,
            "recipient": branch if kind == "user" else None,
            "channel": ("private", "public", None)[place % 3],
            "role": "action" if kind in ("request", "result") else kind,
            "lion_class": _CLASSES[kind],
        }


def _session(
    connection: sqlite3.Connection,
    random_: random.Random,
    number: int,
    session: str,
    branch: str,
    progressions: tuple[str, str],
    ids: list[str],
    began: float,
) -> None:
    status = _STATUSES[number % 4]
    ended = None if status == "running" else began + 120.0 + number % 600
    last = began + len(ids) * 0.9
    agent, model, project = (
        options[random_.randrange(len(options))] for options in (_AGENTS, _MODELS, _PROJECTS)
    )
    _insert(
        connection,
        "sessions",
        [
            {
                "id": session,
                "run_id": f"run-{number:06}",
                "created_at": began,
                "name": f"{random_.choice(_WORDS)} {random_.choice(_WORDS)} {number}",
                "progression_id": progressions[0],
                "first_msg_id": ids[0] if ids else None,
                "last_msg_id": ids[-1] if ids else None,
                "updated_at": last,
                "agent_name": agent,
                "invocation_kind": "agent",
                "artifacts_path": f"/srv/runs/{number}/artifacts",
                "source_kind": "live",
                "status": status,
                "started_at": began,
                "ended_at": ended,
                "ended_at_is_approximate": 0,
                "last_message_at": last,
                "model": model,
                "provider": "acme",
                "project": project,
                "status_reason_code": _REASONS[status],
                "input_tokens": 40 * len(ids),
                "output_tokens": 25 * len(ids),
                "total_cost_usd": round(len(ids) * 0.0004, 4),
                "num_turns": len(ids) // 5,
            }
        ],
    )
    _insert(
        connection,
        "branches",
        [
            {
                "id": branch,
                "created_at": began,
                "name": "main",
                "session_id": session,
                "progression_id": progressions[1],
                "system_msg_id": ids[0] if ids else None,
                "model": model,
                "status": status,
                "started_at": began,
                "ended_at": ended,
            }
        ],
    )
    steps: list[tuple[str | None, str, float]] = [(None, "running", began)]
    if ended is not None:
        steps.append(("running", status, ended))
    _insert(
        connection,
        "status_transitions",
        [
            {
                "id": _id(random_).replace("-", ""),
                "entity_type": "session",
                "entity_id": session,
                "previous_status": before,
                "status": after,
                "reason_code": _REASONS[after],
                "source": "executor",
                "created_at": at,
            }
            for before, after, at in steps
        ],
    )
    _insert(
        connection,
        "session_signals",
        [
            {
                "id": _id(random_).replace("-", ""),
                "session_id": session,
                "seq": seq,
                "kind": kind,
                "op_id": "",
                "ts": began + seq,
                "payload": "{}",
            }
            for seq, kind in ((1, "run.started"), (2, "op.progress"))
        ],
    )


def _insert(connection: sqlite3.Connection, table: str, rows: Any) -> None:
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    columns = ", ".join(f'"{name}"' for name in first)
    marks = ", ".join("?" * len(first))
    statement = f'INSERT INTO "{table}" ({columns}) VALUES ({marks})'
    connection.execute(statement, tuple(first.values()))
    connection.executemany(statement, (tuple(row.values()) for row in rows))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.make_store")
    parser.add_argument("path", type=Path)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=18_000)
    parser.add_argument("--long", type=int, default=None, help="messages of the one long conversation")
    given = parser.parse_args(arguments)
    made = make_store(given.path, messages=given.messages, sessions=given.sessions, long=given.long)
    print(f"{made.path}: {made.messages:,} messages, {made.sessions:,} sessions, {made.size / 1e6:,.0f} MB")
    print(f"  made in {made.seconds:.1f} s; the long conversation is run {made.long_session}")


if __name__ == "__main__":
    main()
