"""Rows taken over as they are: all of them or none, nothing made up beside them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from persistence import StateDB, ValueRefusedError
from tests.native import count

SESSION = {"id": "s", "created_at": 1.0, "updated_at": 2.0, "progression_id": "p", "status": "completed"}
ROWS: dict[str, list[dict[str, Any]]] = {
    # Children are named before their parents, and rows of one table have other columns.
    "session_signals": [
        {"id": f"g{n}", "session_id": "s", "seq": n + 1, "kind": "k", "ts": 1.0, "payload": {"n": n}}
        for n in range(3)
    ],
    "messages": [
        {"id": "m0", "created_at": 1.0, "role": "user", "content": {"漢": [1, None]}, "lion_class": 2},
        {"id": "m1", "created_at": 2.0, "role": "user", "content": ["x"], "lion_class": 2, "sender": "kim"},
        {"id": "m2", "created_at": 3.0, "role": "user", "content": {}, "lion_class": 2},
    ],
    "branches": [],
    "sessions": [SESSION, {**SESSION, "id": "s2", "name": "second", "node_metadata": {"k": 1}}],
    "progressions": [{"id": "p", "created_at": 1.0, "collection": '["m0"]'}],
}


async def test_rows_are_what_was_given_and_nothing_else(native: StateDB) -> None:
    async with native.transaction() as transaction:
        await transaction.insert_rows(ROWS)
    assert {row["id"] for row in await native.list_sessions()} == {"s", "s2"}
    session = await native.get_session("s2")
    assert session is not None
    assert (session["status"], session["updated_at"], session["node_metadata"]) == (
        "completed",
        2.0,
        {"k": 1},
    )
    assert session["ended_at"] is None, "nothing is derived"
    message = await native.get_message("m0")
    assert message is not None and message["content"] == {"漢": [1, None]}
    assert [row["payload"] for row in await native.list_session_signals("s")] == [{"n": n} for n in range(3)]
    assert await count(native, "status_transitions") == await count(native, "admin_events") == 0
    assert await count(native, "messages") == 3


@pytest.mark.parametrize(
    ("table", "row", "kind"),
    [
        ("sessions", SESSION, IntegrityError),  # the key is taken
        (
            "branches",
            {"id": "b", "created_at": 1.0, "session_id": "no", "progression_id": "p"},
            IntegrityError,
        ),
        ("sessions", {**SESSION, "id": "x", "invocation_kind": "odd"}, IntegrityError),
        ("sessions", {**SESSION, "id": "x", "no_such": 1}, ValueRefusedError),
        ("sessions", {**SESSION, "id": "x", "node_metadata": {"n": float("nan")}}, ValueRefusedError),
        ("schema_meta", {"key": "lineage", "value": "mine"}, ValueRefusedError),
        ("sqlite_master", {"name": "x"}, ValueRefusedError),
    ],
)
async def test_one_row_that_cannot_be_keeps_all_of_them_out(
    native: StateDB, table: str, row: dict[str, Any], kind: type[Exception]
) -> None:
    rows = {**ROWS, table: [*ROWS.get(table, []), row]}
    with pytest.raises(kind):
        async with native.transaction() as transaction:
            await transaction.insert_rows(rows)
    assert await count(native, "progressions") == await count(native, "messages") == 0
    assert await native.get_meta("lineage") == "lionagi"


async def test_it_is_one_part_of_its_transaction(native: StateDB) -> None:
    async with native.transaction() as transaction:
        await transaction.create_progression("before")
        with pytest.raises(IntegrityError):
            await transaction.insert_rows({**ROWS, "progressions": [{"id": "before", "created_at": 1.0}]})
        await transaction.insert_rows({"progressions": [{"id": "after", "created_at": 1.0}]})
    assert {row["id"] for row in await native.list_progressions()} == {"before", "after"}
    assert await native.get_progression("after") == []
