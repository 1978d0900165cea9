"""Choosing what an admission is asked about; and that no name, of a store or of a profile, ever acts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from inspector.screens.admission_choice import OperationsChooser, OwnerChooser, ProfileChooser
from inspector.screens.refused import RefusedPlace
from inspector.widgets.failure import FailurePanel
from tests.inspector.admission.desks import admit, changed, desk, place_of, press
from tests.inspector.driving import CONTROLS, driven, screen_text, settled

# -- choosing -----------------------------------------------------------------------------------------------


async def test_p_takes_a_name_a_path_and_says_what_is_wrong_with_one(tmp_path: Path) -> None:
    broken = tmp_path / "mine.toml"
    broken.write_text('name = "mine"\nversion = "one"\n')
    store = desk(tmp_path)
    async with driven(store, "admission") as pilot:
        place = place_of(pilot)
        await press(pilot, "p")
        assert isinstance(pilot.app.screen, ProfileChooser)
        await press(pilot, "j", "k", "escape")
        assert place.report is None
        await press(pilot, "p", "tab", *"acme")
        pilot.app.screen.query_one(Input).value = "acme-desk-fresh-run"
        await press(pilot, "enter")
        assert place.choice.profile is not None and place.report is not None
        first = place.report
        await press(pilot, "p", "tab")
        pilot.app.screen.query_one(Input).value = str(broken)
        text = await press(pilot, "enter")
        assert pilot.app.screen is place and place.query_one(FailurePanel).display, text
        assert "mine.toml" in text and place.report is first
        await press(pilot, "escape")
        assert not place.query_one(FailurePanel).display


async def test_tab_completes_the_path_of_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from persistence.profiles.catalogue import SHIPPED

    store = desk(tmp_path)
    (tmp_path / "documents").mkdir()
    mine = tmp_path / "documents" / "ours-of-spring.toml"
    mine.write_text((SHIPPED / "acme-desk-fresh-run.toml").read_text("utf-8"))
    monkeypatch.chdir(tmp_path)
    async with driven(store, "admission") as pilot:
        place = place_of(pilot)
        await press(pilot, "p", "tab", "d", "o", "c")
        await press(pilot, "tab")
        assert pilot.app.screen.query_one(Input).value == "documents/"
        assert "ours-of-spring.toml" in screen_text(pilot)
        await press(pilot, "o")
        await press(pilot, "tab")
        assert pilot.app.screen.query_one(Input).value == "documents/ours-of-spring.toml"
        await press(pilot, "escape", "tab", "enter")
        assert place.choice.profile is not None and place.report is not None


async def test_a_profile_in_the_users_directory_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.profiles.catalogue import SHIPPED

    monkeypatch.setenv("STORE_INSPECTOR_CONFIG_DIR", str(tmp_path / "config"))
    mine = tmp_path / "config" / "profiles"
    mine.mkdir(parents=True)
    text = (SHIPPED / "acme-desk-fresh-run.toml").read_text("utf-8")
    (mine / "ours.toml").write_text(text.replace('name = "acme-desk-fresh-run"', 'name = "ours"', 1))
    (mine / "torn.toml").write_text("name = \n")
    async with driven(desk(tmp_path), "admission") as pilot:
        text = screen_text(pilot)
        assert "ours@1  user" in text and "torn  user" in text and "✗ cannot be used" in text
        await press(pilot, "enter")
        place = place_of(pilot)
        assert place.choice.profile is not None and place.choice.profile.identity == "ours@1"


async def test_w_lists_the_principals_and_takes_any_name_exactly(tmp_path: Path) -> None:
    store = changed(tmp_path, "INSERT INTO principals VALUES (' blank ', 'B', 'person', 0)")
    async with driven(store, "admission") as pilot:
        place = await admit(pilot, owner=None)
        text = await press(pilot, "w")
        assert isinstance(pilot.app.screen, OwnerChooser)
        assert "nobody yet" in text and "lee  Lee  person" in text
        await press(pilot, "escape")
        assert place.choice.owner is None
        await press(pilot, "w", "tab", "space", *"blank", "space", "enter")
        assert place.choice.owner == " blank " and place.report is not None and place.report.admitted
        await press(pilot, "w", "tab", *"pat", "enter")
        assert [finding.code for finding in place.report.findings] == ["owner-unknown"]
        await press(pilot, "w", "home", "enter")
        assert place.choice.owner is None


async def test_a_chooses_what_is_asked_for(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission", size=(120, 50)) as pilot:
        place = await admit(pilot)
        profile = place.choice.profile
        assert profile is not None
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, OperationsChooser)
        text = await press(pilot, "space")
        assert "· create_progression" in text and "✓ create_session" in text
        await press(pilot, "j", "k", "enter")
        assert place.choice.operations == profile.operations[1:]
        text = screen_text(pilot)
        assert f"a operations {len(profile.operations) - 1} of {len(profile.operations)}" in text
        assert place.report is not None and place.report.operations == profile.operations[1:]
        await press(pilot, "a", "a", "enter")
        assert place.choice.operations is None
        assert "mark at least one" in await press(pilot, "a", "a", "enter")
        assert isinstance(pilot.app.screen, OperationsChooser)
        await press(pilot, "escape")
        assert place.choice.operations is None


@pytest.mark.adr("0128-D2-17")
async def test_an_operation_the_profile_does_not_name_is_refused(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission", size=(120, 50)) as pilot:
        place = await admit(pilot)
        profile = place.choice.profile
        assert profile is not None
        place._operations_chosen(_asking(*profile.operations, "set_progression"))
        await settled(pilot)
        assert place.report is not None and [one.code for one in place.report.findings] == [
            "operation-unlisted"
        ]
        await press(pilot, "a")
        assert "✓ set_progression  not in this profile" in screen_text(pilot)
        await press(pilot, "escape")
        await press(pilot, "shift+tab")
        assert "✗ set_progression  not in the profile" in screen_text(pilot)


def _asking(*operations: str) -> Any:
    from inspector.screens.admission_choice import Chosen

    return Chosen(operations=operations)


async def test_the_head_is_clicked(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission") as pilot:
        await pilot.click("#admission-verdict", offset=(6, 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, ProfileChooser)
        await press(pilot, "escape")
        await admit(pilot, owner=None)
        await pilot.click("#admission-choice", offset=(40, 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, OwnerChooser)


# -- whose words they are -----------------------------------------------------------------------------------


async def test_names_of_the_schema_never_act(tmp_path: Path) -> None:
    """Markup, control sequences and direction marks in names and SQL are shown, not obeyed."""
    nasty = "[@click=app.quit]x[/] \x1b[31m \u202e"
    store = changed(
        tmp_path,
        f'ALTER TABLE sessions ADD COLUMN "{nasty}" TEXT',
        f"CREATE TRIGGER \"{nasty} t\" AFTER INSERT ON messages BEGIN SELECT '{nasty}'; END",
        f"INSERT INTO principals VALUES ('{nasty}', '{nasty}', 'person', 0)",
    )
    async with driven(store, "admission", size=(140, 50)) as pilot:
        place = await admit(pilot, owner=None)
        seen = screen_text(pilot)
        for keys in (
            ("w",),
            ("down",) * 4,
            ("enter",),
            ("j", "j", "enter"),
            ("escape", "tab"),
            ("tab",),
            ("y",),
        ):
            seen += await press(pilot, *keys)
        assert "[@click=app.quit]x[/]" in seen and not CONTROLS.search(seen)
        assert place.choice.owner == nasty and not CONTROLS.search(pilot.app.clipboard)


async def test_a_server_is_told_that_admission_is_for_files(unused_tcp_port: int) -> None:
    async with driven(
        f"postgresql://kim@127.0.0.1:{unused_tcp_port}/desk?sslmode=disable", "admission"
    ) as pilot:
        if isinstance(pilot.app.screen, RefusedPlace):
            await press(pilot, "3")
        place = await admit(pilot, owner=None)
        assert place.report is not None and place.report.findings[0].code == "not-a-store"
        assert "a server database" in screen_text(pilot) and "not read" in screen_text(pilot)
        await press(pilot, "y")
        assert "a server database" in pilot.app.clipboard


async def test_words_of_a_profile_never_act(tmp_path: Path) -> None:
    """A document is somebody's text as well: its reasons, its lineage and what is wrong with it."""
    from persistence.profiles.catalogue import SHIPPED

    nasty = "[@click=app.quit]x[/] \\u001b[31m \\u202e"
    text = (SHIPPED / "acme-desk-fresh-run.toml").read_text("utf-8")
    text = text.replace('lineage = "acme-desk"', f'lineage = "{nasty}"', 1)
    text = text.replace('desk_pinned = "', f'desk_pinned = "{nasty} ', 1)
    document = tmp_path / "nasty.toml"
    document.write_text(text)
    async with driven(desk(tmp_path), "admission", size=(140, 50)) as pilot:
        place = place_of(pilot)
        await press(pilot, "p", "tab")
        pilot.app.screen.query_one(Input).value = str(document)
        seen = await press(pilot, "enter")
        assert place.report is not None and place.report.findings[0].code == "lineage-other"
        seen += await press(pilot, "tab")
        assert place.ceiling.select("sessions", "desk_pinned")
        await settled(pilot)
        reason = screen_text(pilot)
        seen += reason + await press(pilot, "shift+tab", "shift+tab")
        assert "[@click=app.quit]x[/]" in reason and seen.count("[@click=app.quit]x[/]") >= 2
        assert not CONTROLS.search(seen)
