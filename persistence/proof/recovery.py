"""Item 9: our writes stop, by a kill too, and the other side still reads every row (ADR-0128 D8)."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from persistence.profiles.dump import dump
from persistence.proof.bench import Bench, off
from persistence.proof.kept import kept_since
from persistence.proof.lifecycle import read_back
from persistence.proof.other_side import own_table
from persistence.proof.readback import Recorded
from persistence.proof.scorecard import Item
from persistence.statedb import StateDB

__all__ = ["recovery"]

_KILLS = 3


async def recovery(bench: Bench) -> Item:
    """Kills a recording process a few times at random; then reads, writes and compares from outside."""
    path = await bench.fresh()
    before = await bench.fresh()
    document = bench.scratch.directory() / "profile.toml"
    await off(lambda: document.write_text(dump(bench.profile), "utf-8"))
    chance = random.Random(9)
    failures: list[str] = []
    acknowledged = 0
    runs: list[Recorded] = []
    for number in range(_KILLS):
        bench.tell(f"kill {number + 1} of {_KILLS}")
        said = await _killed(path, document, bench.owner, chance.uniform(0.05, 0.4))
        if len(said) < 2:
            failures.append(f"kill {number + 1}: the recording process said nothing before it was killed")
            continue
        session, messages = said[0], said[1:]
        acknowledged += len(messages)
        wrong, run = await _left(path, session, messages, bench.owner)
        failures += wrong
        runs.append(run)
    for run in runs:
        failures += await read_back(bench, path, run)
    failures += await off(lambda: _still_writes(path))
    failures += (await kept_since(bench, before, path)).failures
    return Item(9, tuple(failures), {"kills": _KILLS, "acknowledged": acknowledged})


async def _killed(path: Path, document: Path, owner: str | None, seconds: float) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "persistence.proof.recorder",
        os.fspath(path),
        os.fspath(document),
        *([owner] if owner is not None else []),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        first = [await asyncio.wait_for(process.stdout.readline(), 60) for _ in range(2)]
        await asyncio.sleep(seconds)
    finally:
        if process.returncode is None:
            process.kill()
    rest = await process.stdout.read()
    await process.wait()
    return [line.decode() for line in b"".join([*first, rest]).split(b"\n")[:-1] if line]


async def _left(path: Path, session: str, said: list[str], owner: str | None) -> tuple[list[str], Recorded]:
    """What a kill left: everything acknowledged, at most one message more, nothing by half."""
    async with StateDB(path) as db:
        row = await db.get_session(session)
        if row is None:
            return [f"run {session}: it was acknowledged and is gone"], Recorded(
                session, "running", (), owner
            )
        order = await db.get_progression(row["progression_id"])
        branches = await db.list_branches(session)
        spoken = await db.get_progression(branches[0]["progression_id"]) if branches else None
        gone = [one for one in order if await db.get_message(one) is None]
    wrong = []
    if order[: len(said)] != said:
        wrong.append(f"{len(said)} messages were acknowledged, and its order does not begin with them")
    if len(order) > len(said) + 1:
        wrong.append(f"{len(order) - len(said)} messages more than were acknowledged")
    if gone or spoken != order:
        wrong.append("a message is in one order and not in the other, or is not there")
    run = Recorded(session, "running", tuple(order), owner)
    return [f"run {session}: {text}" for text in wrong], run


def _still_writes(path: Path) -> list[str]:
    """The other side opens the store, recovers it and writes as before."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
        statement, _ = own_table(connection, ())
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(statement)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            return [f"the other side cannot write any more: {error}"]
    return []
