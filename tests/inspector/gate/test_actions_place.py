"""The place Actions: every key, every step, every refusal at one; and a probe that goes through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector import settings
from inspector.screens.admission_choice import OwnerChooser, ProfileChooser
from inspector.screens.help import help_content
from inspector.screens.journal import JournalPlace
from inspector.screens.page import PageScreen
from inspector.screens.run import RunPlace
from inspector.screens.whole import WholeScreen
from tests.inspector.actions.managed import all_hold, desk, entries, marks, read_back
from tests.inspector.driving import driven, screen_text, settled, typed
from tests.inspector.gate.gates import KIM, passage_of, place_of, press, through, to_path
from tests.persistence.stores import run_sql


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


@pytest.fixture
def state(own_places: Path) -> Path:
    return own_places / "state"


# -- without --allow-writes ---------------------------------------------------------------------------------


async def test_without_the_flag_every_step_but_the_first_can_be_seen_to_hold(
    store: Path, state: Path
) -> None:
    """The place says why it cannot hold and what would make it; it is told to the journal once."""
    before = marks(store)
    async with driven(store, "actions") as pilot:
        place = place_of(pilot)
        text = screen_text(pilot)
        assert " READ-ONLY " in text and not place.has_class("-writes")
        assert "1 ✗ started without --allow-writes" in text and "2 ▸ no profile is chosen" in text
        assert "store-inspector --allow-writes STORE" in text and "? no action is chosen" in text
        for key in ("p", "w", "s", "l", "tab", "x"):
            await press(pilot, key)
        assert pilot.app.screen is place and place.passage is None
        await press(pilot, "enter")
        text = await press(pilot, "w")
        assert "choose a profile first" in text and "p chooses one; none is ever picked for you." in text
        text = await press(pilot, *KIM)
        assert "4 ✓ admitted now" in text and "5 ✓ preview: 7 operations" in text
        assert "WAL-reset race" in text and "INSERT INTO progressions" in text
        assert not place.gate_steps.field.display
        text = await press(pilot, "tab", "enter")
        assert isinstance(pilot.app.screen, PageScreen) and "writes-not-allowed" in text
        await press(pilot, "escape")
        help_text = help_content(place).plain
        for words in ("Choose the profile", "Choose what is to be done", "it waits for you"):
            assert words in help_text
    told = [(each.action, each.event, (each.refusal or {})["code"]) for each in entries(state)]
    assert told == [("probe", "refused", "writes-not-allowed")]
    assert marks(store) == before


async def test_what_was_said_of_the_place_does_not_lie_over_a_layer(store: Path) -> None:
    async with driven(store, "actions", size=(80, 24)) as pilot:
        await press(pilot, "enter")
        assert "choose a profile first" in await press(pilot, "w")
        text = await press(pilot, "p")
        assert isinstance(pilot.app.screen, ProfileChooser) and "choose a profile first" not in text
        assert text.count("╯") == 1 and "as it was" in text
        # What is said of the layer itself is told.
        pilot.app.notify("told within it")
        assert "told within it" in await press(pilot, "down")


# -- a probe ------------------------------------------------------------------------------------------------


async def test_a_probe_goes_through_all_six_steps_and_the_gate_shuts(store: Path, state: Path) -> None:
    before = marks(store)
    async with driven(store, "actions", allow_writes=True) as pilot:
        place = place_of(pilot)
        text = screen_text(pilot)
        assert " WRITES " in text and place.has_class("-writes") and "1 ✓ started with" in text
        text = await press(pilot, "enter")
        assert "2 ▸ no profile is chosen" in text and "3 · owner: a profile first" in text
        await press(pilot, "p")
        assert isinstance(pilot.app.screen, ProfileChooser)
        text = await press(pilot, "enter")
        assert "2 ✓ profile acme-desk-fresh-run@1" in text and "3 ▸ no owner is chosen" in text
        assert "4 · not asked yet" in text and entries(state) == []
        await press(pilot, "w")
        assert isinstance(pilot.app.screen, OwnerChooser)
        text = await press(pilot, "down", "down", "enter")
        for words in (
            "3 ✓ owner kim (exists)",
            "4 ✓ admitted now",
            "schema cookie",
            "6 ▸ type acme-desk to go on",
        ):
            assert words in text, words
        for words in ("create_progression", "commits progression", "row  progression_id", "owner kim"):
            assert words in text, words
        # A call whole, and copied.
        place.listed.select("call 1")
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, WholeScreen) and "One transaction, named 'session'" in text
        await press(pilot, "y", "escape", "y")
        assert "INSERT INTO sessions" in pilot.app.clipboard
        # Half the name opens nothing, a wrong one is refused and shuts everything.
        await press(pilot, "tab")
        await typed(pilot, "acme-des")
        assert not passage_of(pilot).brought.gate.is_open  # type: ignore[union-attr]
        await press(pilot, "escape")
        assert place.listed.has_focus
        text = await press(pilot, "tab", "enter")
        assert "6 ✗ type the lineage" in text and "r asks everything anew" in text
        assert not place.gate_steps.field.display and marks(store) == before
        assert [each.event for each in entries(state)] == ["refused"]
        text = await press(pilot, "tab", "r")
        assert "6 ▸ type acme-desk to go on" in text and place.gate_steps.field.value == ""
        text = await through(pilot)
        passage = passage_of(pilot)
        assert passage.outcome is not None and passage.outcome.event == "done", text
        run = passage.outcome.run
        assert run is not None and "✓ done: 8 transactions" in text and "live message" in text
        assert "4 · not asked yet" in text and "6 · " in text  # it is shut
        assert str(state / "journal.jsonl") in text
        told = await press(pilot, "y")
        assert told and "done: run" in pilot.app.clipboard
        place.listed.select("run")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunPlace) and "store-inspector probe" in screen_text(pilot)
        await press(pilot, "0")
        assert pilot.app.screen is place
        place.listed.select("journal")
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, JournalPlace) and f'run:"{run}"' in text
        assert pilot.app.screen.grid.row_count == 1
    assert [each.event for each in entries(state)] == ["refused", "begun", "done"]
    found = read_back(store, run)
    assert found["status"] == "completed" and all_hold(store)


async def test_a_dry_run_holds_everything_and_writes_nothing(store: Path, state: Path) -> None:
    before = marks(store)
    async with driven(store, "actions", size=(80, 24)) as pilot:
        text = await press(pilot, "down", "enter", *KIM)
        assert "a dry run: it would be let in" in text and "5 ✓ preview" in text
        assert not place_of(pilot).gate_steps.field.display
        place_of(pilot).listed.select("call 7")
        assert "commits status" in await press(pilot, "k")
        text = await press(pilot, "a")
        assert "? no action is chosen" in text and "3 ▸ owner kim (not looked up yet)" in text
        for words in ("probe ", "probe, dry", "copy-run", "record "):
            assert words in text, words
    assert [each.event for each in entries(state)] == ["tried"] and marks(store) == before


async def test_esc_closes_one_layer_and_what_was_chosen_for_admission_is_chosen_here(store: Path) -> None:
    async with driven(store, "admission", allow_writes=True) as pilot:
        await press(pilot, "enter", "w", "down", "down", "enter", "0")
        place = place_of(pilot)
        assert "3 ▸ owner kim" in screen_text(pilot)
        text = await press(pilot, "enter")
        assert "5 ✓ preview" in text and place.gate_steps.field.display
        await press(pilot, "tab", "escape")
        assert place.listed.has_focus and place.passage is not None
        await press(pilot, "escape")
        assert place.passage is None
        # The palette has the places and what the keys do here.
        await press(pilot, "ctrl+p")
        await typed(pilot, "journal")
        text = screen_text(pilot)
        assert "go: Journal  J" in text


async def test_what_the_configuration_names_is_chosen_and_still_nothing_goes_by_itself(
    store: Path, state: Path
) -> None:
    config = settings.load({"profile": "acme-desk-fresh-run@1", "owner": "lee", "history": False})
    async with driven(store, "actions", config=config, allow_writes=True) as pilot:
        assert place_of(pilot).passage is None
        text = await press(pilot, "enter")
        assert "3 ✓ owner lee (exists)" in text and "6 ▸ type acme-desk" in text
    assert entries(state) == []


# -- each refusal at each step ------------------------------------------------------------------------------


async def test_a_policy_that_forbids_is_step_one(
    store: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.actions.policy.exposed_version", lambda: "3.40.1")
    config = settings.load({"writes": {"forbid_exposed_sqlite": True}, "history": False})
    before = marks(store)
    async with driven(store, "actions", config=config, allow_writes=True) as pilot:
        text = await press(pilot, "enter", *KIM)
        assert "1 ✗ started with --allow-writes, and the con" in text
        assert "forbid_exposed_sqlite" in text and not place_of(pilot).gate_steps.field.display
    assert [(each.refusal or {})["code"] for each in entries(state)] == ["writes-forbidden"]
    assert marks(store) == before


async def test_a_profile_that_cannot_be_used_and_an_owner_nobody_knows(
    store: Path, state: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "mine.toml"
    broken.write_text('name = "mine"\nversion = "one"\n')
    before = marks(store)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await press(pilot, "enter", "p", "tab")
        await typed(pilot, str(broken))
        text = await press(pilot, "enter")
        assert "2 ✗ the profile cannot be used" in text and "mine.toml" in text
        assert len(entries(state)) == 1
        await press(pilot, "p", "enter", "w", "tab")
        await typed(pilot, "nobody")
        text = await press(pilot, "enter")
        assert "3 ✗ owner nobody" in text and "6 · type the lineage" in text
        # Asked twice, refused twice; and with kim everything holds.
        await press(pilot, "r")
        text = await press(pilot, "w", "down", "down", "enter")
        assert "3 ✓ owner kim (exists)" in text
    codes = [(each.refusal or {})["code"] for each in entries(state)]
    assert codes[1:] == ["owner-unknown", "owner-unknown"] and marks(store) == before


async def test_a_store_that_is_not_admitted_is_step_four(store: Path, state: Path) -> None:
    run_sql(store, "ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''")
    before = marks(store)
    async with driven(store, "actions", size=(80, 24), allow_writes=True) as pilot:
        text = await press(pilot, "enter", *KIM)
        assert "4 ✗ not admitted: 1 finding" in text and "mood" in text
        assert "5 · no preview yet" in text and not place_of(pilot).gate_steps.field.display
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, PageScreen)
    assert [(each.refusal or {})["code"] for each in entries(state)] == ["column-extra"]
    assert marks(store) == before


async def test_without_a_journal_nothing_is_begun(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("STORE_INSPECTOR_STATE_DIR", str(tmp_path / "file" / "state"))
    before = marks(store)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await press(pilot, "enter", *KIM)
        text = await through(pilot)
        assert "refused: nothing was written" in text and "The journal of actions cannot be written" in text
    assert marks(store) == before


@pytest.mark.parametrize("flag", [False, True])
async def test_the_frame_is_on_every_place_and_the_open_store_is_read_only(store: Path, flag: bool) -> None:
    async with driven(store, "runs", allow_writes=flag) as pilot:
        for key in ("1", "4", "8", "J"):
            text = await press(pilot, key)
            assert (" WRITES " in text) is flag and (" READ-ONLY " in text) is not flag
            assert pilot.app.screen.has_class("-writes") is flag
        assert str(pilot.app.opened.db.mode) == "read-only"  # type: ignore[attr-defined]
        if flag:
            await press(pilot, "0", "enter")
            await settled(pilot)
            await press(pilot, "a", "j", "j", "enter")
            await press(pilot, "escape")
            assert place_of(pilot).passage is None
            await press(pilot, "j", "enter")
            text = await to_path(pilot, store)  # a file of the store itself
            assert "The input is a file of the store itself" in text


# -- from the command line ----------------------------------------------------------------------------------


def test_the_flag_reaches_the_application_and_the_demo_begins_at_the_gate(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.cli import run

    seen: list[tuple[str | None, str | None, bool]] = []

    def started(location: Any, *, start_place: str | None, allow_writes: bool, **_: Any) -> int:
        seen.append((None if location is None else location.name, start_place, allow_writes))
        return 0

    monkeypatch.setattr("inspector.app.run", started)
    for module in ("open", "demo"):
        monkeypatch.setattr(f"inspector.cli.commands.{module}.need_terminal", lambda: None, raising=False)
    assert run([str(store)]) == 0 and run(["--allow-writes", str(store), "--at", "actions"]) == 0
    assert run(["demo", "--allow-writes", "--dir", str(tmp_path / "gallery")]) == 0
    assert seen == [
        ("managed.db", None, False), ("managed.db", "actions", True), ("managed.db", "actions", True),
    ]  # fmt: skip
