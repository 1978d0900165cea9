"""Values are kept as they are, on both databases alike, or refused before anything is written."""

from __future__ import annotations

import enum
import math
import random
from collections import UserDict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence import StateDB, ValueRefusedError
from persistence.writing.values import json_text
from tests.native import Backend, count

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


async def _round_trip(db: StateDB, value: Any) -> Any:
    await db.insert_message({"id": "m", "content": value, "role": "user"})
    message = await db.get_message("m")
    assert message is not None
    return message["content"]


def _same(a: Any, b: Any) -> bool:
    """Equal, and of the same kinds within (a whole number at the top may come back as an int)."""
    if isinstance(a, float) or isinstance(b, float):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


@pytest.mark.parametrize("seed", range(4))
async def test_any_json_value_is_kept(native: StateDB, seed: int) -> None:
    # Drawn here, not by @given: its function must not be a coroutine.
    values: list[Any] = []

    @settings(max_examples=60, deadline=None, database=None)
    @given(JSON)
    def draw(value: Any) -> None:
        values.append(value)

    random.seed(seed)
    draw()
    sample = values[:: max(1, len(values) // 40)]
    await native.insert_messages(
        [{"id": f"m{n}", "content": value, "role": "user"} for n, value in enumerate(sample)]
    )
    stored = await native.get_messages([f"m{n}" for n in range(len(sample))])
    for number, value in enumerate(sample):
        assert _same(stored[f"m{number}"]["content"], value), value


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        1e-320,
        1.7976931348623157e308,
        9007199254740993,
        2**63 - 1,
        -(2**63),
        123456789.123456789,
        "123",
        " 5",
        "null",
        "true",
        "1e5",
        '{"a": 1}',
        [1.0, -0.0],
        {"a": 1e22, "b": "\u2028\ufeff\x01\x7f"},
        "😀" * 3,
        [[[[[[[[[]]]]]]]]],
        {"": {"": ""}},
        True,
    ],
)
async def test_values_that_look_like_others(native: StateDB, value: Any) -> None:
    stored = await _round_trip(native, value)
    assert stored == value
    if not isinstance(value, float):
        assert type(stored) is type(value)


REFUSED = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "nan within": {"a": [1, {"b": float("-inf")}]},
    "lone surrogate": "\ud800",
    "surrogate from bytes": {"a": "\udcff"},
    "surrogate in a key": {"\udfff": 1},
    "wide": 2**63,
    "wide within": [-(2**63) - 1],
    "a key that is a number": {1: "a"},
    "a key that is None": {"a": {None: 1}},
    "a key that is True": {True: 1},
    "a set": {"a": {1, 2}},
    "bytes": b"x",
    "a decimal": [Decimal("1.5")],
    "an object": object(),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_would_not_read_back_is_refused(native: StateDB, name: str) -> None:
    for content in (REFUSED[name], {"deep": [REFUSED[name]]}):
        with pytest.raises(ValueRefusedError) as refused:
            await native.insert_message({"id": "m", "content": content, "role": "user"})
        assert refused.value.where == "messages.content"
    with pytest.raises(ValueRefusedError):
        await native.insert_messages(
            [
                {"id": "good", "content": {}, "role": "user"},
                {"id": "m", "content": REFUSED[name], "role": "user"},
            ]
        )
    assert await count(native, "messages") == 0
    assert await _round_trip(native, {"next": "works"}) == {"next": "works"}


def test_nesting_has_a_limit_that_is_said() -> None:
    deep: Any = []
    for _ in range(199):
        deep = [deep]
    assert json_text(deep, "here")
    with pytest.raises(ValueRefusedError, match="levels deep"):
        json_text([deep], "here")
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueRefusedError):
        json_text(circle, "here")


async def test_a_nul_is_kept_or_refused(
    native: StateDB, native_backend: Backend, native_session: str
) -> None:
    """SQLite keeps a NUL in text and JSON; PostgreSQL's text has no room for one, and says so."""
    writes: list[Any] = [
        lambda: native.insert_message({"id": "m", "content": {"a": "x\0y"}, "role": "user"}),
        lambda: native.update_session("s", name="x\0y"),
        lambda: native.save_definition(kind="agent", name="n", path="p", content="x\0y"),
    ]
    for write in writes:
        if native_backend.sqlite:
            await write()
        else:
            with pytest.raises(ValueRefusedError, match="NUL"):
                await write()
    if native_backend.sqlite:
        message, session = await native.get_message("m"), await native.get_session("s")
        definition = await native.get_definition("agent", "n")
        assert message is not None and session is not None and definition is not None
        assert message["content"] == {"a": "x\0y"}
        assert session["name"] == definition["content"] == "x\0y"
    else:
        assert await count(native, "messages") == await count(native, "definitions") == 0


