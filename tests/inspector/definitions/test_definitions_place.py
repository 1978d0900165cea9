"""Definitions on a real store: the list, a definition's versions, what changed, the file at its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.screens.definition import DefinitionPlace
from inspector.screens.definitions import DefinitionsPlace
from inspector.values.code_sheet import CodeSheet
from inspector.values.diff_sheet import DiffSheet
from tests.inspector.definitions.authored import SECOND, THIRD, make_definitions
from tests.inspector.driving import CONTROLS, driven, screen_text, settled, typed
from tests.persistence.stores import make_store, marks_of

pytestmark = pytest.mark.usefixtures("frozen_clock")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_definitions(tmp_path)


async def test_the_list_opens_a_definition_and_comes_back(store: Path) -> None:
    before = marks_of(store)
    async with driven(store, "definitions") as pilot:
        shown = screen_text(pilot)
        assert "1 of 4" in shown and "clerk" in shown and "twelfths" in shown
        assert not CONTROLS.search(shown.replace("\n", ""))
        await pilot.press("enter")
        await settled(pilot)
        place: Any = pilot.app.screen
        assert isinstance(place, DefinitionPlace) and place.versions.numbers == [3, 2, 1]
        assert isinstance(place.value.sheet, CodeSheet)
        assert "ask when in doubt" in screen_text(pilot) and "ask [b]first[/b] ␛[7m" in screen_text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, DefinitionsPlace)
    assert marks_of(store) == before


async def test_the_list_is_narrowed_and_let_go(store: Path) -> None:
    async with driven(store, "definitions") as pilot:
        await pilot.press("slash")
        await typed(pilot, "play")
        assert "1 of 1" in screen_text(pilot)
        await pilot.press("enter")
        await pilot.press("escape")
        await settled(pilot)
        assert "1 of 4" in screen_text(pilot)


async def test_changes_are_shown_in_two_columns_and_in_one(store: Path) -> None:
    async with driven(store, "definitions/agent%2Fclerk") as pilot:
        place: Any = pilot.app.screen
        await pilot.press("v")
        await settled(pilot)
        assert isinstance(place.value.sheet, DiffSheet) and place.value.sheet.beside
        assert "v2 → v3" in screen_text(pilot) and "2 lines came, 0 went" in screen_text(pilot)
        await pilot.press("j")
        await settled(pilot)
        shown = screen_text(pilot)
        assert "v1 → v2" in shown and "You keep the tide tables of both" in shown
        await pilot.press("u")
        assert not place.value.sheet.beside
        await pilot.press("u")
        assert place.value.sheet.beside
        await pilot.press("j")
        await settled(pilot)
        assert "there is no version before this one" in screen_text(pilot)


async def test_any_two_versions_are_compared(store: Path) -> None:
    async with driven(store, "definitions/agent%2Fclerk") as pilot:
        await pilot.press("G", "m", "g", "v")
        await settled(pilot)
        shown = screen_text(pilot)
        assert "v1 → v3" in shown and "3 lines came, 1 went" in shown and "◆ v1" in shown
        await pilot.press("m", "m")
        await settled(pilot)
        assert "v2 → v3" in screen_text(pilot)


@pytest.mark.parametrize(
    ("name", "word", "why"),
    [
        ("agent%2Fclerk", "differs", "is not version 3"),
        ("playbook%2Fboard", "gone", "nothing is at the path"),
        ("skill%2Ftwelfths", "cannot tell", "the path is relative"),
        ("agent%2Fevil%20%5Bb%5D", "cannot tell", "it is a file of an open store"),
    ],
)
async def test_the_stored_version_against_the_file_now(store: Path, name: str, word: str, why: str) -> None:
    async with driven(store, f"definitions/{name}/file") as pilot:
        shown = screen_text(pilot)
        assert word in shown and why in shown


async def test_a_version_that_is_the_file(store: Path) -> None:
    async with driven(store, "definitions/agent%2Fclerk/file") as pilot:
        await pilot.press("j")
        await settled(pilot)
        assert "✓ same" in screen_text(pilot)


async def test_what_is_shown_is_copied_and_exported(store: Path) -> None:
    async with driven(store, "definitions/agent%2Fclerk") as pilot:
        place: Any = pilot.app.screen
        copy = await place.copied()
        assert copy is not None and copy.text == THIRD
        await pilot.press("v")
        await settled(pilot)
        copy = await place.copied()
        assert copy is not None and copy.text.startswith("--- version 2\n+++ version 3\n@@ -7,3 +7,5 @@\n")
        pieces = [piece async for piece in place.exported().texts["text"]()]
        assert "".join(pieces) == copy.text and SECOND not in copy.text


async def test_tab_goes_to_the_text_and_escape_back(store: Path) -> None:
    async with driven(store, "definitions/agent%2Fclerk", size=(80, 24)) as pilot:
        place: Any = pilot.app.screen
        await pilot.press("tab")
        assert place.value.has_focus
        await pilot.press("escape")
        assert place.versions.has_focus
        await pilot.press("enter")
        assert place.value.has_focus
        await pilot.press("tab", "v")
        await settled(pilot)
        assert not place.value.sheet.beside


async def test_one_that_is_not_there_says_so(store: Path) -> None:
    async with driven(store, "definitions/agent%2Fnobody") as pilot:
        assert "There is no such definition" in screen_text(pilot)


async def test_a_store_without_any_says_so(tmp_path: Path) -> None:
    async with driven(make_store(tmp_path / "empty.db"), "definitions") as pilot:
        assert "There are no definitions in this store." in screen_text(pilot)
