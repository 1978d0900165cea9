"""ADR-0128 D2 and D4 under the lock: every write asks the schema, and what nobody declared is denied."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from persistence import StateCompatibilityRefused, StateDB
from persistence.engines.statements import Call, Outcome
from persistence.guard.transaction import TransactionGuard
from persistence.profiles import admission
from persistence.profiles.records import AdmissionReport
from tests.acceptance.test_adr_0128_d4 import Traced, traced
from tests.managed import Spied, dump, live, make_run, manager, profile_of
from tests.persistence.compatibility.lifecycle import no

__all__ = ["traced"]


@pytest.mark.adr("0128-D2-23")
async def test_every_transaction_asks_the_schema_s_number_before_its_first_statement(
    traced: Traced, desk: Path
) -> None:
    async with StateDB(desk, profile=profile_of(), owner="kim") as db:
        traced.on = True
        await make_run(db)
        await db.update_session("s", name="n")
        traced.on = False
    begun = [number for number, text in enumerate(traced.texts) if text == "BEGIN IMMEDIATE"]
    assert len(begun) == 6
    for number in begun:
        rest = traced.texts[number + 1 :]
        asked = next(at for at, text in enumerate(rest) if "schema_version" in text)
        of_the_operation = [
            at for at, text in enumerate(rest) if text.startswith(("INSERT", "UPDATE", "SELECT messages"))
        ]
        assert asked < of_the_operation[0]


@pytest.mark.adr("0128-D2-24", "0128-D8-14", "0128-D8-15")
async def test_a_change_elsewhere_is_admitted_again_and_the_run_goes_on(
    kim: StateDB, desk: Path, monkeypatch: pytest.MonkeyPatch, spied: Spied
) -> None:
    again: list[int] = []
    readmit = admission.readmit

    def counted(*arguments: Any, **named: Any) -> AdmissionReport:
        again.append(len(spied.texts))
        return readmit(*arguments, **named)

    monkeypatch.setattr(admission, "readmit", counted)
    manager(desk, "CREATE TABLE between_admission_and_write (a)")
    await make_run(kim)
    assert again == [0], "under the lock of the first write, before any statement of it"
    manager(desk, "CREATE TABLE between_two_writes (a)")
    spied.clear()
    await live(kim, "m2")
    assert again == [0, 0]
    await live(kim, "m3")
    assert again == [0, 0]


@pytest.mark.adr("0128-D2-24", "0128-D2-25", "0128-D8-14", "0128-D8-15")
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE sessions ADD COLUMN desk_color TEXT",
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE tickets SET subject = 'x'; END",
        "CREATE UNIQUE INDEX u ON messages (created_at, sender)",
        "DROP TABLE admin_events",
    ],
)
@pytest.mark.parametrize("begun", [False, True])
async def test_a_change_of_the_closure_refuses_and_changes_nothing(
    kim: StateDB, desk: Path, spied: Spied, change: str, begun: bool
) -> None:
    if begun:
        await make_run(kim)
    manager(desk, change)
    before = dump(desk)
    spied.clear()
    for call in (
        kim.create_progression("new"),
        kim.insert_message({"id": "x", "content": {}, "role": "user"}),
    ):
        error = await no(call)
        assert error.committed == ()
    assert spied.texts == [] and dump(desk) == before


@pytest.mark.adr("0128-D4-11")
async def test_an_effect_the_manifest_lacks_is_denied_by_the_authorizer(
    run: StateDB, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = TransactionGuard._outcome
    said: list[str] = []

    def behind_the_guard(self: TransactionGuard, call: Call) -> Outcome:
        """As if an operation's statement had an effect nobody declared: past the write set, to SQLite."""
        try:
            sqlite3.Connection.cursor(self._connection).execute("UPDATE tickets SET subject = 'mine'")
        except sqlite3.Error as error:
            said.append(str(error))
        return outcome(self, call)

    before = dump(desk)
    with monkeypatch.context() as patch:
        patch.setattr(TransactionGuard, "_outcome", behind_the_guard)
        with pytest.raises(StateCompatibilityRefused):
            await live(run, "m2")
    assert said and "not authorized" in said[0]
    assert dump(desk) == before
    await live(run, "m2")
