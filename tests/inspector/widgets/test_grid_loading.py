"""What the windowed table loads and keeps: new rows, late cells, failures, counting, a million rows."""

from __future__ import annotations

import asyncio
import gc
import random

import pytest

from inspector.widgets.grid import Grid
from inspector.widgets.grid_windows import KEPT, PAGE
from persistence.errors import StoreError
from persistence.records import Extent, Order, Progress, Row
from tests.inspector.widgets.hosting import grid_host as host
from tests.inspector.widgets.hosting import grid_of, picture, settled
from tests.inspector.widgets.sources import PEOPLE, CountingSource, ListSource, people

pytestmark = pytest.mark.usefixtures("frozen_clock")


async def test_the_cursor_stays_on_its_row_when_rows_arrive_above() -> None:
    rows = people(400)
    app = host(ListSource(PEOPLE, rows))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        await pilot.press("ctrl+g", *"200", "enter")
        await settled(pilot)
        row, line = grid.row, grid.cursor_row - grid.scroll_offset.y
        new = [(f"new-{at}", *rows[0][1:]) for at in range(12)]
        grid.show(ListSource(PEOPLE, new + rows))
        await settled(pilot)
        assert grid.row == row
        assert grid.cursor_row == 211
        assert grid.cursor_row - grid.scroll_offset.y == line
        assert "↑ 12 new" in picture(app)[0]
        await pilot.press("g")
        assert "new" not in picture(app)[0]


async def test_at_the_top_new_rows_come_into_sight_and_stand_out() -> None:
    rows = people(50)
    app = host(ListSource(PEOPLE, rows))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        grid.show(ListSource(PEOPLE, [("new", *rows[0][1:]), *rows]))
        await settled(pilot)
        assert grid.cursor_row == 0
        assert picture(app)[1].split()[0].endswith("new")
        assert grid.fresh == {("new",)}


async def test_a_row_that_is_gone_leaves_the_cursor_where_it_was() -> None:
    rows = people(100)
    app = host(ListSource(PEOPLE, rows))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        await pilot.press("G")
        grid.show(ListSource(PEOPLE, rows[:40]))
        await settled(pilot)
        assert grid.cursor_row == 39
        assert grid.row is not None
        grid.show(ListSource(PEOPLE, []))
        await settled(pilot)
        assert "Nothing here." in "".join(picture(app))
        for key in ("j", "G", "pagedown", "enter", "s", "ctrl+g", "x", "equals_sign"):
            await pilot.press(key)
        await settled(pilot)
        grid.show(ListSource(PEOPLE, rows))
        await settled(pilot)
        assert "nightly" in "".join(picture(app))


