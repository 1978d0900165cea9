"""How fast a large store is browsed: pages at any depth, a long conversation, a sort without an index.

    python -m tests.benchmarks.browse --messages 1000000
    python -m tests.benchmarks.browse --store big.db      # one that make_store made before

Prints each figure with what it is held against, and exits with 1 when one does not hold. Times are wall
clock: run it on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from persistence import StateDB
from persistence.reading.source import RowSource
from persistence.records import Order
from tests.benchmarks.make_store import make_store

__all__ = ["Figure", "browse", "main"]

PAGE = 50
TIMES = 15


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, and the most it may be (None: told only)."""

    name: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def holds(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def __str__(self) -> str:
        line = f"{self.name:<62} {self.value:>10.3f} {self.unit}"
        if self.limit is None:
            return line
        return f"{line}   at most {self.limit:g}: {'holds' if self.holds else 'DOES NOT HOLD'}"


async def _medians(works: Sequence[Callable[[], Awaitable[Any]]], times: int = TIMES) -> list[float]:
    """Milliseconds of each work, the median of some runs; the works take turns."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for work, times_taken in zip(works, taken, strict=True):
            began = time.perf_counter()
            await work()
            times_taken.append((time.perf_counter() - began) * 1000)
    return [statistics.median(each) for each in taken]


async def _depths(source: RowSource, name: str) -> list[Figure]:
    """Pages of a list at several depths against its first page."""
    began = time.perf_counter()
    extents = [extent async for extent in source.measure()]
    gathered = (time.perf_counter() - began) * 1000
    rows = extents[-1].rows
    shares = (0.1, 0.5, 0.9, 1.0)
    places = [0, *(max(0, min(rows - PAGE, int(rows * share))) for share in shares)]
    first, *pages = await _medians([partial(source.window, place, PAGE) for place in places])
    limit = 1.2 if rows > 100 * PAGE else None
    return [
        Figure(f"{name}: every position gathered ({rows:,} rows)", gathered, "ms"),
        Figure(f"{name}: first page", first, "ms"),
        *[
            Figure(f"{name}: page at {share:.0%} / first page", page / first, "x", limit)
            for share, page in zip(shares, pages, strict=True)
        ],
    ]


async def _conversation(db: StateDB, path: Path) -> list[Figure]:
    """The first window of the longest conversation against reading all of it."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        progression, branch = connection.execute(
            "SELECT p.id, b.id FROM progressions p JOIN branches b ON b.progression_id = p.id "
            "ORDER BY length(p.collection) DESC LIMIT 1"
        ).fetchone()
    firsts = []
    for _ in range(5):
        async with StateDB(path) as fresh:  # nothing of it is remembered
            await fresh.catalogue()
            began = time.perf_counter()
            transcript = await fresh.transcript(progression)
            await transcript.window(0, 100)
            firsts.append((time.perf_counter() - began) * 1000)
    first = statistics.median(firsts)
    began = time.perf_counter()
    whole = await db.get_branch_messages(branch)
    took = (time.perf_counter() - began) * 1000
    transcript = await db.transcript(progression)
    (middle,) = await _medians([lambda: transcript.window(transcript.length // 2, 100)])
    limit = 1 / 20 if len(whole) > 50_000 else None
    return [
        Figure(f"conversation of {len(whole):,}: first window of 100", first, "ms"),
        Figure("conversation: a window in its middle", middle, "ms"),
        Figure("conversation: read whole", took, "ms"),
        Figure("conversation: first window / read whole", first / took, "x", limit),
    ]


async def _sort(db: StateDB, rows: int) -> list[Figure]:
    """Messages by a column without an index: built once, then windows."""
    source = db.rows("messages", order=Order("channel"))
    began = time.perf_counter()
    await source.window(0, PAGE)
    top = (time.perf_counter() - began) * 1000
    began, worked = time.perf_counter(), time.process_time()
    reports = [extent.progress async for extent in source.measure() if extent.progress is not None]
    built, worked = time.perf_counter() - began, time.process_time() - worked
    (page,) = await _medians([lambda: source.window(source.extent.rows // 2, PAGE)])
    name = f"sort without an index: {rows:,} rows, {len(reports)} reports of progress"
    return [
        Figure("sort without an index: first page meanwhile", top, "ms"),
        Figure(name, built, "s", 1.5 if rows <= 1_000_000 else None),
        Figure("sort without an index: of it processor time (a busy machine waits)", worked, "s"),
        Figure("sort without an index: a window then", page, "ms", 5.0),
    ]


async def browse(path: Path) -> list[Figure]:
    """All figures of one store."""
    async with StateDB(path) as db:
        await db.runs().window(0, PAGE)  # the first use imports and compiles; a page is not that
        out = await _depths(db.runs(), "runs, newest first")
        out += await _depths(db.rows("messages", order=Order("created_at", True)), "messages by time")
        out += await _depths(db.rows("messages"), "messages by key")
        out += await _conversation(db, path)
        counted = [found.rows or 0 async for found in db.counts() if found.table == "messages"]
        out += await _sort(db, counted[0])
    return out


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.browse")
    parser.add_argument("--store", type=Path, help="a store that make_store made; else one is made for this")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=18_000)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="store-inspector-bench-") as folder:
        path = given.store
        if path is None:
            path = Path(folder, "big.db")
            make_store(path, messages=given.messages, sessions=given.sessions)
        figures = asyncio.run(browse(path))
    if given.json:
        print(json.dumps({each.name: [each.value, each.unit, each.limit] for each in figures}, indent=1))
    else:
        print("\n".join(map(str, figures)))
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
