"""The value viewer: every key, large values that wait, and what goes to the clipboard and the file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.app import InspectorApp
from inspector.screens.cell import CellScreen
from inspector.values.json_sheet import JsonSheet
from inspector.values.text_sheet import TextSheet
from persistence.errors import StoreError
from persistence.records import Cell, Preview
from tests.inspector.widgets.hosting import picture, settled

pytestmark = pytest.mark.usefixtures("frozen_clock")


async def shown(pilot: Pilot[None], value: Cell, **options: Any) -> CellScreen:
    screen = CellScreen("content", value, **options)
    await pilot.app.push_screen(screen)
    await settled(pilot)
    return screen


def text(pilot: Pilot[None]) -> str:
    return "\n".join(picture(pilot.app))


async def test_json_opens_as_a_tree_and_views_go_round() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot, '{"a": {"b": [1, 2]}, "c": "# text"}', kind="json")
        assert isinstance(screen.value_view.sheet, JsonSheet)
        await pilot.press("j", "left")
        assert "▸ a: { 1 member }" in text(pilot)
        await pilot.press("right", "j")
        assert "$.a.b" in text(pilot)
        assert "[ 2 items ]" in text(pilot)
        await pilot.press("enter")
        assert "[ 2 items ]" not in text(pilot)
        await pilot.press("enter", "g", "asterisk")
        assert "[ 2 items ]" not in text(pilot)
        await pilot.press("p")
        assert pilot.app.clipboard == "$"
        await pilot.press("j", "Y")
        assert pilot.app.clipboard == '{\n  "b": [\n    1,\n    2\n  ]\n}'
        await pilot.press("y")
        assert pilot.app.clipboard == '{"a": {"b": [1, 2]}, "c": "# text"}'
        seen = []
        for _ in range(4):
            await pilot.press("v")
            seen.append(screen._view)
        assert seen == ["text", "markdown", "hex", "json"]
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, CellScreen)


async def test_broken_json_is_shown_as_it_is_with_the_place_it_breaks() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot, '{"a": 1,\n"b": }', kind="json")
        assert isinstance(screen.value_view.sheet, TextSheet)
        assert "not JSON: expecting value, line 2, column 6" in text(pilot)
        assert screen.value_view.cursor == 1


async def test_text_that_only_looks_like_json_is_simply_text() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        await shown(pilot, "[b]markup[/b] [@click=app.quit]x[/] \x1b]52;c;aGk=\x07")
        assert "[b]markup[/b] [@click=app.quit]x[/] ␛]52;c;aGk=␇" in text(pilot)
        assert "not JSON" not in text(pilot)


async def test_finding_going_round_and_not_finding() -> None:
    async with InspectorApp().run_test(size=(80, 24)) as pilot:
        screen = await shown(pilot, "\n".join(f"line {at}" for at in range(200)))
        await pilot.press("slash", *"line 19", "enter")
        await settled(pilot)
        assert screen.value_view.cursor == 19
        assert "line 19: 1 of 11" in text(pilot)
        await pilot.press("n")
        assert screen.value_view.cursor == 190
        await pilot.press("N", "N")
        assert screen.value_view.cursor == 199
        await pilot.press("slash")
        screen.query_one("#cell-find", Input).value = "absent"
        await pilot.press("enter")
        await settled(pilot)
        assert "absent: not found" in text(pilot)
        await pilot.press("slash", "escape")
        assert isinstance(pilot.app.screen, CellScreen)
        assert screen.value_view.has_focus


async def test_wrapping_and_going_sideways() -> None:
    async with InspectorApp().run_test(size=(60, 20)) as pilot:
        screen = await shown(pilot, "word " * 100)
        await pilot.press("w", "right")
        sheet = screen.value_view.sheet
        assert isinstance(sheet, TextSheet)
        assert (sheet.wrapped, sheet.skipped) == (False, 16)
        await pilot.press("left", "left", "w")
        assert (sheet.wrapped, sheet.skipped) == (True, 0)


async def test_bytes_open_in_hexadecimal() -> None:
    async with InspectorApp().run_test(size=(90, 20)) as pilot:
        await shown(pilot, b"\x89PNG\r\n\x1a\n" + bytes(100))
        assert "89 50 4e 47 0d 0a 1a 0a" in text(pilot)
        await pilot.press("y")
        assert pilot.app.clipboard.startswith("89504e47")


@pytest.mark.parametrize("value", [None, 0, 12.5, float("nan"), 2**70, ""])
async def test_any_value_can_be_shown_in_any_view(value: Cell) -> None:
    async with InspectorApp().run_test(size=(60, 20)) as pilot:
        screen = await shown(pilot, value)
        for _ in range(4):
            await pilot.press("v", "j", "right", "slash", "x", "enter", "y")
        for size in [(1, 1), (5, 3), (200, 60)]:
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert screen.is_current


async def test_a_middling_value_is_read_whole_by_itself() -> None:
    async def whole() -> Cell:
        return "all of the text"

    async with InspectorApp().run_test(size=(80, 20)) as pilot:
        await shown(pilot, Preview("all of", 900_000), whole=whole)
        assert "all of the text" in text(pilot)
        assert "first part" not in text(pilot)


async def test_a_large_value_waits_to_be_asked_for_and_can_be_stopped() -> None:
    gate = asyncio.Event()
    asked = 0

    async def whole() -> Cell:
        nonlocal asked
        asked += 1
        await gate.wait()
        return "all of the text"

    async with InspectorApp().run_test(size=(80, 20)) as pilot:
        await shown(pilot, Preview("all of", 5_000_000), whole=whole)
        assert asked == 0
        assert "the first part of 5.0 MB, a reads all" in text(pilot)
        await pilot.press("a")
        await pilot.pause()
        assert "reading all of it" in text(pilot)
        await pilot.press("escape")
        assert "the first part of 5.0 MB" in text(pilot)
        await pilot.press("a")
        gate.set()
        await settled(pilot)
        assert asked == 2
        assert "all of the text" in text(pilot)


async def test_a_value_that_cannot_be_read_says_why() -> None:
    async def whole() -> Cell:
        raise StoreError("The row is gone.", code="gone")

    async with InspectorApp().run_test(size=(80, 20)) as pilot:
        await shown(pilot, Preview("head", 100), whole=whole)
        assert "The row is gone." in text(pilot)
        assert "head" in text(pilot)


@pytest.mark.parametrize("value", [bytes(range(256)) * 5000, "caf\udce9 漢\x00\r\n", '{"a": 1}'])
async def test_what_is_saved_is_the_value_byte_for_byte(value: str | bytes, tmp_path: Path) -> None:
    target = tmp_path / "saved"
    async with InspectorApp().run_test(size=(100, 30)) as pilot:
        await shown(pilot, value)
        await pilot.press("e")
        await pilot.pause()
        pilot.app.screen.query_one("#export-path", Input).value = str(target)
        await pilot.press("enter")
        await settled(pilot)
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    assert target.read_bytes() == data
