"""How long the application takes from its start to the first 20 rows of Runs, on a large and a small store.

    python -m tests.benchmarks.start
    python -m tests.benchmarks.start --big big.db --small small.db   # made before by make_store

Each run is a process of its own; the two stores take turns, so that a machine that is busy for a while is
busy for both. Prints the medians and their ratio, and exits with 1 when the ratio is above 1.1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.browse import Figure
from tests.benchmarks.make_store import make_store

__all__ = ["compare", "main", "once"]

ROWS = 20
LIMIT = 1.1

_CHILD = """
import asyncio, sys, time
from inspector.app import InspectorApp
from inspector.widgets.grid import Grid

async def watch(pilot):
    while True:
        grids = pilot.app.screen.query("#runs").results(Grid)
        grid = next(iter(grids), None)
        if grid is not None and grid.pages.row(int(sys.argv[2]) - 1) is not None:
            break
        await asyncio.sleep(0.001)
    await pilot.app.animator.wait_until_complete()
    pilot.app.screen.refresh()
    await asyncio.sleep(0)
    print(time.monotonic(), flush=True)
    pilot.app.exit()

app = InspectorApp(sys.argv[1], start_place="runs")
app.run(headless=True, size=(120, 40), auto_pilot=watch)
"""


def once(store: Path, rows: int = ROWS) -> float:
    """Seconds from starting the process to the rows being there."""
    with tempfile.TemporaryDirectory() as places:
        names = {f"STORE_INSPECTOR_{kind}_DIR": places for kind in ("CONFIG", "STATE", "CACHE")}
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(store), str(rows)],
            env={**os.environ, **names},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout.split()[-1]) - began


def compare(big: Path, small: Path, times: int = 15) -> list[Figure]:
    """The medians of alternating runs, and their ratio."""
    once(small), once(big)  # what is read from disk for the first time is not what is compared
    large: list[float] = []
    little: list[float] = []
    for number in range(times):
        for store, taken in ((big, large), (small, little))[:: 1 if number % 2 else -1]:
            taken.append(once(store))
    a, b = statistics.median(large), statistics.median(little)
    return [
        Figure("start to 20 rows of Runs, large store", a * 1000, "ms"),
        Figure("start to 20 rows of Runs, small store", b * 1000, "ms"),
        Figure("ratio of the medians", a / b, "", LIMIT),
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--big", type=Path)
    parser.add_argument("--small", type=Path)
    parser.add_argument("--messages", type=int, default=1_000_000, help="of the large store, when it is made")
    parser.add_argument("--sessions", type=int, default=18_000)
    parser.add_argument("--times", type=int, default=15)
    wanted = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        big, small = wanted.big, wanted.small
        if big is None:
            big = make_store(Path(folder, "big.db"), messages=wanted.messages, sessions=wanted.sessions).path
        if small is None:
            small = make_store(Path(folder, "small.db"), messages=10_000, sessions=180).path
        figures = compare(big, small, wanted.times)
    for figure in figures:
        print(figure)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
