"""Pictures of Actions and Journal: shut, half held, previewed, typed, done, refused half-way; an entry."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import uuid
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.actions.carrying import Outcome
from inspector.actions.gate import Gate
from inspector.actions.journal import Entry, Journal, Phase
from inspector.app import InspectorApp
from inspector.opened import OpenedStore
from persistence.profiles.records import AdmissionReport
from persistence.statedb import StateDB
from tests.inspector.actions.managed import desk, source
from tests.inspector.driving import settled
from tests.inspector.gate.gates import KIM, before_call, ended
from tests.inspector.gate.test_journal_place import REFUSAL
from tests.inspector.pictures import Pictures, running, walked
from tests.persistence.stores import put

PLACES_TOO = ("admission", "actions", "journal")
CLOCK = 1_795_953_600.0
NAME = ("a", "c", "m", "e", "minus", "d", "e", "s", "k")
"""The lineage, typed."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen_clock: float) -> Path:
    """A managed store and one to copy from, with everything fixed that a machine or a moment decides."""
    assert frozen_clock == CLOCK
    home = tmp_path / "home"
    for path in (desk(home / "managed.db"), source(home / "state.db")):
        os.utime(path, (CLOCK - 900, CLOCK - 900))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("STORE_INSPECTOR_STATE_DIR", "state")
    monkeypatch.chdir(home)
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.40.1")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    ids = count(1)
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=(next(ids) << 96) + (4 << 76) + (8 << 60)))
    monkeypatch.setattr("time.time", lambda: CLOCK)
    _still(monkeypatch)
    return home


def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same moment, the same size and no measured time in every reading, admission and outcome."""

    def quiet(read: Any) -> Any:
        return None if read is None else dataclasses.replace(read, at=CLOCK, kernel_held=True)

    read = OpenedStore.read.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(OpenedStore, "read", property(lambda opened: quiet(read(opened))))
    admit, run, facts = Gate.admit, Gate.run, StateDB.facts

    async def admitted(gate: Gate) -> AdmissionReport | None:
        report = await admit(gate)
        if report is not None:
            gate.report = dataclasses.replace(report, read=quiet(report.read))
        return gate.report

    async def carried(gate: Gate, told: Any = None) -> Outcome:
        return dataclasses.replace(await run(gate, told), seconds=0.125)

    async def sized(db: StateDB) -> Any:
        return dataclasses.replace(await facts(db), size=139_264)

    monkeypatch.setattr(Gate, "admit", admitted)
    monkeypatch.setattr(Gate, "run", carried)
    monkeypatch.setattr(StateDB, "facts", sized)


def managed(at: str = "actions", *, allow: bool = True) -> InspectorApp:
    return InspectorApp("~/managed.db", start_place=at, allow_writes=allow)


async def to_copy(pilot: Pilot[Any]) -> None:
    """From the chooser of stores, whose field has the focus."""
    pilot.app.screen.query_one("#path", Input).value = "~/state.db"
    await walked(pilot, "enter", "enter", *KIM)


async def test_through_the_gate(pictures: Pictures, home: Path) -> None:
    """Shut, half held, previewed, the lineage typed, and carried out."""
    async with running(managed()) as pilot:
        await pictures.both(pilot, "first")
        await walked(pilot, "enter", *KIM[:2])
        await pictures.both(pilot, "half")
        await walked(pilot, *KIM[2:])
        await pictures.both(pilot, "previewed")
        await walked(pilot, "tab", *NAME)
        await pictures.both(pilot, "typed")
        await walked(pilot, "enter")
        await ended(pilot)
        await pictures.both(pilot, "done")


async def test_another_lineage_is_refused(pictures: Pictures, home: Path) -> None:
    async with running(managed()) as pilot:
        await walked(pilot, "enter", *KIM, "tab", "k", "enter")
        await pictures.both(pilot, "refused")


async def test_a_call_of_the_preview(pictures: Pictures, home: Path) -> None:
    async with running(managed()) as pilot:
        await walked(pilot, "enter", *KIM, "G", "enter")
        await pictures.both(pilot, "call")


async def test_a_dry_run(pictures: Pictures, home: Path) -> None:
    async with running(managed()) as pilot:
        await walked(pilot, "j", "enter", *KIM)
        await pictures.both(pilot, "dry")


async def test_a_copy(pictures: Pictures, home: Path) -> None:
    async with running(managed()) as pilot:
        await walked(pilot, "j", "j", "enter")
        await pictures.both(pilot, "stores")
        await to_copy(pilot)
        await pictures.both(pilot, "copy")


async def test_without_the_flag(pictures: Pictures, home: Path) -> None:
    async with running(managed(allow=False)) as pilot:
        await pictures.both(pilot)


async def test_refused_half_way(pictures: Pictures, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def taken() -> None:
        theirs = {"id": "m0003", "created_at": 1.0, "content": {}, "role": "user", "lion_class": 0}
        put(home / "managed.db", "messages", {**theirs, "owner_id": "lee"})

    before_call(monkeypatch, 3, taken)
    async with running(managed()) as pilot:
        await walked(pilot, "j", "j", "enter")
        await to_copy(pilot)
        await walked(pilot, "tab", *NAME, "enter")
        await ended(pilot)
        await pictures.both(pilot)


async def test_themes(pictures: Pictures, home: Path) -> None:
    async with running(managed(), (110, 34)) as pilot:
        await walked(pilot, "enter", *KIM, "tab", "a")
        for theme in ("lion-light", "high-contrast", "mono"):
            pilot.app.theme = theme
            await settled(pilot)
            await pictures.take(pilot, theme)


async def test_journal(pictures: Pictures, home: Path) -> None:
    journal = Journal(Path("state"))
    given: dict[str, Any] = {"store": "~/managed.db", "lineage": "acme-desk", "owner": "kim", "pid": 4711,
                             "profile": "acme-desk-fresh-run@1", "version": "7"}  # fmt: skip
    done = (Phase("session"), Phase("branch"), Phase("live message", 12), Phase("status"))
    journal.append(
        Entry("probe", "done", **given, run="0b6c", committed=done, when=CLOCK - 7200, seconds=0.2)
    )
    with journal.path.open("ab") as file:
        file.write(b'{"format":1,"action":"copy-run","event":"be')
    refused = {**given, "owner": "lee", "refusal": REFUSAL, "when": CLOCK - 600}
    journal.append(Entry("record", "refused", **refused, operations={"create_session": 1}))
    journal.append(Entry("copy-run", "interrupted", **given, run="6e94", committed=done[:1], when=CLOCK - 60,
                         note="The run was ended as cancelled."))  # fmt: skip
    async with running(managed("journal")) as pilot:
        await pictures.both(pilot, "list")
        await walked(pilot, "j", "enter")
        await pictures.both(pilot, "entry")
        await walked(pilot, "escape", "j", "enter")
        await pictures.both(pilot, "torn")
        await walked(pilot, "escape", "slash", *"outcome", "colon", *"ref", "enter")
        await pictures.both(pilot, "filtered")
