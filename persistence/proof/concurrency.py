"""Item 7: recording beside a writer and a checkpointer, held to limits declared before (ADR-0128 D8)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from persistence.engines.statements import Steps
from persistence.guard.lock_time import SINCE
from persistence.profiles.records import folded
from persistence.proof.bench import Bench
from persistence.proof.lifecycle import message, read_back
from persistence.proof.readback import Recorded
from persistence.proof.scorecard import Item
from persistence.runs import RunRecorder
from persistence.statedb import StateDB

__all__ = ["OtherSide", "concurrency"]

T = TypeVar("T")

_LOOK = 0.02
"""Seconds between two looks at the size of the log."""


class OtherSide:
    """A process of plain sqlite3 on a scratch copy; ends, and answers, when it is let go."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, what: str, path: Path, wait_ms: float, tables: Sequence[str]) -> OtherSide:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "persistence.proof.other_side",
            what,
            os.fspath(path),
            str(wait_ms),
            *tables,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        await asyncio.wait_for(process.stdout.readline(), 60)
        return cls(process)

    async def end(self) -> dict[str, Any]:
        """What it counted. Raises ValueError when it died."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        said, _ = await asyncio.wait_for(self._process.communicate(), 60)
        answer: dict[str, Any] = json.loads(said or b"null") or {}
        if not answer:
            raise ValueError("the other side died")
        return answer

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()


class _Timed:
    """What runs an operation's steps, with how long each committed transaction held the writer's lock, in
    seconds: from BEGIN IMMEDIATE, with the guard's questions under the lock, to the end of COMMIT."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.reader = engine.reader
        self.holds: list[float] = []

    async def run(
        self,
        operation: str,
        steps: Callable[[], Steps[T]],
        *,
        transaction: str,
        kept: Callable[[T], object] | None = None,
    ) -> T:
        def noted(result: T) -> None:  # on the thread of the transaction, right after its COMMIT
            self.holds.append(time.perf_counter() - SINCE.moment)
            if kept is not None:
                kept(result)

        answer: T = await self._engine.run(operation, steps, transaction=transaction, kept=noted)
        return answer


async def _outside(bench: Bench, path: Path) -> list[str]:
    """The managing application's own tables: those that are none of the closure's."""
    async with StateDB(path) as db:
        shapes = await db.catalogue()
    closure = set(bench.profile.closure.tables)
    return [
        shape.name
        for shape in shapes
        if shape.kind == "table" and folded(shape.name) not in closure | {"schema_meta"}
    ]


async def concurrency(bench: Bench) -> Item:
    """Live messages for the asked time, beside both, and then what was recorded, read back."""
    path = await bench.fresh()
    limits = bench.limits
    tables = await _outside(bench, path)
    async with bench.open(path, bench.owner) as db:
        sides = [
            await OtherSide.start(what, path, limits.busy_wait_ms, tables) for what in ("write", "checkpoint")
        ]
        try:
            holds, sizes, run = await _record(bench, db, path)
            wrote, folds = [await side.end() for side in sides]
        finally:
            for side in sides:
                side.kill()
    figures = {
        "messages": len(run.messages),
        "seconds": bench.seconds,
        "hold_p50_ms": _share(holds, 0.50),
        "hold_p99_ms": _share(holds, 0.99),
        "hold_max_ms": _share(holds, 1.0),
        "other_side_writes": wrote["tries"] - wrote["busy"],
        "other_side_table": wrote["table"],
        "other_side_wait_p99_ms": _share([wait / 1000 for wait in wrote["waits_ms"]], 0.99),
        "busy_rate": round(wrote["busy"] / max(1, wrote["tries"]), 6),
        "checkpoints": folds["rounds"],
        "log_bytes": max(sizes, default=0),
        "limits": {
            name: getattr(limits, name)
            for name in ("hold_p50_ms", "hold_p99_ms", "hold_max_ms", "busy_rate", "log_bytes", "messages")
        },
    }
    failures = [
        f"{name} is {figures[name]:,}, and the limit is {getattr(limits, name):,}"
        for name in ("hold_p50_ms", "hold_p99_ms", "hold_max_ms", "busy_rate", "log_bytes")
        if figures[name] > getattr(limits, name)
    ]
    if figures["messages"] < limits.messages:
        failures.append(
            f"only {figures['messages']} messages were recorded, and the least is {limits.messages}"
        )
    if not figures["other_side_writes"] or not figures["checkpoints"]:
        failures.append("the other side did not come to write and to fold the log, so nothing was shown")
    failures += await read_back(bench, path, run)
    return Item(7, tuple(failures), figures)


async def _record(bench: Bench, db: StateDB, path: Path) -> tuple[list[float], list[int], Recorded]:
    writer: Any = db._writer
    timed = writer._engine = _Timed(writer._engine)
    recorder = RunRecorder(db)
    log = path.with_name(path.name + "-wal")
    sizes: list[int] = []
    done = asyncio.Event()

    async def look() -> None:
        while not done.is_set():
            with suppress(FileNotFoundError):
                sizes.append(log.stat().st_size)
            await asyncio.sleep(_LOOK)

    looking = asyncio.create_task(look())
    kept: list[str] = []
    try:
        await recorder.begin(name="proof: concurrency")
        until = time.monotonic() + bench.seconds
        while time.monotonic() < until:
            said = message(len(kept), recorder.session_id)
            await recorder.message(said)
            kept.append(said["id"])
        await recorder.end("completed", "run.completed.ok")
    finally:
        done.set()
        await looking
    run = Recorded(recorder.session_id, "completed", tuple(kept), bench.owner)
    return timed.holds, sizes, run


def _share(seconds: Sequence[float], share: float) -> float:
    if not seconds:
        return 0.0
    ordered = sorted(seconds)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 3)
