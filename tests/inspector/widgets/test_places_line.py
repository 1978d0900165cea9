"""The line of places: every place is on it at any width, with as much of its title as there is room for."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen

from inspector.roles import ROLES
from inspector.screens import PLACES
from inspector.widgets.pieces import laid_out
from inspector.widgets.shell import PlacesLine

NUMBERED = [place for place in PLACES if place.key]


async def shown(width: int) -> str:
    """The line's text at a width, by what is laid out there."""

    class Roles(Screen[None]):
        COMPONENT_CLASSES = set(ROLES)  # noqa: RUF012

    class Host(App[None]):
        def get_default_screen(self) -> Screen[None]:
            return Roles()

        def compose(self) -> ComposeResult:
            yield PlacesLine(id="line")

    app = Host()
    async with app.run_test(size=(width, 3)) as pilot:
        line = app.query_one(PlacesLine)
        line.show_places(NUMBERED, "runs", {"lineage": "no such thing here"})
        await pilot.pause()
        room = line.content_size.width
        out = [" "] * room
        for column, piece in laid_out(line.pieces, room):
            for offset, character in enumerate("".join(run.text for run in piece.text)):
                if column + offset < room:
                    out[column + offset] = character
        return "".join(out)


@pytest.mark.parametrize("width", [240, 130])
async def test_all_titles_where_there_is_room(width: int) -> None:
    line = await shown(width)
    for place in NUMBERED:
        assert f"{place.key} {place.title}" in line


@pytest.mark.parametrize("width", [100, 80, 72])
async def test_titles_are_cut_alike_and_the_current_one_stays(width: int) -> None:
    line = await shown(width)
    assert "4 Runs" in line
    cut = [word for word in line.split() if word.endswith("…")]
    assert len({len(word) for word in cut}) <= 1
    for place in NUMBERED:
        assert f"{place.key} {place.title[:3]}" in line


async def test_numbers_alone_at_last() -> None:
    line = await shown(40)
    assert "4 Runs" in line
    assert [place.key for place in NUMBERED if place.key in line.split()] == [place.key for place in NUMBERED]
