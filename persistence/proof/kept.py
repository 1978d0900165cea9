"""Item 3: everything that is not the run's is as it was (ADR-0128 D8)."""

from __future__ import annotations

import shutil
from pathlib import Path

from persistence.proof.bench import Bench, off
from persistence.proof.lifecycle import ENDINGS, record
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
    for ending in ENDINGS:
        async with bench.open(path, bench.owner) as db:
            await record(db, bench.owner, ending, path)
    found = await kept_since(bench, before, path)
    figures = {
        "tables": found.tables,
        "rows": found.rows,
        "added": found.added,
        "changed": len(found.failures),
    }
    return Item(3, found.failures, figures)
