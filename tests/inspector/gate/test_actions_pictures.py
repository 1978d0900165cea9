"""Pictures of Actions and Journal: shut, half held, previewed, typed, done, refused half-way; an entry."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import uuid
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

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
from tests.persistence.stores import put

SIZES = [(80, 24), (120, 40)]
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


def shot(
    compare: Callable[..., bool],
    size: tuple[int, int],
    *keys: str,
    at: str = "actions",
    allow: bool = True,
    theme: str | None = None,
) -> None:
    app = InspectorApp("~/managed.db", start_place=at, allow_writes=allow)
    if theme is not None:
        app.theme = theme

    async def before(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            if key == "ended":
                await ended(pilot)
            elif key.startswith("file "):
                pilot.app.screen.query_one("#path").value = key[5:]  # type: ignore[attr-defined]
                await pilot.press("slash", "enter")
                await settled(pilot)
            else:
                await pilot.press(key)
                await settled(pilot)

    assert compare(app, terminal_size=size, run_before=before)


COPY = ("j", "j", "enter", "slash", "file ~/state.db", "enter", *KIM)
ACTIONS: dict[str, tuple[str, ...]] = {
    "first": (),
    "half": ("enter", "p", "enter"),
    "previewed": ("enter", *KIM),
    "typed": ("enter", *KIM, "tab", *NAME),
    "refused": ("enter", *KIM, "tab", "k", "enter"),
    "done": ("enter", *KIM, "tab", *NAME, "enter", "ended"),
    "dry": ("j", "enter", *KIM),
    "copy": COPY,
    "stores": ("j", "j", "enter"),
    "call": ("enter", *KIM, "G", "enter"),
}


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", ACTIONS)
def test_actions(snap_compare: Callable[..., bool], home: Path, name: str, size: tuple[int, int]) -> None:
    shot(snap_compare, size, *ACTIONS[name])


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_without_the_flag(snap_compare: Callable[..., bool], home: Path, size: tuple[int, int]) -> None:
    shot(snap_compare, size, allow=False)


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_refused_half_way(
    snap_compare: Callable[..., bool], home: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async def taken() -> None:
        theirs = {"id": "m0003", "created_at": 1.0, "content": {}, "role": "user", "lion_class": 0}
        put(home / "managed.db", "messages", {**theirs, "owner_id": "lee"})

    before_call(monkeypatch, 3, taken)
    shot(snap_compare, size, *COPY, "tab", *NAME, "enter", "ended")


@pytest.mark.parametrize("theme", ["lion-light", "high-contrast", "mono"])
def test_themes(snap_compare: Callable[..., bool], home: Path, theme: str) -> None:
    shot(snap_compare, (110, 34), "enter", *KIM, "tab", "a", theme=theme)


JOURNAL: dict[str, tuple[str, ...]] = {
    "list": (),
    "entry": ("j", "enter"),
    "torn": ("j", "j", "enter"),
    "filtered": ("slash", *"outcome", "colon", *"ref", "enter"),
}


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", JOURNAL)
def test_journal(snap_compare: Callable[..., bool], home: Path, name: str, size: tuple[int, int]) -> None:
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
    shot(snap_compare, size, *JOURNAL[name], at="journal")
