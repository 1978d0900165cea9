"""Every place shows the same of a PostgreSQL store as of a SQLite file with the same rows."""

from __future__ import annotations

import re

import pytest

from inspector.demo.ids import uuid
from inspector.navigation import Address
from tests.inspector.driving import CONTROLS, driven, screen_lines, settled, typed
from tests.inspector.server.conftest import Twins

pytestmark = pytest.mark.usefixtures("frozen_clock")

FERRY = uuid("session", "ferry")
VIEWS = ("timeline", "branches", "signals", "history", "artifacts", "raw")

TOUR: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("runs", ("", "G", "g pagedown pagedown pagedown up", "right s", "s G", "slash type:odd-01",
              "escape escape slash", "type:status:failed zeta")),
    (f"run/{FERRY}", ("", "G")),
    *((f"run/{FERRY}/{view}", ("",)) for view in VIEWS),
    ("run/odd-002", ("",)),
    ("progressions", ("", "G", "right s s")),
    ("progressions/p-odd-003", ("", "n")),
    (f"progressions/{uuid('progression', 'ferry', 'all')}", ("G",)),
    ("artifacts", ("", "v v", "v v v v", "enter", "escape")),
    (f"artifacts/{FERRY}", ("",)),
    ("definitions", ("", "j")),
    ("definitions/agent%2Ftidekeeper", ("", "v", "u")),
    ("definitions/agent%2Ftidekeeper/file", ("",)),
    ("tables", ("", "j j")),
    ("tables/sessions", ("", "G", "g right right s")),
    ("tables/messages", ("right right s", "pagedown")),
    ("tables/progressions", ("pagedown", "enter")),
)  # fmt: skip
"""Where to go, and what to press there: after each of these the screen is looked at."""

# The moment at which files were looked at just now.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+00:00")


async def toured(store: str) -> tuple[dict[str, list[str]], str]:
    """What stood on the screen at each stop, below the line that names the store; and that line."""
    seen = {}
    async with driven(store, "runs") as pilot:
        first = screen_lines(pilot)[0]
        for place, stops in TOUR:
            pilot.app.go(Address.parse(place))  # type: ignore[attr-defined]
            await settled(pilot)
            for number, keys in enumerate(stops):
                for key in re.findall(r"type:.*|\S+", keys):
                    if key.startswith("type:"):
                        await typed(pilot, key[5:])
                    else:
                        await pilot.press(key)
                        await settled(pilot, rounds=1)  # the next key may need what this one loads
                await settled(pilot)
                lines = [MOMENT.sub("MOMENT", line.rstrip()) for line in screen_lines(pilot)]
                # What a column's type is called, and the SQL, are each database's own.
                lines = [line[:34] for line in lines] if place == "tables" else lines
                seen[f"{place} {number}: {keys}"] = lines[1:]
    return seen, first


@pytest.mark.adr("0055-D1-01")
async def test_the_same_screens(twins: Twins) -> None:
    ours, _ = await toured(twins.file)
    theirs, first = await toured(twins.url)
    for stop, lines in ours.items():
        assert theirs[stop] == lines, stop
    assert "server" in first and "***" in first
    assert len({tuple(lines) for lines in ours.values()}) > len(ours) - 4, "the keys led somewhere"
    for lines in theirs.values():
        assert not CONTROLS.search("".join(lines)) and twins.secret not in "".join(lines)


@pytest.mark.parametrize("place", ["overview", "lineage"])
async def test_what_it_is(twins: Twins, place: str) -> None:
    """These tell of the store itself: a server has no files to tell of."""
    async with driven(twins.url, place, size=(140, 50)) as pilot:
        shown = "\n".join(screen_lines(pilot))
        assert "lionagi" in shown and "PostgreSQL" in shown
        assert twins.secret not in shown
        assert place != "overview" or "text ordered by C, rows by key" in shown
