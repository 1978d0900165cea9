"""Each layer of the guard says by its code that it was the one: the ones no other test asks for by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.guard.connection import Hold
from tests.managed import shipped
from tests.persistence.guard import kit

PROGRESSION = kit.PROGRESSION.compiled("sqlite").sql
DELETE = "DELETE FROM messages"


path, engine = kit.path, kit.engine  # fixtures


def declared_delete(connection: Any) -> object:
    """As if the write set had a statement of which nobody asked what it does."""
    statements = connection.hold.statements
    statements[DELETE] = replace(statements[PROGRESSION], text=DELETE, names=(), owner=())
    return connection.execute(DELETE)


ATTACKS: dict[str, Callable[[Any], object]] = {
    "guard-owner": lambda c: c.execute(PROGRESSION, ("x", 1.0, "[]", "lee")),
    "guard-connection": lambda c: c.executescript("SELECT 1"),
    "guard-denied": declared_delete,
}


@pytest.mark.parametrize("code", ATTACKS)
async def test_the_layer_that_refused_is_named(path: Path, engine: CompatibilityEngine, code: str) -> None:
    before = kit.digest(path)
    real = kit.dug_out(engine)

    def steps() -> Steps[None]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        ATTACKS[code](real)

    with pytest.raises(StateCompatibilityRefused) as refused:
        await engine.run("create_progression", steps, transaction="progression")
    assert refused.value.code == code and refused.value.operation == "create_progression"
    assert refused.value.observed and refused.value.remedy
    assert kit.digest(path) == before


async def test_a_guard_whose_triggers_were_taken_away_writes_nothing(
    path: Path, engine: CompatibilityEngine
) -> None:
    """By code that has dug out the connection; it is seen when the store is admitted again."""
    real = kit.dug_out(engine)

    def take_away() -> None:
        sqlite3.Connection.set_authorizer(real, None)
        names = [
            row[0] for row in kit.beneath(real, "SELECT name FROM sqlite_temp_master WHERE type = 'trigger'")
        ]
        assert names
        for name in names:
            kit.beneath(real, f'DROP TRIGGER temp."{name}"')
        sqlite3.Connection.set_authorizer(real, real.hold.authorizer)

    await on_thread(engine._driver, take_away)
    kit.manager(path, "CREATE TABLE beside (a)")
    before = kit.digest(path)
    for _ in range(2):
        with pytest.raises(StateCompatibilityRefused) as refused:
            await engine.run("create_progression", kit.progression, transaction="progression")
        assert refused.value.code == "guard-lost"
    assert kit.digest(path) == before


async def test_a_profile_that_names_what_there_is_none_of_opens_nothing(path: Path) -> None:
    before = kit.files(path)
    profile = replace(shipped(), operations=(*shipped().operations, "teleport_session"))
    with pytest.raises(StateCompatibilityRefused) as refused:
        await StateDB(path, profile=profile, owner="kim").open()
    assert (refused.value.code, refused.value.observed) == ("not-in-manifest", "teleport_session")
    assert kit.files(path) == before


_OTHER = "INSERT INTO messages (id) VALUES (?)"
_GOOD = ("p1", 1.0, "[]", "kim")


class _Text(str):
    """Compares as the text it is made of."""


@pytest.mark.parametrize("operation", [None, "create_progression", "insert_message"])
@pytest.mark.parametrize("spoiled", [False, True])
@pytest.mark.parametrize("thread", ["own", "another"])
async def test_the_check_at_once_lets_through_just_what_the_steps_do(
    engine: CompatibilityEngine, operation: str | None, spoiled: bool, thread: str
) -> None:
    real = kit.dug_out(engine)
    statements, hold = real.hold.statements, Hold(real.hold.statements, "kim", real.hold.refusals)
    hold.operation, hold.spoiled = operation, ValueError("spoiled") if spoiled else None
    hold.thread += thread == "another"
    texts = [*statements, _OTHER, _Text(PROGRESSION), None, PROGRESSION.encode()]
    rows: list[Any] = [_GOOD, list(_GOOD), _GOOD[:3], (*_GOOD, 1), {"id": "p1"}, ()]
    rows += [(*_GOOD[:3], owner) for owner in ("lee", None, "KIM", _Text("kim"))]
    for known in statements.values():
        rows.append(tuple("kim" if at in known.positions else 1 for at in range(len(known.names))))
    through = 0
    for sql in texts:
        for row in rows:
            try:
                entry = hold.admit(sql)
                assert entry is not None
                hold.checked(entry, row)
            except StoreError:
                passes = False
                hold.spoiled = ValueError("spoiled") if spoiled else None  # the refusal spoils it
            else:
                passes = True
            assert hold.holds(sql, row) is passes, (sql, row)
            through += passes
    assert (through > 0) == (operation is not None and not spoiled and thread == "own")
