"""The write ceiling: what each cell says, how the cursor goes from column to column, and its room."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from inspector.roles import ROLES
from inspector.widgets.ceiling import Ceiling, CeilingCell, cells_of
from persistence.profiles import load_profile
from persistence.profiles.codes import finding
from tests.inspector.widgets.hosting import Host


class Shown(Host):
    """The grid alone on a screen with our roles."""

    class Roles(Screen[None]):
        COMPONENT_CLASSES: ClassVar[set[str]] = set(ROLES)

    def get_default_screen(self) -> Screen[None]:
        return self.Roles(id="_default")


def cells() -> dict[tuple[str, str], CeilingCell]:
    profile = load_profile("acme-desk-fresh-run")
    return {(cell.table, cell.column): cell for _, row in cells_of(profile) for cell in row}


def test_each_column_says_what_may_be_written_of_it() -> None:
    found = cells()
    assert found["sessions", "id"].marks == "i " and found["sessions", "name"].marks == "iu"
    assert found["sessions", "owner_id"].marks == "o " and found["sessions", "desk_pinned"].marks == "· "
    assert found["sessions", "user_label"].marks == "·u" and found["sessions", "user_label"].why
    assert found["sessions", "desk_pinned"].why and not found["sessions", "id"].why
    assert found["principals", "id"].marks == "· " and found["principals", "id"].why is None


def test_every_column_of_every_table_is_there_and_unwritten_tables_come_last() -> None:
    profile = load_profile("acme-desk-fresh-run")
    rows = list(cells_of(profile))
    assert sum(len(each) for _, each in rows) == sum(len(t.columns) for t in profile.closure.tables.values())
    assert rows[-1][0] == "principals"


def test_what_an_admission_found_stands_at_its_column() -> None:
    profile = load_profile("acme-desk-fresh-run")
    findings = (
        finding("column-extra", table="sessions", object="mood", observed="TEXT"),
        finding("column-type", table="Messages", object="DESK_FLAGS"),
        finding("index-plain", table="sessions", object="name"),
    )
    found = {(cell.table, cell.column): cell for _, row in cells_of(profile, findings) for cell in row}
    assert found["sessions", "mood"].drift == "column-extra" and found["sessions", "mood"].shape == "TEXT"
    assert found["messages", "desk_flags"].drift == "column-type"
    assert found["sessions", "name"].drift is None  # a notice refuses nothing


def widget(pilot: Pilot[Any]) -> Ceiling:
    return pilot.app.query_one(Ceiling)


@pytest.mark.parametrize("size", [(120, 30), (80, 12), (12, 6), (3, 3)])
async def test_the_cursor_reaches_every_column(size: tuple[int, int]) -> None:
    """In any room: forwards by `right`, backwards by `left`, and no step is lost."""
    async with Shown(lambda: Ceiling(id="ceiling")).run_test(size=size) as pilot:
        ceiling = widget(pilot)
        ceiling.show(cells_of(load_profile("acme-desk-fresh-run")))
        await pilot.pause()
        everything = list(cells())
        seen = []
        for _ in everything:
            assert ceiling.cell is not None
            seen.append((ceiling.cell.table, ceiling.cell.column))
            ceiling.action_across(1)
        assert seen == list(dict.fromkeys(seen)) and set(seen) == set(everything)
        for _ in range(3):
            ceiling.action_across(-1)
        assert ceiling.cell is not None and ceiling.cell.column == seen[-4][1]


async def test_keys_the_mouse_and_another_width_keep_the_column() -> None:
    async with Shown(lambda: Ceiling(id="ceiling")).run_test(size=(100, 30)) as pilot:
        ceiling = widget(pilot)
        await pilot.press("right", "left", "j")  # nothing is shown yet
        assert ceiling.cell is None
        ceiling.show(cells_of(load_profile("acme-desk-fresh-run")))
        ceiling.focus()
        await pilot.press("right", "l", "h", "down")
        first = ceiling.cell
        assert first is not None
        await pilot.resize_terminal(40, 20)
        await pilot.pause()
        assert ceiling.cell == first
        await pilot.resize_terminal(100, 30)
        await pilot.click(ceiling, offset=(1, 1))
        assert ceiling.cell is not None and ceiling.cell.column == "id"
        await pilot.press("G")
        assert ceiling.cell.table == "principals"
        await pilot.press("g")
        assert ceiling.cell.column == "id" and not ceiling.select("no", "such")
