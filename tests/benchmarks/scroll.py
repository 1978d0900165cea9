"""How much memory the application takes while whole lists are scrolled from end to end.

    python -m tests.benchmarks.scroll
    python -m tests.benchmarks.scroll --store big.db      # one that make_store made before

A process of its own runs the application, without a terminal, on a large store, and goes through Runs, the
largest table and the longest conversation in even steps, each read and drawn before the next. Prints the
resident memory over each list's first and last third, and the most there ever was; exits with 1 when that
passes 150 MiB or a list's last third takes more than its first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.browse import Figure
from tests.benchmarks.make_store import make_store

if TYPE_CHECKING:
    from inspector.app import InspectorApp

__all__ = ["figures", "main"]

MOST = 150.0
"""MiB the program may take."""
GROWTH = 8.0
"""MiB between a list's first and last third that pass for flat: caches fill, allocators round."""
PATIENCE = 120.0  # seconds for one list to be there


def _memory(name: str) -> float:
    """A figure of this process in MiB, as the kernel tells it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


class _Scroller:
    """Drives the application, and keeps the resident memory after every step."""

    def __init__(self, pilot: Any, steps: int) -> None:
        self._pilot = pilot
        self._app: InspectorApp = pilot.app
        self._steps = steps
        self.lists: list[dict[str, Any]] = []

    async def grid(self, address: str, selector: str, name: str) -> None:
        """A place with a windowed table, once every row of it is known."""
        from inspector.widgets.grid import Grid

        def whole(grid: Any) -> bool:
            return bool(grid.row_count and grid.extent.complete)

        grid: Any = await self._there(address, Grid, selector, whole)
        await self._through(name, grid.row_count, grid.go_to_position)

    async def conversation(self, address: str) -> None:
        """A run's conversation; its pane is made when the run has been read."""
        from inspector.widgets.conversation import Conversation

        shown: Any = await self._there(address, Conversation, "#conversation", lambda each: bool(each.count))
        await self._through("the conversation", shown.count, lambda place: shown.go_to(place, top=True))

    async def _there(self, address: str, kind: type, selector: str, ready: Callable[[Any], bool]) -> Any:
        from inspector.navigation import Address

        self._app.go(Address.parse(address))
        waited = 0.0
        while waited < PATIENCE:
            await self._settled()
            for found in self._app.screen.query(selector).results(kind):
                if ready(found):
                    return found
            await asyncio.sleep(0.1)
            waited += 0.1
        raise TimeoutError(f"{address} shows no {selector} with rows")

    async def _settled(self) -> None:
        """Until what is in sight was read and drawn; counting goes on beside it."""
        from textual.worker import WorkerCancelled

        await self._pilot.pause()
        aside = ("follow", "search", "grid measure")
        waiting = [worker for worker in self._app.workers if worker.group not in aside]
        with suppress(WorkerCancelled):
            await self._app.workers.wait_for_complete(waiting)
        await self._pilot.pause()

    async def _through(self, name: str, rows: int, go: Callable[[int], None]) -> None:
        seen = []
        for step in range(self._steps):
            go((rows - 1) * step // (self._steps - 1))
            await self._settled()
            seen.append(_memory("VmRSS"))
        self.lists.append({"name": name, "rows": rows, "memory": seen})


async def _watched(store: Path, session: str, steps: int) -> dict[str, Any]:
    from inspector.app import InspectorApp

    app = InspectorApp(str(store), start_place="runs")
    async with app.run_test(size=(120, 40)) as pilot:
        scroller = _Scroller(pilot, steps)
        await scroller.grid("runs", "#runs", "Runs")
        await scroller.grid("tables/messages", "#table-rows", "the table of messages")
        await scroller.conversation(f"run/{session}")
        if app.fault is not None:
            raise RuntimeError(app.fault)
    return {"lists": scroller.lists, "most": _memory("VmHWM")}


def figures(store: Path, session: str, steps: int = 400) -> list[Figure]:
    """What a process of its own measured; `session` is the run with the long conversation."""
    with tempfile.TemporaryDirectory() as folder:
        places = {f"STORE_INSPECTOR_{kind}_DIR": folder for kind in ("CONFIG", "STATE", "CACHE")}
        command = [sys.executable, "-m", "tests.benchmarks.scroll", "--steps", str(steps)]
        done = subprocess.run(
            [*command, "--store", str(store), "--session", session, "--watched"],
            env={**os.environ, **places},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    told = json.loads(done.stdout)
    out = []
    for each in told["lists"]:
        third = max(1, len(each["memory"]) // 3)
        first, last = max(each["memory"][:third]), max(each["memory"][-third:])
        out += [
            Figure(f"{each['name']} ({each['rows']:,}): most in its first third", first, "MiB", MOST),
            Figure(f"{each['name']}: most in its last third", last, "MiB", MOST),
            Figure(f"{each['name']}: growth between them", last - first, "MiB", GROWTH),
        ]
    return [*out, Figure("the most there ever was", told["most"], "MiB", MOST)]


def _longest(store: Path) -> str:
    """The run with the longest conversation."""
    with closing(sqlite3.connect(f"file:{store}?immutable=1", uri=True)) as connection:
        (session,) = connection.execute(
            "SELECT b.session_id FROM progressions p JOIN branches b ON b.progression_id = p.id "
            "ORDER BY length(p.collection) DESC LIMIT 1"
        ).fetchone()
    return str(session)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--store", type=Path)
    parser.add_argument("--session", help="the run to read; otherwise the one with the longest conversation")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=18_000)
    parser.add_argument("--steps", type=int, default=400, help="stops in each list, at least 3")
    parser.add_argument("--watched", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args(arguments)
    if wanted.watched:
        print(json.dumps(asyncio.run(_watched(wanted.store, wanted.session, wanted.steps))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        store: Path | None = wanted.store
        if store is None:
            store = Path(folder, "big.db")
            make_store(store, messages=wanted.messages, sessions=wanted.sessions)
        measured = figures(store, wanted.session or _longest(store), max(3, wanted.steps))
    for figure in measured:
        print(figure)
    return 0 if all(figure.holds for figure in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