async def test_another_filter_begins_at_the_top_with_the_same_widths() -> None:
    app = host(ListSource(PEOPLE, people(500)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        placed = grid.plan.placed
        await pilot.press("G")
        grid.show(ListSource(PEOPLE, people(30)[10:]), keep_place=False)
        await settled(pilot)
        assert (grid.cursor_row, grid.scroll_offset.y) == (0, 0)
        assert grid.plan.placed == placed
        assert "new" not in picture(app)[0]


async def test_cells_still_to_come_are_shown_as_such_and_then_filled_once() -> None:
    source = ListSource(PEOPLE, people(100), pending=("messages",))
    source.gate = asyncio.Event()
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        source.gate.set()
        await pilot.pause()
        source.gate.clear()
        for _ in range(10):
            await pilot.pause()
            if grid_of(pilot).row is not None:
                break
        assert "…" in picture(app)[2]
        source.gate.set()
        await settled(pilot)
        assert "37" in picture(app)[2]
        done = source.completions
        grid_of(pilot).ask()
        await settled(pilot)
        assert source.completions == done


async def test_until_rows_come_there_are_faint_lines_and_keys_do_no_harm() -> None:
    source = ListSource(PEOPLE, people(100))
    source.gate = asyncio.Event()
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        assert "┄┄" in picture(app)[3]
        assert grid_of(pilot).words == "loading"
        await pilot.press("j", "G", "s", "enter", "space", "T", "plus", "equals_sign", "pagedown")
        source.gate.set()
        await settled(pilot)
        assert app.heard_of(Grid.Opened) == []
        assert "nightly" in "".join(picture(app))


async def test_a_long_sort_can_be_stopped_and_the_rows_stay() -> None:
    source = ListSource(PEOPLE, people(100))
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        source.gate = asyncio.Event()
        await pilot.press("s")
        await pilot.pause()
        assert "sorting" in picture(app)[0]
        assert "nightly" in picture(app)[1]
        await pilot.press("escape")
        await pilot.pause()
        assert "sorting" not in picture(app)[0]
        assert grid_of(pilot).sorted_by is None
        source.gate.set()
        await settled(pilot)
        assert app.heard_of(Grid.OrderChanged) == []
        assert "nightly" in picture(app)[1]


async def test_escape_is_the_places_own_when_there_is_nothing_to_stop() -> None:
    app = host(ListSource(PEOPLE, people(10)))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "escape" not in app.screen.active_bindings


async def test_a_page_that_cannot_be_read_hides_no_other_and_can_be_tried_again() -> None:
    source = ListSource(PEOPLE, people(500))
    source.broken = lambda first: first >= 480
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        assert app.heard_of(Grid.Failed)[-1].error.code == "damaged"
        assert "could not be read" in "".join(picture(app))
        reads = len(source.reads)
        await pilot.press("up", "down")
        await settled(pilot)
        assert len(source.reads) == reads
        await pilot.press("g")
        await settled(pilot)
        assert "nightly" in "".join(picture(app))
        source.broken = lambda first: False
        grid_of(pilot).retry()
        await pilot.press("G")
        await settled(pilot)
        assert grid_of(pilot).row is not None


async def test_a_source_that_cannot_be_read_at_all_says_why_and_what_to_do() -> None:
    source = ListSource(PEOPLE, people(5))
    source.broken = lambda first: True
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        text = "\n".join(picture(app))
        assert "The page is malformed." in text
        assert "Look at another part." in text
        source.broken = lambda first: False
        grid_of(pilot).retry()
        await settled(pilot)
        assert "nightly" in "".join(picture(app))


async def test_a_refused_order_is_reported_and_changes_nothing() -> None:
    class Unsorted(ListSource):
        def ordered(self, order: Order | None) -> ListSource:
            raise StoreError("This view has no order.", code="no-order")

    app = host(Unsorted(PEOPLE, people(5)))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("s")
        await settled(pilot)
        assert app.heard_of(Grid.Failed)[-1].error.code == "no-order"
        assert "nightly" in "".join(picture(app))


async def test_counting_goes_on_after_the_first_rows_and_the_end_is_followed() -> None:
    source = ListSource(PEOPLE, people(5000), known=0)
    app = host(source)
    async with app.run_test(size=(80, 20)) as pilot:
        grid = grid_of(pilot)
        for _ in range(50):
            await pilot.pause()
            if grid.row is not None:
                break
        source.gate = asyncio.Event()
        await pilot.press("G")
        source.gate.set()
        await settled(pilot)
        assert grid.extent.complete
        assert grid.row_count == 5000
        assert grid.words == f"{grid.cursor_row + 1:,} of 5,000"


async def test_the_words_say_what_is_not_all() -> None:
    part = ListSource(PEOPLE, people(30), part_of="A view has no key.")
    app = host(part)
    async with app.run_test() as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        assert grid.words == "1 of 30 · first part"
        grid.extent = Extent(30, False, estimate=10_000, progress=Progress(1200, 10_000))
        assert grid.words == "1 of about 10,000 · counting 12 %"
        grid.extent = Extent(30, False, estimate=20)
        assert grid.words == "1 of 30+ · counting"
        grid.clear()
        assert grid.words == ""


async def test_rows_by_key() -> None:
    app = host(ListSource(PEOPLE, people(3000)))
    async with app.run_test(size=(80, 20)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        assert await grid.go_to_key((people(3000)[2345][0],))
        await settled(pilot)
        assert grid.cursor_row == 2345
        assert not await grid.go_to_key(("nobody",))
        whole = await grid.whole_row()
        assert whole is not None
        assert whole.key == grid.row.key  # type: ignore[union-attr]


async def test_a_million_rows_end_to_end_hold_a_bounded_number() -> None:
    source = CountingSource()
    app = host(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)

        async def sweep(steps: int) -> None:
            for at in range(steps):
                grid.go(at * (source.total // steps))
                for _ in range(50):
                    await asyncio.sleep(0)
                    if grid.row is not None:
                        break
                app.screen._compositor.render_strips()
            app.heard.clear()
            await settled(pilot)

        await sweep(100)
        gc.collect()
        alive = sum(isinstance(thing, Row) for thing in gc.get_objects())
        assert len(source.reads) > 80
        assert len(grid.pages) <= KEPT * PAGE
        assert alive <= KEPT * PAGE + 300
        await pilot.press("G")
        await settled(pilot)
        assert "999999" in picture(app)[-1].replace(",", "")


async def test_a_storm_of_scrolling_costs_few_reads_and_ends_at_what_is_visible() -> None:
    source = CountingSource()
    app = host(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        grid = grid_of(pilot)
        source.reads.clear()
        source.gate = asyncio.Event()
        rng = random.Random(1)
        for _ in range(200):
            grid.scroll_to(y=rng.randrange(990_000), animate=False, immediate=True)
        await pilot.pause(0.4)
        assert len(source.reads) < 20
        first, last = grid.visible_rows
        assert all(grid.pages.row(at) is not None for at in range(first, last + 1))
