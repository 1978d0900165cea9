"""ADR-0128 A.3: the reader invariants, after whatever order of operations, and while somebody reads."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.demo.acme_desk import invariants
from persistence import StateDB
from tests.managed import dump, live, make_run, manager, message


@pytest.mark.adr("0128-A3-01", "0128-A3-02")
@pytest.mark.parametrize("seed", range(4))
async def test_an_order_is_that_of_arrival_without_duplicates(run: StateDB, seed: int) -> None:
    chosen = random.Random(seed)
    expected = {"sp": ["m"], "bp": ["m"]}
    number = 0
    made = ["m"]
    for _ in range(24):
        again = chosen.random() < 0.3
        if again:
            identity = chosen.choice(made)
        else:
            number += 1
            identity = f"n{number}"
        way = chosen.choice(("live", "append", "many"))
        orders = ["sp", "bp"]
        if way == "live":
            await live(run, identity)
        elif way == "append":
            orders = [chosen.choice(orders)]
            if identity not in made:
                await run.insert_message(message(identity))
            await run.append_to_progression(orders[0], identity)
        else:
            ids = [identity, identity, f"{identity}+"]
            await run.insert_messages([message(one) for one in ids], progression_ids=orders, session_id="s")
            made.append(f"{identity}+")
        made.append(identity)
        for order in orders:
            for one in (identity, f"{identity}+")[: 2 if way == "many" else 1]:
                if one not in expected[order]:
                    expected[order].append(one)
    for order, ids in expected.items():
        assert await run.get_progression(order) == ids
        assert len(set(ids)) == len(ids)


@pytest.mark.adr("0128-A3-02")
async def test_a_first_order_holds_each_message_once(run: StateDB) -> None:
    await run.insert_message(message("x"))
    await run.create_progression("p", ["m", "x", "m", "x"])
    assert await run.get_progression("p") == ["m", "x"]
    await run.append_to_progression("p", "x")
    assert await run.get_progression("p") == ["m", "x"]


@pytest.mark.adr("0128-A3-02")
async def test_an_id_is_found_however_the_order_s_text_spells_it(run: StateDB, desk: Path) -> None:
    for identity in ('q"uote', "back\\slash", "snö", "a", "/"):
        await live(run, identity)
        await live(run, identity)
    manager(desk, """UPDATE progressions SET collection = '["\\u0061", "m" ]' WHERE id = 'bp'""")
    await run.append_to_progression("bp", "a")
    await run.append_to_progression("bp", "/")
    assert await run.get_progression("bp") == ["a", "m", "/"]
    assert await run.get_progression("sp") == ["m", 'q"uote', "back\\slash", "snö", "a", "/"]


@pytest.mark.adr("0128-A3-03", "0128-A3-04")
async def test_clocks_never_go_back_whichever_operation_writes_them(run: StateDB) -> None:
    await run.update_session("s", last_message_at=3e9, updated_at=3e9)

    async def clocks() -> tuple[float, float]:
        found = await run.fetch_one("SELECT last_message_at, updated_at FROM sessions WHERE id = 's'")
        assert found is not None
        return found["last_message_at"], found["updated_at"]

    assert await clocks() == (3e9, 3e9)
    for call in (
        live(run, "m2", activity_at=1.0),
        run.insert_messages([message("m3")], session_id="s", activity_at=1.0),
        run.update_session("s", last_message_at=1.0, updated_at=1.0),
        run.update_session("s", last_message_at=1.0, updated_at=1.0, set_if_null=("last_message_at",)),
        run.update_session("s", num_turns=1),
        run.update_session("s", name="n"),
        run.update_artifact_verification("s", {"status": "passed"}),
        run.merge_session_node_metadata("s", {"a": 1}),
        run.update_session("s", status="running", reason_code="run.started.ok"),
        run.update_status("session", "s", new_status="completed", reason_code="run.completed.ok"),
    ):
        await call
        last, updated = await clocks()
        assert last == 3e9 and updated >= 3e9


async def test_a_start_is_written_once_and_an_end_is_not_taken_back(run: StateDB) -> None:
    await run.update_session("s", started_at=5.0)
    await run.update_session("s", started_at=1.0)
    await run.update_branch("b", started_at=5.0)
    await run.update_branch("b", started_at=1.0)
    for table, identity in (("sessions", "s"), ("branches", "b")):
        found = await run.fetch_one(f"SELECT started_at FROM {table} WHERE id = ?", (identity,))
        assert found == {"started_at": 5.0}
    await run.update_session("s", ended_at=7.0)
    await run.update_session("s", ended_at=None, name="n")
    await run.update_branch("b", ended_at=7.0)
    await run.update_branch("b", ended_at=None)
    for table, identity in (("sessions", "s"), ("branches", "b")):
        found = await run.fetch_one(f"SELECT ended_at FROM {table} WHERE id = ?", (identity,))
        assert found == {"ended_at": 7.0}


@pytest.mark.adr("0128-A3-05")
async def test_a_reader_never_sees_a_status_without_its_transition(run: StateDB, desk: Path) -> None:
    seen: list[tuple[str | None, str | None]] = []
    over = asyncio.Event()

    def look() -> None:
        with closing(sqlite3.connect(f"{desk.as_uri()}?mode=ro", uri=True)) as connection:
            while not over.is_set():
                seen.append(
                    connection.execute(
                        "SELECT status, (SELECT status FROM status_transitions WHERE entity_id = 's' "
                        "ORDER BY rowid DESC LIMIT 1) FROM sessions WHERE id = 's'"
                    ).fetchone()
                )

    watching = asyncio.create_task(asyncio.to_thread(look))
    while not seen:
        await asyncio.sleep(0)
    for number in range(30):
        await run.update_session("s", status="running", reason_code="run.started.ok", name=f"{number}")
    await run.update_status("session", "s", new_status="failed", reason_code="run.failed.exception")
    while seen[-1][0] != "failed":
        await asyncio.sleep(0)
    over.set()
    await watching
    assert all(status == newest for status, newest in seen)


@pytest.mark.adr("0128-A3-06")
async def test_a_reader_by_owner_sees_the_whole_run_or_nothing(run: StateDB, desk: Path) -> None:
    await live(run, "m2")
    tables = dump(desk)
    run_rows = {"progressions": {"sp", "bp"}, "messages": {"m", "m2"}, "sessions": {"s"}, "branches": {"b"}}
    for table, ids in run_rows.items():
        owners = {row[0]: row[-1] for row in tables[table]}
        assert {owners[identity] for identity in ids} == {"kim"}
    for owner, expected in (("kim", 1), ("lee", 0)):
        (found,) = manager(
            desk,
            "SELECT count(*) FROM sessions s JOIN branches b ON b.session_id = s.id JOIN progressions p "
            "ON p.id = b.progression_id, json_each(p.collection) e JOIN messages m ON m.id = e.value "
            f"WHERE s.id = 's' AND '{owner}' IN (s.owner_id) AND s.owner_id = b.owner_id "
            "AND p.owner_id = s.owner_id AND m.owner_id = s.owner_id",
        )
        assert found == (2 * expected,)


async def test_the_manager_s_own_invariants_hold_after_a_run(run: StateDB, desk: Path) -> None:
    with closing(sqlite3.connect(desk)) as connection:
        earlier = invariants.clocks(connection)
    await live(run, "m2")
    await make_run(run, "2")
    await run.update_status("session", "s", new_status="completed", reason_code="run.completed.ok")
    with closing(sqlite3.connect(desk)) as connection:
        assert list(invariants.problems(connection)) == []
        assert list(invariants.went_back(earlier, invariants.clocks(connection))) == []
    collection = (await run.fetch_one("SELECT collection FROM progressions WHERE id = 'sp'") or {})[
        "collection"
    ]
    assert json.loads(collection) == ["m", "m2"]
