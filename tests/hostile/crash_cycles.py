"""Crash cycles: a child that writes is killed at a random moment, again and again, on one store.

After each kill the store must open, every write the child was told of must be there, and nothing half done.
`python -m tests.hostile.crash_cycles --count 5000` runs as many as asked for; the suite runs 200.

A child is forked from a process that has loaded everything already, so that a cycle is spent writing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from persistence import Mode, StateDB

OVERRIDE = {"override": True, "override_actor": "a", "override_justification": "j"}


@dataclass
class Told:
    """What the children were told is written, over all cycles so far."""

    sessions: set[str] = field(default_factory=set)
    messages: dict[str, list[str]] = field(default_factory=dict)  # by progression, in order
    changes: dict[str, int] = field(default_factory=dict)  # transitions by session, at least
    versions: int = 0

    def take(self, line: str) -> None:
        what, *words = line.split()
        if what == "session":
            self.sessions.add(words[0])
            self.changes[words[0]] = 1
        elif what == "message":
            self.messages.setdefault(words[0], []).append(words[1])
        elif what == "status":
            self.changes[words[0]] = int(words[1])
        elif what == "version":
            self.versions = int(words[0])


async def _write(path: Path, cycle: int, tell: int) -> None:
    """The child: writes runs until it is killed, and tells of each write once it has returned."""

    def told(*words: object) -> None:
        os.write(tell, (" ".join(map(str, words)) + "\n").encode())

    async with StateDB(path, mode=Mode.NATIVE) as db:
        number = 0
        while True:
            number += 1
            run = f"{cycle}-{number}"
            await db.create_progression(f"p{run}")
            await db.create_session({"id": run, "progression_id": f"p{run}", "status": "running"})
            told("session", run)
            for step in range(4):
                batch = [{"id": f"{run}-{step}-{n}", "content": {"n": n}, "role": "user"} for n in range(2)]
                await db.insert_messages(batch, progression_ids=[f"p{run}"], session_id=run)
                for message in batch:
                    told("message", f"p{run}", message["id"])
            for change, status in enumerate(("failed", "running", "completed")):
                code = "run.started.ok" if status == "running" else "run.completed.ok"
                await db.update_status("session", run, new_status=status, reason_code=code, **OVERRIDE)
                told("status", run, change + 2)
            told("version", await db.save_definition(kind="agent", name="n", path="p", content=run))


def _child(path: Path, cycle: int, tell: int) -> None:
    try:
        asyncio.run(_write(path, cycle, tell))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # it is to be killed: ending by itself is a failure


def heard(hear: int, lines: int) -> bytes:
    """What the child tells until it has told so many lines; it is given a few seconds, whatever the load."""
    said, until = b"", time.monotonic() + 10
    while said.count(b"\n") < lines and time.monotonic() < until:
        if select.select([hear], [], [], 0.5)[0]:
            part = os.read(hear, 65536)
            if not part:
                break
            said += part
    return said


def cycles(path: Path, count: int, seed: int = 0) -> Iterator[Told]:
    """Runs so many cycles on the store at a path, checks the store after each, and yields what was told."""
    rng = random.Random(seed)
    told = Told()
    for cycle in range(count):
        hear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(hear)
            _child(path, cycle, tell)
        os.close(tell)
        # A third are killed while opening, the others just after so many writes, or in the next one.
        said = b"" if rng.random() < 0.3 else heard(hear, rng.randrange(1, 25))
        time.sleep(rng.uniform(0.0, 0.03) if not said else rng.choice((0.0, rng.uniform(0.0, 0.002))))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"cycle {cycle}: the child ended by itself ({status})"
        with os.fdopen(hear, "rb") as rest:
            for line in (said + rest.read()).splitlines(keepends=True):
                if line.endswith(b"\n"):
                    told.take(line.decode())
        check(path, told)
        yield told


def check(path: Path, told: Told) -> None:
    """Whether the store holds every write that was told of, and nothing half done."""
    with closing(sqlite3.connect(path)) as connection:

        def rows(sql: str) -> list[tuple[object, ...]]:
            return connection.execute(sql).fetchall()

        sessions = {str(row[0]) for row in rows("SELECT id FROM sessions")}
        assert told.sessions <= sessions, f"lost: {told.sessions - sessions}"
        found: dict[str, list[str]] = {}
        for progression, message in rows(
            "SELECT p.id, e.value FROM progressions p, json_each(p.collection) e ORDER BY p.id, e.key"
        ):
            found.setdefault(str(progression), []).append(str(message))
        for name, messages in told.messages.items():
            assert found.get(name, [])[: len(messages)] == messages, f"lost or out of order in {name}"
            extra = len(found[name]) - len(messages)
            assert extra in (0, 1, 2) and len(found[name]) % 2 == 0, "a batch is whole or not there"
        dangling = rows(
            "SELECT e.value FROM progressions p, json_each(p.collection) e "
            "WHERE e.value NOT IN (SELECT id FROM messages)"
        )
        assert dangling == [], "an append without its message"
        orphans = rows(
            "SELECT id FROM messages WHERE id NOT IN "
            "(SELECT e.value FROM progressions p, json_each(p.collection) e)"
        )
        assert orphans == [], "a message without its append"
        changes = dict(rows("SELECT entity_id, count(*) FROM status_transitions GROUP BY 1"))
        for session, least in told.changes.items():
            count = changes.get(session)
            assert isinstance(count, int) and least <= count <= least + 1, f"transitions of {session}"
        halves = rows(
            "SELECT s.id, s.status FROM sessions s WHERE s.status IS NOT (SELECT t.status FROM "
            "status_transitions t WHERE t.entity_id = s.id ORDER BY t.rowid DESC LIMIT 1)"
        )
        assert halves == [], "a status without its transition, or the other way round"
        versions = [row[0] for row in rows("SELECT version FROM definitions ORDER BY version")]
        assert versions == list(range(1, len(versions) + 1)) and len(versions) >= told.versions
        assert rows("PRAGMA foreign_key_check") == []


def full_check(path: Path) -> None:
    """SQLite's own check, which takes longer as the store grows."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


