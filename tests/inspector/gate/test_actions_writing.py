"""Copying a run, recording one, refused half-way, stopped, and leaving meanwhile: through the application."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from inspector.actions.journal import Phase
from inspector.screens import actions_preview
from inspector.screens.actions_choice import FileChooser, LeaveOutChooser, RunChooser, StoreChooser
from inspector.screens.runs import RunsPlace
from inspector.screens.whole import WholeScreen
from tests.inspector.actions.managed import all_hold, desk, entries, marks, read_back, rows, source
from tests.inspector.actions.test_record_lines import BRANCH, END, MESSAGE, SESSION, written
from tests.inspector.driving import CONTROLS, driven, screen_text, settled, typed
from tests.inspector.gate.gates import KIM, before_call, ended, passage_of, place_of, press, through, to_path
from tests.managed import manager
from tests.persistence.stores import put, run_sql, session


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


@pytest.fixture
def state(own_places: Path) -> Path:
    return own_places / "state"


@pytest.fixture
def taken_from(tmp_path: Path) -> Path:
    (tmp_path / "from").mkdir()
    return source(tmp_path / "from" / "state.db")


async def to_copy(pilot: Any, taken_from: Path) -> str:
    """From the choice of actions to the preview of a copy, as kim."""
    place_of(pilot).listed.select("action copy-run")
    await press(pilot, "enter")
    await to_path(pilot, taken_from)
    return await press(pilot, "enter", *KIM)


# -- copy-run -----------------------------------------------------------------------------------------------


async def test_a_run_of_another_store_is_chosen_and_copied(
    store: Path, taken_from: Path, state: Path
) -> None:
    hostile = "[b]Tide[/b] \x1b[31mboard\u202e"
    run_sql(taken_from, "UPDATE progressions SET collection = '[\"m0000\",\"gone\"]' WHERE id = 'pb1'")
    put(taken_from, "sessions", session(2, name="other"))
    connection = sqlite3.connect(taken_from)
    connection.execute("UPDATE sessions SET name = ? WHERE id = 's001'", (hostile,))
    connection.commit()
    connection.close()
    before = marks(taken_from)
    async with driven(store, "actions", allow_writes=True) as pilot:
        place = place_of(pilot)
        await press(pilot, "j", "j", "enter")
        assert isinstance(pilot.app.screen, StoreChooser)
        assert "no such" not in await to_path(pilot, taken_from)
        assert isinstance(pilot.app.screen, RunChooser)
        # Narrowed, and taken.
        await press(pilot, "slash")
        await typed(pilot, "tide")
        await press(pilot, "enter")
        assert pilot.app.screen.grid.row_count == 1
        text = await press(pilot, "enter", *KIM)
        assert pilot.app.screen is place and "state.db › [b]Tide[/b]" in text and not CONTROLS.search(text)
        assert "5 ✗ preview" in text and "source-dangling" in text and "l chooses what" in text
        assert (
            not place.gate_steps.field.display and rows(store, "SELECT * FROM sessions WHERE id='s001'") == []
        )
        # All of it is named on a page of its own.
        place.listed.select("obstacle 0")
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, WholeScreen) and "message gone" in text
        await press(pilot, "y", "escape")
        assert "message gone" in pilot.app.clipboard
        # What is in the way is left out only when that is said.
        text = await press(pilot, "l")
        assert isinstance(pilot.app.screen, LeaveOutChooser) and "✓" not in text.split("go on without")[1]
        await press(pilot, "a", "a", "j", "space", "k", "j", "enter")
        text = screen_text(pilot)
        assert "l without dangling" in text and "Left out" in text and "6 ▸ type acme-desk" in text
        place.listed.select("more")
        text = await press(pilot, "G", "enter")
        assert passage_of(pilot).brought.preview.more == {}  # type: ignore[union-attr]
        assert len(passage_of(pilot).brought.preview.calls) > 12  # type: ignore[union-attr]
        text = await through(pilot)
        outcome = passage_of(pilot).outcome
        assert outcome is not None and outcome.event == "done" and "6 message" in text
        assert Phase("message", 6) in outcome.committed
        # Once more: its ids are taken, and nothing is written.
        after = rows(store, "SELECT count(*) FROM messages")
        text = await press(pilot, "r")
        assert "Ids of the run are taken in the managed store" in text and "session s001" in text
        text = await press(pilot, "s", "escape")
        assert pilot.app.screen is place and rows(store, "SELECT count(*) FROM messages") == after
    assert marks(taken_from) == before and all_hold(store)
    assert read_back(store, "s001")["status"] == "completed"
    told = [(each.event, (each.refusal or {}).get("code")) for each in entries(state)]
    assert told == [("refused", "source-dangling"), ("begun", None), ("done", None), ("refused", "id-taken")]


async def test_from_a_run_one_stands_on_to_the_gate_of_another_store(store: Path, taken_from: Path) -> None:
    async with driven(taken_from, "run/s001", size=(80, 24), allow_writes=True) as pilot:
        await press(pilot, "C", "escape", "C")
        assert isinstance(pilot.app.screen, StoreChooser) and "into which managed store?" in screen_text(
            pilot
        )
        await to_path(pilot, store)
        text = screen_text(pilot)
        assert "managed.db" in text and "state.db › Tide board" in text and "Actions › copy-run" in text
        await press(pilot, *KIM)
        text = await through(pilot)
        assert "✓ done: " in text and "6 message" in text
        # It is a run of this store now; going to another store forgets the gate.
        place_of(pilot).listed.select("run")
        assert "Tide board" in await press(pilot, "enter")
        pilot.app.open_store(str(taken_from))  # type: ignore[attr-defined]
        await settled(pilot)
        await press(pilot, "0")
        assert place_of(pilot).passage is None
    assert read_back(store, "s001")["session"] == "s001" and all_hold(store)


async def test_a_source_that_cannot_be_opened_and_one_without_runs(
    store: Path, tmp_path: Path, state: Path
) -> None:
    before = marks(store)
    (tmp_path / "text.db").write_text("no store" * 200)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await press(pilot, "j", "j", "enter")
        text = await to_path(pilot, tmp_path / "text.db")
        assert isinstance(pilot.app.screen, RunChooser) and "✗" in text
        await press(pilot, "escape")
        assert place_of(pilot).passage is None
        await press(pilot, "enter")
        text = await to_path(pilot, Path(":memory:"))
        assert isinstance(pilot.app.screen, StoreChooser) and "✗" in text
        await press(pilot, "escape", "escape")
        # One that goes away between its choice and the gate.
        gone = source(tmp_path / "gone.db", 1)
        await press(pilot, "enter")
        await to_path(pilot, gone)
        gone.rename(tmp_path / "elsewhere.db")
        text = await press(pilot, "enter")
        assert "the gate could not be asked" in text and "no-such-store" in text
        assert place_of(pilot).passage is not None and not passage_of(pilot).passable
    assert marks(store) == before
    told = entries(state)
    assert told and {each.event for each in told} == {"refused"}
    assert (told[-1].refusal or {})["code"] == "no-such-store" and "gone.db" in (told[-1].source or "")


# -- record -------------------------------------------------------------------------------------------------


async def test_a_run_told_in_a_file_is_checked_whole_and_recorded(
    store: Path, tmp_path: Path, state: Path
) -> None:
    good, bad, stopped = (tmp_path / f"{name}.jsonl" for name in ("good", "bad", "stopped"))
    good.write_bytes(written(SESSION, BRANCH, MESSAGE, END))
    bad.write_bytes(written(SESSION, BRANCH, {"kind": "message", "role": 7}, END))
    stopped.write_bytes(written(SESSION | {"id": "s-stopped"}, BRANCH | {"id": "b-stopped"}))
    before = marks(store)
    async with driven(store, "actions", allow_writes=True) as pilot:
        place = place_of(pilot)
        place.listed.select("action record")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FileChooser)
        await to_path(pilot, bad)
        text = await press(pilot, *KIM)
        assert "5 ✗ no plan can be made" in text and "bad.jsonl, line 3" in text
        await press(pilot, "s")
        text = await to_path(pilot, tmp_path / "none.jsonl")
        assert "A run is recorded here from a file" in text and marks(store) == before
        await press(pilot, "escape", "s")
        text = await to_path(pilot, good)
        assert "s from good.jsonl" in text and "6 ▸ type acme-desk" in text
        assert "✓ done" in await through(pilot)
        await press(pilot, "s")
        text = await to_path(pilot, stopped)
        assert "The run is recorded as aborted" in text
        assert "✓ done" in await through(pilot)
    assert rows(store, "SELECT id, status FROM sessions WHERE id LIKE 's%' ORDER BY id") == [
        ("s", "completed"), ("s-stopped", "aborted"),
    ]  # fmt: skip
    assert all_hold(store)
    told = [(each.event, (each.refusal or {}).get("code")) for each in entries(state)]
    assert told[:2] == [("refused", "record-input"), ("refused", "input-unread")]
    assert [event for event, _ in told[2:]] == ["begun", "done", "begun", "done"]


# -- refused half-way ---------------------------------------------------------------------------------------


async def test_an_id_taken_in_the_middle_is_refused_and_says_what_is_there(
    store: Path, taken_from: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def taken() -> None:
        theirs = {"id": "m0003", "created_at": 1.0, "content": {}, "role": "user", "lion_class": 0}
        put(store, "messages", {**theirs, "owner_id": "lee"})

    before_call(monkeypatch, 3, taken)
    async with driven(store, "actions", size=(80, 24), allow_writes=True) as pilot:
        await to_copy(pilot, taken_from)
        text = await through(pilot)
        assert "✗ refused half-way: 3 transactions are in the store, and stay there" in text
        assert "No session was made, so no reader sees" in text and "3 message" in text
        text = await press(pilot, "G")
        assert "the gate is shut" in text and "journal" in text and "enter opens it" not in text
        place_of(pilot).listed.select("stopped")
        text = await press(pilot, "enter")
        assert "id-taken" in text
    assert rows(store, "SELECT count(*) FROM messages WHERE owner_id='kim' AND id LIKE 'm0%'") == [(3,)]
    begun, refused = entries(state)
    assert refused.committed == (Phase("message", 3),) and refused.id == begun.id and all_hold(store)


async def test_a_schema_the_manager_changes_meanwhile_stops_it(
    store: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def changed() -> None:
        manager(store, "ALTER TABLE messages ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")

    before_call(monkeypatch, 5, changed)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await press(pilot, "enter", *KIM)
        text = await through(pilot)
        assert "refused half-way: 4 transactions" in text and "mood" in text
        assert "still running in the store" in text  # nothing more may be written, its end included
        # Asked anew, the store is not admitted any more.
        text = await press(pilot, "r")
        assert "4 ✗ not admitted" in text and not place_of(pilot).gate_steps.field.display
    assert [each.event for each in entries(state)] == ["begun", "refused", "refused"]


# -- while it writes ----------------------------------------------------------------------------------------


async def test_stopped_in_the_middle_it_ends_the_run_and_says_what_was_committed(
    store: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def waits() -> None:
        await gate.wait()

    before_call(monkeypatch, 4, waits)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await press(pilot, "enter", *KIM, "tab")
        await typed(pilot, "acme-desk")
        await pilot.press("enter")
        passage = passage_of(pilot)
        while passage.told is None or passage.told.done < 3:
            await pilot.pause(0.02)
        await pilot.pause()
        place = place_of(pilot)
        place.show()
        text = await press(pilot, "j")
        assert " WRITING " in text and "3 of 8 transactions committed" in text and "x stops it" in text
        for key in ("r", "p", "w", "a", "tab", "escape"):  # nothing else is to be had meanwhile
            await press(pilot, key)
        assert passage_of(pilot) is passage and passage.writing
        # Other places are looked at as ever; another store is not opened, and leaving is asked for twice.
        text = await press(pilot, "4")
        assert isinstance(pilot.app.screen, RunsPlace) and " WRITING " in text
        pilot.app.open_store("/nowhere.db")  # type: ignore[attr-defined]
        text = await press(pilot, "q")
        assert "an action is writing; 0 shows it" in text and "q again stops it" in text and passage.writing
        await press(pilot, "0")
        await press(pilot, "x")
        text = await ended(pilot)
        assert "○ stopped: " in text and "The run was ended as cancelled." in text and " WRITES " in text
        assert "1 session" in text.replace("   ", " ") and not passage.passable
        run = passage.outcome.run  # type: ignore[union-attr]
    found = rows(store, "SELECT status, status_reason_code FROM sessions WHERE id = ?", run)
    assert found == [("cancelled", "run.cancelled.sigint")] and all_hold(store)
    _, stopped = entries(state)
    assert stopped.event == "interrupted" and stopped.note == "The run was ended as cancelled."


async def test_leaving_twice_stops_it_in_order(
    store: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def waits() -> None:
        await asyncio.sleep(600)

    before_call(monkeypatch, 4, waits)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await press(pilot, "enter", *KIM, "tab")
        await typed(pilot, "acme-desk")
        await pilot.press("enter")
        while passage_of(pilot).told is None or passage_of(pilot).told.done < 3:  # type: ignore[union-attr]
            await pilot.pause(0.02)
        await pilot.press("q", "q")
    _, stopped = entries(state)
    assert stopped.event == "interrupted" and stopped.note == "The run was ended as cancelled."
    assert rows(store, "SELECT status FROM sessions WHERE id = ?", stopped.run) == [("cancelled",)]


async def test_an_action_goes_on_while_another_place_is_looked_at(
    store: Path, taken_from: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()

    async def waits() -> None:
        await looked.wait()

    before_call(monkeypatch, 3, waits)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await to_copy(pilot, taken_from)
        await press(pilot, "tab")
        await typed(pilot, "acme-desk")
        await pilot.press("enter", "4")
        await settled(pilot)
        looked.set()
        text = await ended(pilot)
        assert isinstance(pilot.app.screen, RunsPlace) and "the action has ended; 0 says how" in text
        assert "✓ done" in await press(pilot, "0")


async def test_a_long_preview_is_laid_out_where_it_is_looked_at(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call of a run of hundreds of messages: the list lays out what is in sight, and no more."""
    laid: list[int] = []
    whole = actions_preview.call_lines

    def counted(call: Any, room: int, **more: Any) -> Any:
        laid.append(1)
        return whole(call, room, **more)

    taken_from = source(tmp_path / "long.db", 300)
    async with driven(store, "actions", allow_writes=True) as pilot:
        await to_copy(pilot, taken_from)
        place_of(pilot).listed.select("more")
        monkeypatch.setattr(actions_preview, "call_lines", counted)
        await press(pilot, "enter")
        assert len(passage_of(pilot).brought.preview.calls) > 300  # type: ignore[union-attr]
        text = await press(pilot, "G")
        assert "commits status" in text and 0 < len(laid) < 120, len(laid)


async def test_without_a_store_there_is_nothing_to_bring_to_a_gate() -> None:
    async with driven(None, allow_writes=True) as pilot:
        text = await press(pilot, "escape", "0", "enter")
        assert "open a store first: o" in text and place_of(pilot).passage is None
