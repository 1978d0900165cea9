"""Pictures along one walk through the application, each compared as `snap_compare` compares its only one.

Starting the application costs more than all there is to see in it. So one that runs is made as large as the
next picture is to be, where a walk has several, or one at both sizes.
"""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest_textual_snapshot import PseudoApp, PseudoConsole, SVGImageExtension, node_to_report_path
from rich.console import Console
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.app import InspectorApp
from tests.inspector.driving import settled

__all__ = ["BOTH", "Pictures", "hidden", "running", "walked"]

BOTH = ((80, 24), (120, 40))
"""The sizes people have."""

Size = tuple[int, int]


class _Named(SVGImageExtension):  # type: ignore[misc]
    """A picture's file is named as if its name were one more parameter of the test."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: int | str = 0) -> str:
        test: str = test_location.snapshot_name
        return f"{test[:-1]}-{index}]" if test.endswith("]") else f"{test}[{index}]"


class Pictures:
    """The pictures of one test."""

    def __init__(self, snapshot: SnapshotAssertion, request: pytest.FixtureRequest) -> None:
        self._snapshot = snapshot.use_extension(_Named)
        self._request = request

    async def both(self, pilot: Pilot[Any], name: str = "", sizes: Iterable[Size] = BOTH) -> None:
        """One picture at each size, named `name-80x24` and so on."""
        now = tuple(pilot.app.size)
        for size in sorted(sizes, key=lambda size: size != now):  # the size it has comes first
            if size != tuple(pilot.app.size):
                await pilot.resize_terminal(*size)
                await settled(pilot)
            await self.take(pilot, "-".join(filter(None, (name, "{}x{}".format(*size)))))

    async def take(self, pilot: Pilot[Any], name: str) -> None:
        await pilot.pause()
        await pilot.wait_for_scheduled_animations()
        await pilot.pause()
        drawn = pilot.app.export_screenshot(title=pilot.app.title, simplify=True)
        same = bool(self._snapshot(name=name) == drawn)
        self._report(name, same, drawn)
        assert same, f"{name} is not the picture it was; see the report"

    def _report(self, name: str, same: bool, drawn: str) -> None:
        """What the plugin makes its report of."""
        node, console = self._request.node, Console(legacy_windows=False, force_terminal=True)
        file, line, test = node.reportinfo()
        app = PseudoApp(PseudoConsole(console.legacy_windows, console.size))
        expected = self._snapshot.executions[self._snapshot.num_executions - 1].final_data
        about = (Path(file), line, f"{test} {name}", "", "", expected is not None)
        path: Path = node_to_report_path(node)
        path.with_name(f"{path.name}_{name}").write_bytes(pickle.dumps((same, expected, drawn, app, *about)))


@asynccontextmanager
async def running(app: InspectorApp, size: Size = BOTH[0]) -> AsyncIterator[Pilot[Any]]:
    """An application that a test has made, settled."""
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        await settled(pilot)
        yield pilot


async def walked(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def hidden(pilot: Pilot[Any], lines: str = "#store-line, #places-line") -> None:
    """What differs from machine to machine, and the places there are by now, are not drawn any more."""
    for screen in pilot.app.screen_stack:
        for line in screen.query(lines).results(Widget):
            line.styles.visibility = "hidden"
    await pilot.pause()
