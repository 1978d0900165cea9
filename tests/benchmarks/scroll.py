"""How much memory the application takes while whole lists are scrolled from end to end.

    python -m tests.benchmarks.scroll
    python -m tests.benchmarks.scroll --store big.db      # one that make_store made before

Runs, the largest table, and the longest conversation are gone through in even steps, each step waited for.
Prints the resident memory at the start, at each list's end, and at most; exits with 1 when it passes
150 MiB or grows while scrolling.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.benchmarks.browse import Figure
from tests.benchmarks.make_store import make_store

__all__ = ["main", "scroll"]

MOST = 150.0
"""MiB the program may take."""
GROWTH = 8.0
"""MiB between the first and the last quarter of a list that pass for flat: caches fill, allocators round."""


def _status(name: str) -> float:
    """A figure of this process in MiB, as the kernel tells it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resident() -> float:
    return _status("VmRSS")


def peak() -> float:
    return _status("VmHWM")


async def _settle(pilot: Any) -> None:
    from textual.worker import WorkerCancelled

    waiting = [worker for worker in pilot.app.workers if worker.group not in ("follow", "grid measure")]
    with suppress(WorkerCancelled):
        await pilot.app.workers.wait_for_complete(waiting)
    await asyncio.sleep(0)


async def _through(
    pilot: Any, name: str, total: int, steps: int, go: Callable[[int], Awaitable[None]]
) -> list[Figure]:
    seen: list[float] = []
    for step in range(steps):
        await go(total * step // steps)
        await _settle(pilot)
        seen.append(resident())
    quarter = max(1, steps // 4)
    first, last = max(seen[:quarter]), max(seen[-quarter:])
    return [
        Figure(f"memory at the end of {name} ({total:,})", seen[-1], "MiB", MOST),
        Figure(f"growth between its first and last quarter, {steps} steps", last - first, "MiB", GROWTH),
    ]


async def scroll(store: Path, session: str, steps: int = 400) -> list[Figure]:
    """The figures for one store; `session` is the run with the long conversation."""
    from inspector.app import InspectorApp
    from inspector.navigation import Address
    from inspector.widgets.conversation import Conversation
    from inspector.widgets.grid import Grid

    figures: list[Figure] = []

    async def watch(pilot: Any) -> None:
        async def grid(selector: str) -> Grid:
            for _ in range(2_000):
                found = next(iter(pilot.app.screen.query(selector).results(Grid)), None)
                if found is not None and found.row_count and found.extent.complete:
                    return found
                await asyncio.sleep(0.05)
            raise TimeoutError(selector)

        figures.append(Figure("memory once Runs is counted", resident(), "MiB", MOST))
        runs = await grid("#runs")

        async def to_run(row: int) -> None:
            runs.scroll_to(y=row, animate=False, immediate=True)

        figures.extend(await _through(pilot, "Runs", runs.row_count, steps, to_run))
        pilot.app.go(Address("tables", "messages"))
        table = await grid("#table-rows")

        async def to_row(row: int) -> None:
            table.scroll_to(y=row, animate=False, immediate=True)

        figures.extend(await _through(pilot, "table messages", table.row_count, steps, to_row))
        pilot.app.go(Address("run", session))
        for _ in range(400):
            await asyncio.sleep(0.05)
            if any(each.count for each in pilot.app.screen.query(Conversation)):
                break
        conversation = pilot.app.screen.query_one(Conversation)

        async def to_message(position: int) -> None:
            conversation.go_to(position, top=True)

        figures.extend(await _through(pilot, "conversation", conversation.count, steps, to_message))
        figures.append(Figure("memory at most", peak(), "MiB", MOST))
        pilot.app.exit()

    app = InspectorApp(str(store), start_place="runs")
    await app.run_async(headless=True, size=(120, 40), auto_pilot=watch)
    return figures


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--session", help="the run with the long conversation (of a store made before)")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=18_000)
    parser.add_argument("--steps", type=int, default=400)
    wanted = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"STORE_INSPECTOR_{kind}_DIR"] = folder
        store, session = wanted.store, wanted.session
        if store is None:
            made = make_store(Path(folder, "big.db"), messages=wanted.messages, sessions=wanted.sessions)
            store, session = made.path, made.long_session
        figures = asyncio.run(scroll(store, session or "", wanted.steps))
    for figure in figures:
        print(figure)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
