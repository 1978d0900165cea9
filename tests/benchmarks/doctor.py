"""How much dearer `doctor` on a settled store is than `python -c "import sqlite3"`, and whether size matters.

    python -m tests.benchmarks.doctor [--times 30] [--store state.db]

Both are started in turns, so that what else the machine does falls on both. Compiled modules are kept in a
directory of this run, as an installed program has them. Exits with 1 when a figure does not hold.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.browse import Figure
from tests.persistence.lineage.craft import complete, edit

__all__ = ["main", "measure"]

MOST = 5.0
"""At most so many times the wall time of the smallest program that has SQLite."""

BASE = ("-c", "import sqlite3")
PROGRAM = ("-m", "inspector", "doctor")


def _times(commands: Sequence[Sequence[str]], times: int, compiled: Path) -> list[list[float]]:
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    taken: list[list[float]] = [[] for _ in commands]
    for number in range(times + 2):
        for index, command in enumerate(commands):
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, *command],
                check=False,
                env=environ,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if number >= 2:  # the first ones compile, and fill the system's caches
                taken[index].append((time.perf_counter() - started) * 1000)
    return taken


def grown(folder: Path, megabytes: int) -> Path:
    """A settled store of so many megabytes."""
    folder.mkdir()
    path = complete(folder)
    edit(
        path,
        "PRAGMA synchronous=OFF",
        "PRAGMA wal_autocheckpoint=0",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
        f"{megabytes}) INSERT INTO artifacts (id, kind, name, created_at, updated_at, content) "
        "SELECT 'a' || i, 'file', 'n' || i, 1.0, 1.0, json_quote(hex(randomblob(500000))) FROM n",
    )
    return path


def measure(folder: Path, times: int, store: Path | None = None) -> list[Figure]:
    """The figures, each with what it is held against."""
    small = store or complete(folder)
    large = grown(folder / "large", 200) if store is None else None
    stores = [small] if large is None else [small, large]
    commands: list[Sequence[str]] = [BASE]
    commands += [(*PROGRAM, str(path), *form) for path in stores for form in ((), ("--json",))]
    base, *rest = _times(commands, times, folder / "compiled")
    figures = [Figure('python -c "import sqlite3"', statistics.median(base), "ms")]
    names = [f"doctor {'' if form == 'text' else '--json '}" for form in ("text", "json")]
    for name, taken in zip(names, rest[:2], strict=True):
        figures.append(Figure(f"{name.strip()}, settled store", statistics.median(taken), "ms"))
        ratios = [one / other for one, other in zip(taken, base, strict=True)]
        figures.append(Figure(f"{name.strip()}, times as long", statistics.median(ratios), "x", MOST))
    if large is not None:
        ratio = statistics.median(rest[2]) / statistics.median(rest[0])
        size = large.stat().st_size / small.stat().st_size
        figures.append(Figure(f"doctor, a store {size:.0f} times as large", ratio, "x", 1.5))
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--store", type=Path, help="a store to examine instead of made ones")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), given.times, given.store)
    for figure in figures:
        print(figure)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
