"""Item 3: everything that is not the run's is as it was (ADR-0128 D8)."""

from __future__ import annotations

import shutil
from pathlib import Path

from persistence.proof.bench import Bench, off
from persistence.proof.lifecycle import ENDINGS, read_back, record
from persistence.proof.preservation import Differences, compare, resting
from persistence.proof.scorecard import Item

__all__ = ["kept", "kept_since"]


async def kept_since(bench: Bench, before: Path, path: Path) -> Differences:
    """What changed between a copy at rest and a scratch store, once its log is folded in."""

    def look() -> Differences:
        resting(path)
        return compare(before, path, bench.profile, [one for one in bench.owners if one is not None])

    return await off(look)


async def kept(bench: Bench) -> Item:
    """Runs of every ending; then every row, the schema and SQLite's own checks against the copy before."""
    path = await bench.fresh()
    before = bench.scratch.directory() / "before.db"
    await off(lambda: shutil.copyfile(path, before))
    runs = []
    for ending in ENDINGS:
        async with bench.open(path, bench.owner) as db:
            runs.append(await record(db, bench.owner, ending, path))
    found = await kept_since(bench, before, path)
    failures = list(found.failures)
    for run in runs:  # by the managing application's own command, after it opened the store again
        failures += await read_back(bench, path, run)
    figures = {
        "tables": found.tables,
        "rows": found.rows,
        "added": found.added,
        "changed": len(found.failures),
    }
    return Item(3, tuple(failures), figures)
