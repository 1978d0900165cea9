"""ADR-0128 D2 at the start of every write transaction, and what runs that no manifest declares (D4, D8)."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.errors import StateCompatibilityRefused
from persistence.guard.writeset import WriteSet, write_set
from persistence.profiles import admission
from persistence.profiles.records import Profile
from tests.matrix.run import LOWEST, OLDEST_DRIVER, PYTHONS, cells, wanted
from tests.persistence.guard import kit

ROOT = Path(__file__).resolve().parents[2]


path, engine = kit.path, kit.engine  # fixtures


async def traced(engine: CompatibilityEngine) -> list[str]:
    """Every statement SQLite is given on the writer from now on."""
    statements: list[str] = []
    real = kit.dug_out(engine)
    await on_thread(engine._driver, lambda: sqlite3.Connection.set_trace_callback(real, statements.append))
    return statements


async def write(engine: CompatibilityEngine, number: int) -> None:
    await engine.run("persist_live_message", partial(kit.live_message, number), transaction="message")


@pytest.mark.adr("0128-D2-23")
async def test_every_transaction_compares_the_schemas_number_under_the_lock(
    engine: CompatibilityEngine, path: Path
) -> None:
    statements = await traced(engine)
    for number in range(5):
        if number == 3:
            kit.manager(path, "UPDATE tickets SET subject = 'somebody else wrote'")
        statements.clear()
        await write(engine, number)
        begun = statements.index("BEGIN IMMEDIATE")
        asked = statements.index("PRAGMA main.schema_version")
        first = next(at for at, one in enumerate(statements) if one.startswith("SELECT type_id"))
        assert begun < asked < first < statements.index("COMMIT")


@pytest.mark.adr("0128-D2-24")
async def test_a_new_number_has_the_closure_inspected_before_any_statement(
    engine: CompatibilityEngine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(engine, 0)
    inspected: list[int] = []
    real, statements = admission.readmit, await traced(engine)

    def readmit(*arguments: object, **named: object) -> object:
        inspected.append(len(statements))
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(admission, "readmit", readmit)
    await write(engine, 1)
    assert inspected == []  # nothing has changed
    kit.manager(path, "CREATE TABLE unrelated (a)")
    statements.clear()
    await write(engine, 2)
    (at,) = inspected
    assert not any(one.startswith(("INSERT", "UPDATE")) for one in statements[:at])
    assert "BEGIN IMMEDIATE" in statements[:at]
    await write(engine, 3)
    assert len(inspected) == 1  # it is the new one that counts from now on


@pytest.mark.adr("0128-D2-25")
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE sessions ADD COLUMN desk_x",
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE tickets SET subject = 'x'; END",
        "CREATE UNIQUE INDEX u ON messages (created_at)",
        "CREATE TABLE marks (message_id TEXT REFERENCES messages(id) ON DELETE CASCADE)",
    ],
)
async def test_a_closure_that_no_longer_matches_refuses_the_write(
    engine: CompatibilityEngine, path: Path, change: str
) -> None:
    await write(engine, 0)
    kit.manager(path, change)
    before, statements = kit.digest(path), await traced(engine)
    with pytest.raises(StateCompatibilityRefused) as refused:
        await write(engine, 1)
    assert refused.value.committed == ()
    assert not any(one.startswith(("INSERT", "UPDATE", "COMMIT")) for one in statements)
    assert kit.digest(path) == before


@pytest.mark.adr("0128-D4-11")
async def test_an_effect_the_manifest_lacks_is_denied(path: Path) -> None:
    """The profile lets signals be inserted; a manifest without that statement does not."""

    def without(profile: Profile, owner: str | None) -> WriteSet:
        every = kit.factory(profile, owner).statements.values()
        return write_set(profile, owner, [entry for entry in every if entry.table != "session_signals"])

    engine = await kit.opened(path, make=without)
    try:
        before, real = kit.digest(path), kit.dug_out(engine)
        met: list[sqlite3.Error] = []

        def steps() -> Steps[None]:
            yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
            try:
                kit.beneath(
                    real,
                    "INSERT INTO session_signals (id, session_id, seq, kind, ts, payload, owner_id) "
                    "VALUES ('x', 'kim-old-sess', 1, 'x', 1, '{}', 'kim')",
                )
            except sqlite3.Error as error:
                met.append(error)

        with pytest.raises(StateCompatibilityRefused):
            await engine.run("create_progression", steps, transaction="progression")
        assert [error.sqlite_errorname for error in met] == ["SQLITE_AUTH"]
        assert kit.digest(path) == before
    finally:
        await engine.close()


@pytest.mark.adr("0128-D8-18")
def test_every_supported_version_is_in_the_matrix() -> None:
    """`python -m tests.matrix.run`, a job of `.ci/run`, installs the guard under each and attacks it."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'requires-python = ">=3.11,<3.14"' in project
    assert PYTHONS == ("3.11", "3.12", "3.13")
    assert set(LOWEST) == set(PYTHONS)
    assert LOWEST["3.11"] == "2.0.0"
    assert f'"aiosqlite>={OLDEST_DRIVER.removesuffix(".0")}"' in project
    here = list(cells())
    assert {cell.lowest for cell in here} == {True, False}
    assert f"aiosqlite=={OLDEST_DRIVER}" in wanted(next(cell for cell in here if cell.lowest).pins)
    assert "tests\\.matrix\\.run" in (ROOT / ".ci" / "run").read_text("utf-8")
