"""Crash cycles beside another application: a recording child is killed while acme-desk works.

After each kill acme-desk's own reading paths must show every message the child was told of, in order, and
its own invariants (ADR-0128 A.3 and the desk's) must hold, while it writes and checkpoints. `python -m
tests.hostile.desk_cycles --count 5000` runs as many as asked for; the suite runs 200.

A child is forked from a process that has loaded everything already, so that a cycle is spent writing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.demo.acme_desk.invariants import clocks, went_back
from inspector.demo.acme_desk.reading import readback
from inspector.demo.acme_desk.store import initialize, opened
from persistence import StateDB
from persistence.profiles import load_profile
from persistence.profiles.records import Profile
from persistence.runs import RunRecorder
from tests.hostile.crash_cycles import alone, heard

A_STORE = 50
"""Cycles on one store: one that only grows would make the checks the slowest part."""


@dataclass
class Told:
    """What one child was told is written: messages by session, in order, and the sessions it ended."""

    messages: dict[str, list[str]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def take(self, line: str) -> None:
        what, session, *words = line.split()
        if what == "session":
            self.messages[session] = []
        elif what == "message":
            self.messages[session].append(words[0])
        elif what == "ended":
            self.ended.add(session)


async def _record(path: Path, profile: Profile, cycle: int, tell: int | None) -> None:
    """The child: records runs until it is killed, and tells of each write once it has returned."""

    def told(*words: str) -> None:
        if tell is not None:
            os.write(tell, (" ".join(words) + "\n").encode())

    async with StateDB(path, profile=profile, owner="kim") as db:
        number = 0
        while tell is not None or number == 0:
            recorder = RunRecorder(db, session_id=f"{cycle}-{number}-{os.getpid()}", patience=30)
            await recorder.begin(agent_name="cycles")
            told("session", recorder.session_id)
            for step in range(6):
                said = {"id": f"{recorder.session_id}-{step}", "role": "user", "content": {"n": step}}
                await recorder.message(said)
                told("message", recorder.session_id, said["id"])
            await recorder.signal("progress", {"step": 6})
            await recorder.end("completed", "run.completed.ok")
            told("ended", recorder.session_id)
            number += 1


def _child(path: Path, profile: Profile, cycle: int, tell: int) -> None:
    try:
        asyncio.run(_record(path, profile, cycle, tell))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # it is to be killed: ending by itself is a failure


@contextmanager
def the_desk_at_work(path: Path) -> Iterator[None]:
    """acme-desk's writer and checkpointer, processes of their own, for as long as a block lasts."""
    base = [sys.executable, "-m", "inspector.demo.acme_desk"]
    with ExitStack() as stack:
        started = [
            stack.enter_context(subprocess.Popen([*base, *words], stdout=subprocess.DEVNULL))
            for words in (
                ("write", os.fspath(path), "--pause", "0.02"),
                ("checkpoint", os.fspath(path), "--pause", "0.04"),
            )
        ]
        try:
            yield
            assert all(process.poll() is None for process in started), "the desk stopped by itself"
        finally:
            for process in started:
                process.terminate()


def cycles(path: Path, count: int, seed: int = 0) -> Iterator[Told]:
    """Runs so many cycles on the store at a path, checks it after each, and yields what was told in it."""
    rng = random.Random(seed)
    profile = load_profile("acme-desk-fresh-run")
    before: Mapping[str, Any] = {}
    for cycle in range(count):
        hear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(hear)
            _child(path, profile, cycle, tell)
        os.close(tell)
        said = b"" if rng.random() < 0.2 else heard(hear, rng.randrange(1, 20))
        time.sleep(rng.uniform(0.0, 0.05) if not said else rng.choice((0.0, rng.uniform(0.0, 0.002))))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"cycle {cycle}: the child ended by itself ({status})"
        told = Told()
        with os.fdopen(hear, "rb") as rest:
            for line in (said + rest.read()).splitlines(keepends=True):
                if line.endswith(b"\n"):
                    told.take(line.decode())
        before = check(path, told, before)
        yield told


def check(path: Path, told: Told, before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Whether the desk itself sees every write that was told of and nothing half done; its clocks now."""
    with opened(path) as connection:
        for session, messages in told.messages.items():
            shown = readback(connection, session)
            assert shown["found"] and shown["listed"], f"{session}: not shown to its owner"
            assert shown["owner"] == "kim"
            assert shown["problems"] == [], shown["problems"]
            seen = shown["messages"]
            assert seen[: len(messages)] == messages, f"{session}: lost or out of order"
            assert len(seen) <= len(messages) + 1, f"{session}: more than was being written"
            wanted = {"completed"} if session in told.ended else {"running", "completed"}
            assert shown["status"] in wanted, f"{session}: {shown['status']}"
            assert shown["transitions"][-1]["status"] == shown["status"], f"{session}: a status by half"
        now = clocks(connection)
    assert list(went_back(before, now)) == []
    return now


def _load_everything(folder: Path) -> None:
    """Records into another store once, so that no child has to import anything."""
    path = folder / "warm.db"
    initialize(path, sample=True)
    asyncio.run(_record(path, load_profile("acme-desk-fresh-run"), 0, None))
    alone()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    kills = sessions = messages = 0
    with tempfile.TemporaryDirectory(prefix="desk-cycles-") as folder:
        _load_everything(Path(folder))
        while kills < given.count:
            path = Path(folder) / f"desk-{kills}.db"
            initialize(path, sample=True)
            with the_desk_at_work(path):
                for told in cycles(path, min(A_STORE, given.count - kills), given.seed + kills):
                    kills += 1
                    sessions += len(told.messages)
                    messages += sum(map(len, told.messages.values()))
            path.unlink()
            took = time.monotonic() - began
            kept = f"{sessions} sessions and {messages} messages told of, all there"
            print(f"{kills} kills, {kept}; {took:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
