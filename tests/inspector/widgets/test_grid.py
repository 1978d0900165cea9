"""The windowed table on a screen: what it draws, what each key and click does."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from inspector import keys
from inspector.widgets.grid import Grid
from inspector.widgets.grid_jump import JumpCard
from inspector.widgets.grid_windows import PAGE
from persistence.records import Column, Order
from tests.inspector.widgets.hosting import grid_host as host
from tests.inspector.widgets.hosting import grid_of, picture, settled
from tests.inspector.widgets.sources import PEOPLE, ListSource, people

pytestmark = pytest.mark.usefixtures("frozen_clock")


async def test_rows_are_drawn_in_their_columns() -> None:
    app = host(ListSource(PEOPLE, people(100)))
    async with app.run_test(size=(100, 12)) as pilot:
        await settled(pilot)
        lines = picture(app)
        assert lines[0].split()[:6] == ["Id", "Status", "Name", "Messages", "Created", "Node"]
        assert "✓ completed" in lines[1]
        assert "nightly build review" in lines[1]
        assert "16 min ago" in lines[2]
        assert "[b]markup[/b] ␛[31m" in lines[4]
        assert "1 of 100" in grid_of(pilot).words


async def test_only_what_is_visible_is_read() -> None:
    source = ListSource(PEOPLE, people(5000))
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        assert source.reads == [(0, PAGE)]
        await pilot.press("G")
        await settled(pilot)
        assert source.reads[1:] == [(4960, 40 // PAGE * PAGE + PAGE)]
        assert grid_of(pilot).cursor_row == 4999


async def test_the_wheel_moves_the_window_and_loads_what_comes_into_sight() -> None:
    source = ListSource(PEOPLE, people(1000))
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        for _ in range(30):
            grid.post_message(events.MouseScrollDown(grid, 5, 5, 0, 1, 0, False, False, False, 5, 5))
        await pilot.pause(0.6)
        await settled(pilot)
        assert grid.scroll_offset.y >= 30
        assert grid.cursor_row == 0
        first, last = grid.visible_rows
        assert all(grid.pages.row(at) is not None for at in range(first, last + 1))
        await pilot.press("j")
        assert grid.cursor_row == 1
        assert grid.scroll_offset.y <= 1


async def test_every_moving_key() -> None:
    app = host(ListSource(PEOPLE, people(1000)))
    async with app.run_test(size=(80, 21)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        page, half = grid.body_height - 1, grid.body_height // 2
        for key, row in [
            ("down", 1), ("j", 2), ("k", 1), ("up", 0), ("up", 0),
            ("pagedown", page), ("pageup", 0), ("ctrl+d", half), ("ctrl+u", 0),
            ("G", 999), ("g", 0), ("end", 999), ("down", 999), ("home", 0),
        ]:  # fmt: skip
            await pilot.press(key)
            assert grid.cursor_row == row, key
        for key, column in [
            ("right", 1),
            ("l", 2),
            ("h", 1),
            ("left", 0),
            ("ctrl+right", 5),
            ("ctrl+left", 0),
        ]:
            await pilot.press(key)
            assert grid.cursor_column == column, key


async def test_enter_space_and_clicks_open_and_select() -> None:
    app = host(ListSource(PEOPLE, people(100)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        await pilot.press("j", "right", "enter", "space")
        opened = app.heard_of(Grid.Opened)
        assert [(message.key[0][:8], message.column.name) for message in opened] == [("00000001", "status")]
        viewed = app.heard_of(Grid.ViewAsked)
        assert [message.column.name for message in viewed] == ["status"]
        await pilot.click(Grid, offset=(60, 5))
        assert grid_of(pilot).cursor_row == 4
        assert grid_of(pilot).column is PEOPLE[4]
        await pilot.click(Grid, offset=(60, 6), times=2)
        assert app.heard_of(Grid.Opened)[-1].key[0].startswith("00000005")
        assert app.heard_of(Grid.Highlighted)[-1].row.key[0].startswith("00000005")


async def test_sorting_by_key_and_by_header() -> None:
    app = host(ListSource(PEOPLE, people(100)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        await pilot.press("right", "right", "right")
        for key, order in [
            ("s", Order("messages")),
            ("s", Order("messages", True)),
            ("s", None),
            ("S", Order("messages", True)),
            ("S", None),
        ]:
            await pilot.press(key)
            await settled(pilot)
            assert grid.sorted_by == order
            assert app.heard_of(Grid.OrderChanged)[-1].order == order
        await pilot.click(Grid, offset=(3, 0))
        await settled(pilot)
        assert grid.sorted_by == Order("id")
        assert "Id ↑" in picture(app)[0]
        assert len(app.heard_of(Grid.OrderChanged)) == 6


async def test_a_column_that_cannot_be_sorted_only_rings() -> None:
    columns = (Column("id", "Id"), Column("x", "X", sortable=False), Column("y", "Y", missing=True))
    app = host(ListSource(columns, [(1, 2, 3)]))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("right", "s", "right", "s")
        await settled(pilot)
        assert app.heard_of(Grid.OrderChanged) == []


async def test_columns_are_widened_fitted_hidden_and_shown() -> None:
    app = host(ListSource(PEOPLE, people(100)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        await pilot.press("right", "right")
        width = grid.plan.placed[2].width
        await pilot.press("plus")
        assert grid.plan.placed[2].width == width + 4
        await pilot.press("minus", "minus")
        assert grid.plan.placed[2].width == width - 4
        await pilot.press("equals_sign")
        assert grid.plan.placed[2].width == 121  # what is looked at of a long cell, and its …
        await pilot.press("x")
        assert [grid.plan.columns[place.index].name for place in grid.plan.placed].count("name") == 0
        await pilot.press("X")
        assert len(grid.plan.placed) == 6


async def test_times_exact_and_back() -> None:
    app = host(ListSource(PEOPLE, people(100)))
    async with app.run_test(size=(100, 20)) as pilot:
        await settled(pilot)
        await pilot.press("T")
        assert "2026-11-29 11:43:20" in picture(app)[2]
        await pilot.press("T")
        assert "16 min ago" in picture(app)[2]


async def test_jumping_to_a_row_and_leaving_the_card() -> None:
    app = host(ListSource(PEOPLE, people(3000)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g", *"2500", "enter")
        await settled(pilot)
        assert grid_of(pilot).cursor_row == 2499
        assert "000009c3" in "".join(picture(app))
        await pilot.press("ctrl+g", "plus", "enter")
        assert isinstance(app.screen, JumpCard)
        app.screen.query_one(Input).value = "50%"
        await pilot.press("enter")
        await settled(pilot)
        assert grid_of(pilot).cursor_row == 1500
        await pilot.press("ctrl+g", "escape")
        assert not isinstance(app.screen, JumpCard)
        assert grid_of(pilot).cursor_row == 1500


async def test_wide_tables_draw_what_is_visible_and_keep_the_first_column() -> None:
    columns = tuple(Column(f"c{at}", f"column {at}") for at in range(300))
    rows = [tuple(f"r{row}c{at}" for at in range(300)) for row in range(60)]
    app = host(ListSource(columns, rows))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        painted = 0
        paint = grid.paint

        def counting(row: Any, index: int) -> Any:
            nonlocal painted
            painted += 1
            return paint(row, index)

        grid.paint = counting  # type: ignore[method-assign]
        await pilot.press("ctrl+right")
        await settled(pilot)
        lines = picture(app)
        assert "r5c299" in lines[6]
        assert "r5c0" in lines[6]
        assert "r5c150" not in lines[6]
        assert painted < 20 * 12 * 4
        await pilot.press("left")
        assert "r5c298" in picture(app)[6]


@pytest.mark.parametrize("theme", ["lion-dark", "mono", "textual-light"])
async def test_any_size_can_be_drawn(theme: str) -> None:
    columns = (*PEOPLE, *(Column(f"c{at}", f"column {at}") for at in range(20)))
    rows = [(*row, *("漢字 👩‍👩‍👧 שלום" for _ in range(20))) for row in people(40)]
    app = host(ListSource(columns, rows))
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await settled(pilot)
        await pilot.press("right", "right", "right", "right")
        for size in [(1, 1), (2, 9), (5, 2), (20, 5), (400, 120), (3, 40), (80, 24)]:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            grid = grid_of(pilot)
            for y in range(grid.size.height):
                assert grid.render_line(y).cell_length == max(0, grid.scrollable_content_region.width)
            await pilot.press("right", "j", "end")


async def test_under_no_color_the_cursor_is_still_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = host(ListSource(PEOPLE, people(10)))
    async with app.run_test() as pilot:
        await settled(pilot)
        styles = [segment.style for segment in grid_of(pilot).render_line(1)]
        assert any(style is not None and style.reverse for style in styles)


def test_every_key_has_an_id_and_a_tooltip_and_none_is_taken_twice() -> None:
    bindings = [binding for binding in Grid.BINDINGS if not isinstance(binding, tuple)]
    assert all(binding.id and binding.tooltip and binding.description for binding in bindings)
    assert len({binding.id for binding in bindings}) == len(bindings)
    used = [key for binding in bindings for key in binding.key.split(",")]
    assert len(set(used)) == len(used)
    place = [key for binding in keys.PLACE for key in binding.key.split(",")]
    assert set(used) & set(place) <= {"escape"}