@pytest.mark.parametrize(
    ("column", "odd"),
    [
        ("name", 5),
        ("name", b"x"),
        ("name", ["x"]),
        ("name", "\ud800"),
        ("created_at", 1.0),
        ("started_at", "yesterday"),
        ("started_at", float("nan")),
        ("started_at", float("inf")),
        ("started_at", True),
        ("started_at", 2**60 + 1),
        ("started_at", 10**400),
        ("num_turns", 1.0),
        ("num_turns", "5"),
        ("num_turns", 2**63),
        ("node_metadata", float("nan")),
        ("no_such_column", 1),
    ],
)
async def test_a_column_takes_only_what_it_holds(
    native: StateDB, native_session: str, column: str, odd: Any
) -> None:
    before = await native.get_session("s")
    with pytest.raises(ValueError, match=column):
        await native.update_session("s", **{column: odd})
    assert await native.get_session("s") == before


async def test_numbers_a_column_holds(native: StateDB, native_backend: Backend, native_session: str) -> None:
    await native.update_session("s", num_turns=2**31 - 1, started_at=5, total_cost_usd=0.1, duration_ms=1e300)
    row = await native.get_session("s")
    assert row is not None
    assert (row["num_turns"], row["started_at"], row["total_cost_usd"], row["duration_ms"]) == (
        2**31 - 1,
        5.0,
        0.1,
        1e300,
    )
    if native_backend.sqlite:
        await native.update_session("s", num_turns=2**63 - 1)
    else:
        with pytest.raises(ValueRefusedError, match="32-bit"):
            await native.update_session("s", num_turns=2**31)


async def test_embeddings_are_numbers_of_32_bits(native: StateDB) -> None:
    numbers = [0.25, -1.5, 3.0, 0.0, 2.0**-126]
    await native.insert_message({"id": "m", "content": {}, "role": "user", "embedding": numbers})
    message = await native.get_message("m")
    assert message is not None and message["embedding"] == numbers
    for odd in ([float("nan")], [1e300], ["x"], "text", 5, [None]):
        with pytest.raises(ValueRefusedError):
            await native.insert_message({"id": "m", "content": {}, "role": "user", "embedding": odd})
    await native.insert_message({"id": "m", "content": {}, "role": "user", "embedding": b"\1\2\3"})
    message = await native.get_message("m")
    assert message is not None and message["embedding"] == b"\1\2\3"


class Word(enum.StrEnum):
    RUNNING = "running"


async def test_kinds_of_text_and_mappings_that_are_as_good(native: StateDB, native_session: str) -> None:
    await native.insert_artifact(kind=Word.RUNNING, name="n", content=UserDict(a=(1, [2])))
    (artifact,) = await native.list_artifacts()
    assert (artifact["kind"], artifact["content"]) == ("running", {"a": [1, [2]]})
    await native.create_session(UserDict(id="s2", progression_id="ps", status=Word.RUNNING))
    session = await native.get_session("s2")
    assert session is not None and session["status"] == "running"


async def test_absent_is_absent(native: StateDB, native_session: str) -> None:
    await native.create_show({"id": "sh", "topic": "t", "show_dir": "d"})
    await native.create_play({"id": "p", "show_id": "sh", "name": "n", "depends_on": None, "attempt": None})
    play = await native.get_play("p")
    assert play is not None and (play["depends_on"], play["attempt"], play["sort_order"]) == ([], 1, 0)
    session = await native.get_session("s")
    assert session is not None
    assert (session["source_kind"], session["ended_at_is_approximate"], session["node_metadata"]) == (
        "live",
        0,
        None,
    )
    await native.insert_message({"id": "m", "content": None, "role": "user"})
    message = await native.get_message("m")
    assert message is not None and message["content"] is None
    assert math.isclose(message["created_at"], session["created_at"], abs_tol=60)
