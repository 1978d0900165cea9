"""ADR-0055 D3: progression order is a JSON collection."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest

from persistence import StateDB, ValueRefusedError
from persistence.schema import metadata
from persistence.writing.native import messages
from tests.native import Backend, count, one


async def _stored(db: StateDB, progression_id: str = "p") -> Any:
    return await one(db, "SELECT collection FROM progressions WHERE id = ?", progression_id)


@pytest.mark.adr("0055-D3-01", "0055-D3-17")
async def test_order_is_in_the_progression_row_alone(native: StateDB) -> None:
    linked = {
        table.name
        for table in metadata.tables.values()
        if {"progressions", "messages"} <= {key.column.table.name for key in table.foreign_keys}
    }
    assert linked == {"sessions", "branches"}, "each names one progression and single messages, no positions"
    progressions = metadata.tables["progressions"]
    assert [column.name for column in progressions.columns] == ["id", "created_at", "collection"]
    await native.insert_message({"id": "m", "content": {"text": "secret"}, "role": "user"})
    await native.create_progression("p", ["m"])
    assert json.loads(await _stored(native)) == ["m"]
    await native.insert_message({"id": "m", "content": {"text": "changed"}, "role": "user"})
    assert json.loads(await _stored(native)) == ["m"]


@pytest.mark.adr("0055-D3-02")
async def test_the_table(native: StateDB) -> None:
    shape = next(one for one in await native.catalogue() if one.name == "progressions")
    assert shape.primary_key == ("id",)
    assert {column.name: column.nullable for column in shape.columns if not column.primary_key} == {
        "created_at": False,
        "collection": False,
    }
    await native.execute("INSERT INTO progressions (id, created_at) VALUES ('p', 1.0)")
    assert await _stored(native) == "[]"


@pytest.mark.adr("0055-D3-03", "0055-D3-04", "0055-D3-05")
async def test_the_signatures(native: StateDB) -> None:
    create = inspect.signature(native.create_progression).parameters
    assert list(create) == ["progression_id", "collection"] and create["collection"].default is None
    assert list(inspect.signature(native.get_progression).parameters) == ["progression_id"]
    assert list(inspect.signature(native.append_to_progression).parameters) == [
        "progression_id",
        "message_id",
    ]
    assert await native.create_progression("p", ["a", "b"]) is None  # type: ignore[func-returns-value]
    assert await native.append_to_progression("p", "c") is None  # type: ignore[func-returns-value]
    assert await native.get_progression("p") == ["a", "b", "c"]


@pytest.mark.adr("0055-D3-06")
async def test_none_and_an_empty_list_store_the_same(native: StateDB) -> None:
    await native.create_progression("p")
    await native.create_progression("q", None)
    await native.create_progression("r", [])
    assert [await _stored(native, name) for name in "pqr"] == ["[]"] * 3


@pytest.mark.adr("0055-D3-07")
async def test_a_list_is_stored_in_the_order_given(native: StateDB) -> None:
    ids = ["b", "a", "c", 'q"uote', "é", "漢\u202e", " ", "", "10", "9", "a'b", "\\u0041", "👩‍🔬"]
    await native.create_progression("p", ids)
    assert json.loads(await _stored(native)) == ids
    assert await native.get_progression("p") == ids
    await native.create_progression("twice", ["a", "b", "a"])
    assert await native.get_progression("twice") == ["a", "b", "a"]


@pytest.mark.adr("0055-D3-08", "0055-D3-09")
async def test_creating_a_taken_id_changes_nothing(native: StateDB) -> None:
    await native.create_progression("p", ["a", "b"])
    before = await native.fetch_one("SELECT * FROM progressions")
    for collection in (None, [], ["z"], ["a", "b", "c"]):
        await native.create_progression("p", collection)
    assert await native.fetch_one("SELECT * FROM progressions") == before
    assert await count(native, "progressions") == 1


@pytest.mark.adr("0055-D3-10", "0055-D3-11")
async def test_missing_and_empty_read_the_same(native: StateDB) -> None:
    await native.create_progression("empty")
    assert await native.get_progression("empty") == await native.get_progression("missing") == []


@pytest.mark.adr("0055-D3-12", "0055-D3-13")
async def test_appending(native: StateDB) -> None:
    await native.create_progression("p")
    for message_id in ("a", "b", "c", "a", "b", "é", "é", "A", "c", "a'b", 'a"b', "a\\b", "a\\b", "", ""):
        await native.append_to_progression("p", message_id)
    assert await native.get_progression("p") == ["a", "b", "c", "é", "A", "a'b", 'a"b', "a\\b", ""]


@pytest.mark.adr("0055-D3-12", "0055-D3-13")
async def test_an_id_is_known_however_it_was_written(native: StateDB) -> None:
    """As JSON has many ways to write one text: with escapes, without, spaced out."""
    await native.execute(
        "INSERT INTO progressions (id, created_at, collection) VALUES ('p', 1.0, ?)",
        ('[ "\\u00e9" ,"a\\u0062c",\n"\\/x", 5, null, "é2", ["deep"], {"key": "value"} ]',),
    )
    for message_id in ("é", "abc", "/x", "é2"):
        await native.append_to_progression("p", message_id)
    before = await native.fetch_one("SELECT collection FROM progressions")
    assert before is not None and len(json.loads(before["collection"])) == 8
    for message_id in ("5", "deep", "key", "value", "null"):
        await native.append_to_progression("p", message_id)
    assert (await native.get_progression("p"))[-5:] == ["5", "deep", "key", "value", "null"]


@pytest.mark.adr("0055-D3-14")
def test_the_append_on_sqlite_is_one_statement_of_its_json_functions() -> None:
    sql = messages._APPEND.compiled("sqlite")
    assert re.match(
        r"UPDATE progressions SET collection=.*json_insert\(progressions\.collection, \?, \?\)", sql.sql
    )
    assert "json_each(progressions.collection)" in sql.sql
    assert "$[#]" in sql.constants.values()


@pytest.mark.adr("0055-D3-15")
def test_the_append_on_postgresql_is_one_statement_over_jsonb() -> None:
    sql = messages._APPEND.compiled("postgresql").sql
    assert sql.startswith(
        "UPDATE progressions SET collection=CAST(CAST(progressions.collection AS JSONB) || to_jsonb("
    )
    assert ") AS TEXT) WHERE" in sql


@pytest.mark.adr("0055-D3-14", "0055-D3-15")
async def test_one_append_runs_one_update(native: StateDB, native_backend: Backend) -> None:
    await native.create_progression("p", ["a"])
    calls: list[Any] = []
    real = native._writer._runner.run  # type: ignore[attr-defined]

    async def watch(steps: Any) -> Any:
        def watched() -> Any:
            running = steps()
            answer = None
            while True:
                try:
                    call = running.send(answer)
                except StopIteration as done:
                    return done.value
                calls.append(call)
                answer = yield call

        return await real(watched)

    native._writer._runner.run = watch  # type: ignore[attr-defined]
    await native.append_to_progression("p", "b")
    assert len(calls) == 1
    assert await native.get_progression("p") == ["a", "b"]


@pytest.mark.adr("0055-D3-16")
async def test_appending_to_a_missing_progression(native: StateDB) -> None:
    await native.create_progression("p", ["a"])
    assert await native.append_to_progression("missing", "a") is None  # type: ignore[func-returns-value]
    assert await native.extend_progression("missing", ["a", "b"]) is None  # type: ignore[func-returns-value]
    assert await count(native, "progressions") == 1
    assert await native.get_progression("p") == ["a"]


@pytest.mark.adr("0055-D3-18")
async def test_an_id_without_a_message_is_kept_in_its_place(native: StateDB, native_session: str) -> None:
    await native.insert_message({"id": "m", "content": {}, "role": "user"})
    await native.extend_progression("pb", ["ghost-1", "m", "ghost-2"])
    assert await native.get_progression("pb") == ["ghost-1", "m", "ghost-2"]
    assert [message["id"] for message in await native.get_branch_messages("b")] == ["m"]
    shape = next(one for one in await native.catalogue() if one.name == "progressions")
    assert shape.foreign_keys == ()


async def test_setting_and_extending(native: StateDB) -> None:
    await native.create_progression("p", ["a"])
    await native.extend_progression("p", ["b", "a", "c", "b"])
    assert await native.get_progression("p") == ["a", "b", "c"]
    await native.set_progression("p", ["c", "z"])
    assert await native.get_progression("p") == ["c", "z"]
    await native.set_progression("p", [])
    await native.set_progression("missing", ["a"])
    assert await native.get_progression("p") == await native.get_progression("missing") == []


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", "\udcff", 5, None, b"m", ["m"], 1.5])
async def test_what_is_no_message_id_is_refused_everywhere(native: StateDB, odd: Any) -> None:
    await native.create_progression("p", ["a"])
    for call in (
        lambda: native.append_to_progression("p", odd),
        lambda: native.extend_progression("p", ["b", odd]),
        lambda: native.set_progression("p", [odd]),
        lambda: native.create_progression("q", [odd]),
    ):
        with pytest.raises(ValueRefusedError):
            await call()
    assert await native.get_progression("p") == ["a"]
    assert await count(native, "progressions") == 1


async def test_a_collection_that_is_no_json_is_left_as_it_is(native: StateDB) -> None:
    await native.execute("INSERT INTO progressions VALUES ('p', 1.0, 'not json')")
    with pytest.raises(Exception, match=r".") as refused:
        await native.append_to_progression("p", "a")
    assert type(refused.value).__module__.startswith("persistence.")
    assert await _stored(native) == "not json"
    await native.create_progression("q")
    await native.append_to_progression("q", "a")
    assert await native.get_progression("q") == ["a"]


async def test_a_long_order_stays_what_it_is(native: StateDB) -> None:
    """Long collections are given room to grow in; that changes no entry, nor what JSON they are."""
    ids = [f"message-{number:030}" for number in range(1_500)]
    await native.create_progression("p", ids)
    for number in range(1_500, 2_000):
        ids.append(f"message-{number:030}")
        await native.append_to_progression("p", ids[-1])
        if number % 100 == 0:
            await native.append_to_progression("p", ids[number // 2])  # there already
    assert await native.get_progression("p") == ids
    assert json.loads(await _stored(native)) == ids
    await native.extend_progression("p", ["x", "y", ids[0]])
    await native.append_to_progression("p", "z")
    assert await native.get_progression("p") == [*ids, "x", "y", "z"]
    await native.set_progression("p", ["a"])
    await native.append_to_progression("p", "b")
    assert (await _stored(native)).replace(" ", "") == '["a","b"]'
