"""Properties: whatever is done in whatever order, the store holds what a small model holds."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence import StateDB
from tests.native import Backend

ANY_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """So many examples, shrunk ones and odd ones among them; a coroutine cannot be under `given` itself."""
    found: list[Any] = []

    @settings(max_examples=count, deadline=None, database=None, derandomize=True)
    @given(strategy)
    def draw(value: Any) -> None:
        found.append(value)

    draw()
    return found[-count:]


# -- progressions ------------------------------------------------------------------------------------------

IDS = (
    st.sampled_from(
        ["a", "b", "A", "", "é", "e\u0301", '"', "\\", "\\u0061", "'", "1", "[]", "👩‍🔬", "\u202e"]
    )
    | ANY_TEXT
)
STEPS = st.lists(
    st.tuples(st.just("append"), IDS)
    | st.tuples(st.just("extend"), st.lists(IDS, max_size=5))
    | st.tuples(st.just("set"), st.lists(IDS, max_size=4))
    | st.tuples(st.just("create"), st.lists(IDS, max_size=3)),
    max_size=12,
)


async def test_a_progression_is_an_ordered_list_that_takes_an_id_once(native: StateDB) -> None:
    for number, steps in enumerate(drawn(STEPS, 40)):
        name = f"p{number}"
        model: list[str] | None = None
        for what, given_ids in steps:
            if what == "create":
                await native.create_progression(name, given_ids)
                model = list(given_ids) if model is None else model
            elif what == "set":
                await native.set_progression(name, given_ids)
                model = None if model is None else list(given_ids)
            else:
                ids = [given_ids] if what == "append" else given_ids
                for one in ids:
                    if what == "append":
                        await native.append_to_progression(name, one)
                    if model is not None and one not in model:
                        model.append(one)
                if what == "extend":
                    await native.extend_progression(name, ids)
        assert await native.get_progression(name) == (model or [])


async def test_ten_thousand_appends(native: StateDB) -> None:
    rng = random.Random(1)
    ids = ["".join(rng.choices(string.ascii_letters + "é漢 '\"\\", k=6)) for _ in range(5_000)]
    model: dict[str, None] = {}
    await native.create_progression("p")
    for first in range(0, 10_000, 500):
        part = [ids[rng.randrange(len(ids))] for _ in range(500)]
        async with native.transaction() as transaction:
            for one in part[:25]:
                await transaction.append_to_progression("p", one)
            await transaction.extend_progression("p", part[25:250])
        await native.extend_progression("p", part[250:])
        model |= dict.fromkeys(part)
        assert first + 500 >= len(model)
    assert await native.get_progression("p") == list(model)


# -- artifacts ---------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["n", "N", "n ", "nested/1", "漢"])
PARENTS = st.sampled_from([None, "i1", "i2"]), st.sampled_from([None, "s1", "s2"])
UPSERTS = st.lists(
    st.tuples(st.sampled_from(["report", "finding"]), NAMES, *PARENTS, st.none() | ANY_TEXT), max_size=25
)


@pytest.fixture
async def parents(native: StateDB) -> StateDB:
    await native.create_progression("p")
    for number in (1, 2):
        await native.create_invocation({"id": f"i{number}", "skill": "review"})
        await native.create_session({"id": f"s{number}", "progression_id": "p"})
    return native


async def test_any_interleaving_of_artifact_upserts_is_a_dictionary(parents: StateDB) -> None:
    for upserts in drawn(UPSERTS, 12):
        await parents.execute("DELETE FROM artifacts")
        model: dict[tuple[Any, ...], tuple[str, int, str | None]] = {}
        for number, (kind, name, invocation, session, path) in enumerate(upserts):
            artifact_id = await parents.insert_artifact(
                kind=kind,
                name=name,
                content={"n": number},
                invocation_id=invocation,
                session_id=session,
                file_path=path,
            )
            key = (kind, name, invocation, session)
            assert artifact_id == model.get(key, (artifact_id,))[0]
            model[key] = (artifact_id, number, path)
        rows = await parents.list_artifacts()
        assert {
            (row["kind"], row["name"], row["invocation_id"], row["session_id"]): (
                row["id"],
                row["content"]["n"],
                row["file_path"],
            )
            for row in rows
        } == model
        assert len(rows) == len(model)


# -- metadata ----------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
PATCHES = st.lists(st.dictionaries(st.sampled_from("abc"), JSON, max_size=3), max_size=5)


def _patched(value: Any, patch: Any) -> Any:
    """RFC 7396, as the RFC writes it."""
    if not isinstance(patch, dict):
        return patch
    value = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            value.pop(name, None)
        else:
            value[name] = _patched(value.get(name), part)
    return value


async def test_patches_of_metadata_are_rfc_7396(parents: StateDB) -> None:
    for patches in drawn(PATCHES, 25):
        await parents.update_session("s1", node_metadata=None)
        model: Any = None
        for patch in patches:
            await parents.merge_session_node_metadata("s1", patch)
            model = _patched(model, patch)
        row = await parents.get_session("s1")
        assert row is not None and row["node_metadata"] == model


# -- text --------------------------------------------------------------------------------------------------


async def test_any_text_is_kept_in_every_place_it_can_be(parents: StateDB, native_backend: Backend) -> None:
    for number, text in enumerate(drawn(ANY_TEXT, 40)):
        await parents.save_definition(kind="agent", name=text, path=text, content=text, message=text)
        definition = await parents.get_definition("agent", text)
        assert definition is not None
        assert (definition["path"], definition["content"], definition["message"]) == (text, text, text)
        await parents.insert_message(
            {
                "id": f"m{number}{text}",
                "content": {text: text},
                "role": "user",
                "sender": text,
                "recipient": text,
            }
        )
        message = await parents.get_message(f"m{number}{text}")
        assert message is not None
        assert (message["content"], message["sender"], message["recipient"]) == ({text: text}, text, text)
