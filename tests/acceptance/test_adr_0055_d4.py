"""ADR-0055 D4: artifact rows are mutable structured outcomes."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from sqlalchemy.exc import IntegrityError

from persistence import StateDB
from persistence.schema import metadata
from tests.native import Backend, count

ROOT = Path(__file__).resolve().parents[2]
SHAPES: dict[str, dict[str, str]] = {
    "none": {},
    "invocation": {"invocation_id": "i"},
    "session": {"session_id": "s"},
    "both": {"invocation_id": "i", "session_id": "s"},
}


@pytest.fixture
async def db(native: StateDB, native_session: str) -> StateDB:
    await native.create_invocation({"id": "i", "skill": "review"})
    return native


@pytest.mark.adr("0055-D4-02", "0055-D4-24")
async def test_the_table(db: StateDB) -> None:
    shape = next(one for one in await db.catalogue() if one.name == "artifacts")
    assert shape.primary_key == ("id",)
    assert {column.name: column.nullable and not column.primary_key for column in shape.columns} == {
        "id": False,
        "invocation_id": True,
        "session_id": True,
        "created_at": False,
        "updated_at": False,
        "kind": False,
        "name": False,
        "content": False,
        "file_path": True,
    }
    content = shape.column("content")
    assert content is not None and content.type.lower() == "json"


@pytest.mark.adr("0055-D4-03")
async def test_its_foreign_keys(db: StateDB) -> None:
    shape = next(one for one in await db.catalogue() if one.name == "artifacts")
    assert {(key.columns, key.table, key.references, key.on_delete) for key in shape.foreign_keys} == {
        (("invocation_id",), "invocations", ("id",), "CASCADE"),
        (("session_id",), "sessions", ("id",), "NO ACTION"),
    }


@pytest.mark.parametrize(
    ("shape", "columns"),
    [
        pytest.param("invocation", ("invocation_id", "kind", "name"), marks=pytest.mark.adr("0055-D4-04")),
        pytest.param("session", ("session_id", "kind", "name"), marks=pytest.mark.adr("0055-D4-05")),
        pytest.param(
            "both", ("invocation_id", "session_id", "kind", "name"), marks=pytest.mark.adr("0055-D4-06")
        ),
        pytest.param("none", ("kind", "name"), marks=pytest.mark.adr("0055-D4-07")),
    ],
)
async def test_each_natural_key_is_unique_by_a_partial_index(
    db: StateDB, shape: str, columns: tuple[str, ...]
) -> None:
    table = next(one for one in await db.catalogue() if one.name == "artifacts")
    found = [one for one in table.indexes if one.unique and one.where and one.columns == columns]
    assert len(found) == 1
    parents = {name: SHAPES[shape].get(name) for name in ("invocation_id", "session_id")}
    insert = (
        "INSERT INTO artifacts (id, kind, name, content, created_at, updated_at, invocation_id, session_id) "
        "VALUES (?, 'k', 'n', '{}', 1.0, 1.0, ?, ?)"
    )
    await db.execute(insert, ("one", parents["invocation_id"], parents["session_id"]))
    with pytest.raises(IntegrityError):
        await db.execute(insert, ("two", parents["invocation_id"], parents["session_id"]))


@pytest.mark.adr("0055-D4-08")
async def test_the_four_shapes_are_apart(db: StateDB) -> None:
    ids = {
        shape: await db.insert_artifact(kind="k", name="n", content={"of": shape}, **parents)
        for shape, parents in SHAPES.items()
    }
    assert len(set(ids.values())) == 4
    for shape, artifact_id in ids.items():
        row = await db.get_artifact(artifact_id)
        assert row is not None and row["content"] == {"of": shape}


@pytest.mark.adr("0055-D4-09", "0055-D4-19", "0055-D4-26")
async def test_the_signature(db: StateDB) -> None:
    parameters = inspect.signature(db.insert_artifact).parameters
    assert {name: one.default for name, one in parameters.items()} == {
        "kind": inspect.Parameter.empty,
        "name": inspect.Parameter.empty,
        "content": inspect.Parameter.empty,
        "invocation_id": None,
        "session_id": None,
        "file_path": None,
    }
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in parameters.values())
    hints = get_type_hints(type(db).insert_artifact)
    assert hints["content"] == Mapping[str, Any], "a mapping"
    assert hints["return"] is str
    for odd in ([1], "text", b"bytes", None, 5):
        with pytest.raises(ValueError, match="mapping"):
            await db.insert_artifact(kind="k", name="n", content=odd)  # type: ignore[arg-type]
    assert await count(db, "artifacts") == 0


@pytest.mark.adr("0055-D4-10")
@pytest.mark.parametrize("given", [{"kind": ""}, {"name": ""}, {"kind": None}, {"name": None}, {"kind": 5}])
async def test_kind_and_name_are_needed(db: StateDB, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs a"):
        await db.insert_artifact(**{"kind": "k", "name": "n", "content": {}, **given})
    assert await count(db, "artifacts") == 0


@pytest.mark.adr("0055-D4-11", "0055-D4-12")
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_new_row(db: StateDB, shape: str) -> None:
    artifact_id = await db.insert_artifact(kind="k", name="n", content={"v": [1]}, **SHAPES[shape])
    assert re.fullmatch(r"[0-9a-f]{12}", artifact_id)
    row = await db.get_artifact(artifact_id)
    assert row is not None
    assert row["created_at"] == row["updated_at"]
    assert (row["content"], row["file_path"]) == ({"v": [1]}, None)


@pytest.mark.adr("0055-D4-13", "0055-D4-14", "0055-D4-15")
@pytest.mark.parametrize("shape", SHAPES)
async def test_writing_it_again(db: StateDB, shape: str) -> None:
    async def write(**more: Any) -> str:
        return await db.insert_artifact(kind="k", name="n", **more, **SHAPES[shape])

    artifact_id = await write(content={"v": 1}, file_path="a.md")
    first = await db.get_artifact(artifact_id)
    assert await write(content={"v": 2}, file_path="b.md") == artifact_id
    second = await db.get_artifact(artifact_id)
    assert first is not None and second is not None
    assert (second["content"], second["file_path"]) == ({"v": 2}, "b.md")
    assert second["created_at"] == first["created_at"]
    assert second["updated_at"] > first["updated_at"]
    assert await write(content={}) == artifact_id
    cleared = await db.get_artifact(artifact_id)
    assert cleared is not None and (cleared["file_path"], cleared["content"]) == (None, {})
    await write(content={}, file_path="c.md")
    await write(content={}, file_path=None)
    cleared = await db.get_artifact(artifact_id)
    assert cleared is not None and cleared["file_path"] is None
    assert await count(db, "artifacts") == 1


@pytest.mark.adr("0055-D4-16", "0055-D4-17", "0055-D4-18")
@pytest.mark.parametrize("shape", SHAPES)
async def test_writers_that_race_leave_one_row_and_get_one_id(
    db: StateDB, native_again: Any, shape: str
) -> None:
    """One atomic upsert: the look-up and the write are one, and the loser updates (DECISIONS 3)."""
    other = await native_again()
    ids = await asyncio.gather(
        *(
            handle.insert_artifact(kind="k", name="n", content={"writer": n}, **SHAPES[shape])
            for n in range(10)
            for handle in (db, other)
        )
    )
    assert len(set(ids)) == 1
    assert await count(db, "artifacts") == 1


@pytest.mark.adr("0055-D4-20", "0055-D4-23")
async def test_a_path_is_kept_and_its_file_never_read(db: StateDB, tmp_path: Path) -> None:
    there = tmp_path / "out.json"
    there.write_text('{"from": "the file"}')
    for path in (str(there), "/abs", "../up", "a*b", "", " ", "~", "nul-free \x01", "漢"):
        artifact_id = await db.insert_artifact(kind="k", name="n", content={"from": "me"}, file_path=path)
        row = await db.get_artifact(artifact_id)
        assert row is not None
        assert (row["file_path"], row["content"]) == (path, {"from": "me"})


@pytest.mark.adr("0055-D4-21")
async def test_deleting_an_invocation_takes_its_artifacts(db: StateDB) -> None:
    for parents in SHAPES.values():
        await db.insert_artifact(kind="k", name="n", content={}, **parents)
    await db.execute("DELETE FROM invocations WHERE id = 'i'")
    left = await db.list_artifacts()
    assert {(row["invocation_id"], row["session_id"]) for row in left} == {(None, None), (None, "s")}


@pytest.mark.adr("0055-D4-22")
async def test_deleting_a_session_is_refused_while_artifacts_name_it(db: StateDB) -> None:
    await db.insert_artifact(kind="k", name="n", content={}, session_id="s")
    with pytest.raises(IntegrityError):
        await db.execute("DELETE FROM sessions WHERE id = 's'")
    assert await count(db, "artifacts") == await count(db, "sessions") == 1
    await db.execute("DELETE FROM artifacts")
    await db.execute("DELETE FROM sessions WHERE id = 's'")
    assert await count(db, "sessions") == 0


@pytest.mark.adr("0055-D5-01", "0055-D5-07", "0055-D5-28")
async def test_a_verification_goes_to_the_session(db: StateDB) -> None:
    await db.insert_artifact(kind="k", name="n", content={"v": 1}, session_id="s")
    before, artifacts = await db.get_session("s"), list(await db.list_artifacts())
    verification = {
        "status": "failed",
        "checked_at": 1760000000.125,
        "missing_required": [{"id": "x", "path": "a.txt", "required": True, "description": ""}],
        "missing_optional": [],
        "produced": [],
    }
    assert list(inspect.signature(db.update_artifact_verification).parameters) == [
        "session_id",
        "verification",
    ]
    assert await db.update_artifact_verification("s", verification) is None  # type: ignore[func-returns-value]
    after = await db.get_session("s")
    assert before is not None and after is not None
    assert after["artifact_verification_json"] == verification
    assert after["updated_at"] > before["updated_at"]
    assert {k: v for k, v in after.items() if k not in ("artifact_verification_json", "updated_at")} == {
        k: v for k, v in before.items() if k not in ("artifact_verification_json", "updated_at")
    }
    assert list(await db.list_artifacts()) == artifacts
    await db.update_artifact_verification("s", None)
    assert await db.get_artifact_verification("s") is None


@pytest.mark.adr("0055-D5-29")
async def test_a_verification_of_a_missing_session(db: StateDB) -> None:
    before = await db.get_session("s")
    assert await db.update_artifact_verification("missing", {"status": "passed"}) is None  # type: ignore[func-returns-value]
    assert await db.get_session("s") == before
    assert await count(db, "sessions") == 1


_CLAIMS = re.compile(
    r"(immutable|content.address|append.only|integrity.check|tamper|retain\w* (?:the )?bytes|"
    r"byte.retain|evidence ledger|captured bytes)",
    re.IGNORECASE,
)
_DENIALS = re.compile(r"\b(no|not|never|neither|nor|nothing|without|isn't|none)\b", re.IGNORECASE)


@pytest.mark.adr("0055-D4-01", "0055-D4-25")
def test_nothing_said_claims_more_of_an_artifact_than_it_is() -> None:
    """Every sentence of the product about artifacts: none calls a row what ADR-0055 says it is not."""
    files = [
        *(ROOT / "persistence").rglob("*.py"),
        *(ROOT / "inspector").rglob("*.py"),
        *ROOT.glob("*.md"),
    ]
    claims = [
        (str(file.relative_to(ROOT)), sentence.strip()[:200])
        for file in files
        for sentence in re.split(r"(?<=[.!?])\s|\n\n", file.read_text("utf-8"))
        if "artifact" in sentence.lower() and _CLAIMS.search(sentence) and not _DENIALS.search(sentence)
    ]
    assert claims == []
    columns = {column.name for column in metadata.tables["artifacts"].columns}
    assert not columns & {"hash", "sha256", "digest", "size", "mime_type", "blob", "captured_at", "retention"}


async def test_a_clock_that_goes_back_moves_no_update_back(
    db: StateDB, native_backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact_id = await db.insert_artifact(kind="k", name="n", content={"v": 1})
    first = await db.get_artifact(artifact_id)
    monkeypatch.setattr("persistence.writing.native.evidence.now", lambda: 1.0)
    await db.insert_artifact(kind="k", name="n", content={"v": 2})
    second = await db.get_artifact(artifact_id)
    assert first is not None and second is not None
    assert second["content"] == {"v": 2}
    assert second["updated_at"] == first["updated_at"]