async def _make(path: Path) -> None:
    async with StateDB(path, mode=Mode.NATIVE):
        pass


def alone() -> None:
    """Waits for threads that are at their end: what is forked beside one could not be trusted."""
    until = time.monotonic() + 10
    while threading.active_count() > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == 1, threading.enumerate()


def _load_everything(folder: Path) -> None:
    """Opens another store and writes to it once, so that no child has to import anything."""

    async def written() -> None:
        async with StateDB(folder / "warm.db", mode=Mode.NATIVE) as db:
            await db.create_progression("p")
            await db.create_session({"id": "s", "progression_id": "p", "status": "running"})
            await db.insert_messages([{"id": "m", "content": {}, "role": "user"}], progression_ids=["p"])
            await db.update_status("session", "s", new_status="completed", reason_code="run.completed.ok")
            await db.save_definition(kind="agent", name="n", path="p", content="c")

    asyncio.run(written())
    alone()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, help="keep going on this copy of a native store")
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash-cycles-") as folder:
        _load_everything(Path(folder))
        path = Path(folder) / "state.db"
        if given.store:
            shutil.copyfile(given.store, path)
        else:
            asyncio.run(_make(path))
        for number, told in enumerate(cycles(path, given.count, given.seed), 1):
            if number % 100 == 0 or number == given.count:
                full_check(path)
                written = sum(map(len, told.messages.values()))
                kept = f"{len(told.sessions)} sessions and {written} messages told of, all there"
                print(f"{number} kills, {kept}; {time.monotonic() - began:.0f} s", flush=True)
            if number % 500 == 0:
                # A store that only grows would make the checks the slowest part: begin a new one.
                path.unlink()
                asyncio.run(_make(path))
                told.__init__()  # type: ignore[misc]


if __name__ == "__main__":
    sys.exit(main())
