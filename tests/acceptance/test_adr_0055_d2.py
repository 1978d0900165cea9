"""ADR-0055 D2: versioned definitions retain source path and content."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from persistence import LostRaceError, StateDB
from persistence.writing.native import definitions
from tests.native import Backend, count

AGENT = {"kind": "agent", "name": "clerk", "path": "agents/clerk.md", "content": "# Clerk\n"}


async def _columns(db: StateDB, table: str) -> dict[str, bool]:
    """The columns of a table, and whether each must have a value."""
    shape = next(one for one in await db.catalogue() if one.name == table)
    return {c.name: not c.nullable or bool(c.primary_key) for c in shape.columns}


@pytest.mark.adr("0055-D2-01")
async def test_path_and_content_are_kept_exactly(native: StateDB) -> None:
    texts = ["", " \t\n", "é 漢 👩‍🔬 \u202e", "a\r\nb\rc\n", "'; DROP TABLE x; --", "x" * 200_000, "{}%s\\n"]
    for number, text in enumerate(texts):
        await native.save_definition(kind="agent", name=f"n{number}", path=f"{text[:500]}p", content=text)
        row = await native.get_definition("agent", f"n{number}")
        assert row is not None
        assert (row["name"], row["path"], row["content"]) == (f"n{number}", f"{text[:500]}p", text)


@pytest.mark.adr("0055-D2-02", "0055-D2-03", "0055-D2-04")
async def test_the_table(native: StateDB) -> None:
    columns = await _columns(native, "definitions")
    assert columns == {
        "id": True,
        "kind": True,
        "name": True,
        "path": True,
        "content": True,
        "version": True,
        "created_at": True,
        "message": False,
    }
    insert = (
        "INSERT INTO definitions (id, kind, name, path, content, version, created_at) "
        "VALUES (?, ?, 'n', 'p', 'c', 1, 1.0)"
    )
    for kind in ("flow", "", "Agent"):
        with pytest.raises(IntegrityError):
            await native.execute(insert, (f"id-{kind}", kind))
    await native.execute(insert, ("one", "agent"))
    with pytest.raises(IntegrityError):
        await native.execute(insert, ("two", "agent"))
    with pytest.raises(IntegrityError):
        await native.execute(insert, ("one", "playbook"))
    await native.execute(insert, ("three", "playbook"))
    # Rows of the kind `skill`, which 0.36.0's stores can hold, are read as they are (DECISIONS 2).
    await native.execute(insert, ("four", "skill"))
    row = await native.get_definition("skill", "n")
    assert row is not None and row["kind"] == "skill"


@pytest.mark.adr("0055-D2-05", "0055-D2-06", "0055-D2-07")
async def test_the_signatures(native: StateDB) -> None:
    save = inspect.signature(native.save_definition).parameters
    assert list(save) == ["kind", "name", "path", "content", "message"]
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in save.values())
    assert save["message"].default is None
    get = inspect.signature(native.get_definition).parameters
    assert list(get) == ["kind", "name", "version"]
    assert get["version"].kind is inspect.Parameter.KEYWORD_ONLY and get["version"].default is None
    assert list(inspect.signature(native.list_definition_versions).parameters)[:2] == ["kind", "name"]
    version = await native.save_definition(**AGENT)
    assert type(version) is int
    assert isinstance(await native.get_definition("agent", "clerk"), dict)
    assert await native.get_definition("agent", "nobody") is None
    versions = await native.list_definition_versions("agent", "clerk")
    assert isinstance(versions, list) and isinstance(versions[0], dict)


@pytest.mark.adr("0055-D2-08")
@pytest.mark.parametrize("kind", ["flow", "", "Agent", "skill", "agents", None, 1])
async def test_other_kinds_are_refused_before_anything_is_written(native: StateDB, kind: Any) -> None:
    with pytest.raises(ValueError, match="kind"):
        await native.save_definition(**{**AGENT, "kind": kind})
    assert await count(native, "definitions") == 0


@pytest.mark.adr("0055-D2-09", "0055-D2-10", "0055-D2-11")
async def test_versions_are_counted_for_each_name_of_each_kind(native: StateDB) -> None:
    assert [await native.save_definition(**AGENT) for _ in range(3)] == [1, 2, 3]
    assert await native.save_definition(**{**AGENT, "kind": "playbook"}) == 1
    assert await native.save_definition(**{**AGENT, "name": "Clerk"}) == 1
    assert await native.save_definition(**{**AGENT, "name": ""}) == 1
    await native.execute("DELETE FROM definitions WHERE name = 'clerk' AND version < 3")
    assert await native.save_definition(**AGENT) == 4
    await native.execute("UPDATE definitions SET version = 41 WHERE name = 'clerk' AND version = 4")
    assert await native.save_definition(**AGENT) == 42


@pytest.mark.adr("0055-D2-12")
async def test_savers_through_one_handle_take_turns(native: StateDB) -> None:
    versions = await asyncio.gather(
        *(native.save_definition(**{**AGENT, "content": str(n)}) for n in range(30))
    )
    assert sorted(versions) == list(range(1, 31))
    assert [row["version"] for row in await native.list_definition_versions("agent", "clerk")] == list(
        range(30, 0, -1)
    )


@pytest.mark.adr("0055-D2-13")
async def test_another_name_does_not_wait(native: StateDB) -> None:
    turns = native._writer._turns  # type: ignore[attr-defined]
    await native.save_definition(**AGENT)
    held = turns.setdefault(("agent", "clerk"), asyncio.Lock())
    async with held:
        waiting = asyncio.create_task(native.save_definition(**AGENT))
        assert await native.save_definition(**{**AGENT, "name": "board"}) == 1
        assert await native.save_definition(**{**AGENT, "kind": "playbook"}) == 1
        assert not waiting.done()
    assert await waiting == 2


@pytest.mark.adr("0055-D2-14")
async def test_a_version_lost_to_another_writer_is_asked_for_anew(
    native: StateDB, native_again: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await native_again()
    tries: list[int] = []
    real = type(native._writer)._run  # type: ignore[attr-defined]

    async def late(self: Any, steps: Any, *arguments: Any, **named: Any) -> Any:
        if steps is definitions._saved and self is native._writer:
            tries.append(1)
            if len(tries) < definitions.TRIES:
                # What this try would insert was taken in the meantime.
                raise await _clash(other)
        return await real(self, steps, *arguments, **named)

    monkeypatch.setattr(type(native._writer), "_run", late)
    assert await native.save_definition(**AGENT) == definitions.TRIES
    assert len(tries) == definitions.TRIES == 5


async def _clash(other: StateDB) -> Exception:
    """A real integrity error of the definitions' key, after another handle saved one more version."""
    version = await other.save_definition(**{**AGENT, "content": "theirs"})
    try:
        await other.execute(
            "INSERT INTO definitions (id, kind, name, path, content, version, created_at) "
            "VALUES ('clash', 'agent', 'clerk', 'p', 'c', ?, 1.0)",
            (version,),
        )
    except IntegrityError as error:
        return error
    raise AssertionError("no clash")


@pytest.mark.adr("0055-D2-15")
async def test_a_saver_gives_up_after_five_tries(
    native: StateDB, native_again: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await native_again()
    tries: list[int] = []

    async def always(self: Any, steps: Any, *arguments: Any, **named: Any) -> Any:
        tries.append(1)
        raise await _clash(other)

    with monkeypatch.context() as patched:
        patched.setattr(native._writer, "_run", always.__get__(native._writer))
        with pytest.raises(RuntimeError) as given_up:
            await native.save_definition(**AGENT)
    assert isinstance(given_up.value, LostRaceError)
    assert len(tries) == 5
    assert isinstance(given_up.value.__cause__, IntegrityError)
    assert "unique" in str(given_up.value).lower()
    rows = await native.list_definition_versions("agent", "clerk")
    assert [row["version"] for row in rows] == [5, 4, 3, 2, 1]  # the other's alone


@pytest.mark.adr("0055-D2-12", "0055-D2-14")
async def test_savers_over_several_handles_leave_no_gap(native: StateDB, native_again: Any) -> None:
    handles = [native, await native_again(), await native_again()]
    versions = await asyncio.gather(
        *(handles[n % 3].save_definition(**{**AGENT, "content": str(n)}) for n in range(24))
    )
    assert sorted(versions) == list(range(1, 25))


@pytest.mark.adr("0055-D2-16", "0055-D2-17")
async def test_reading_a_version(native: StateDB) -> None:
    for number in range(1, 4):
        await native.save_definition(**{**AGENT, "content": f"v{number}"}, message=f"m{number}")
    for number in range(1, 4):
        row = await native.get_definition("agent", "clerk", version=number)
        assert row is not None
        assert (row["version"], row["content"], row["message"]) == (number, f"v{number}", f"m{number}")
    latest = await native.get_definition("agent", "clerk")
    assert latest is not None and latest["version"] == 3
    for missing in (0, 4, -1, 2**40):
        assert await native.get_definition("agent", "clerk", version=missing) is None
    assert await native.get_definition("playbook", "clerk") is None


@pytest.mark.adr("0055-D2-18", "0055-D2-19")
async def test_the_list_of_versions(native: StateDB) -> None:
    for number in range(11):
        await native.save_definition(**{**AGENT, "content": f"v{number}"})
    rows = await native.list_definition_versions("agent", "clerk")
    assert [row["version"] for row in rows] == list(range(11, 0, -1))
    assert all(set(row) == {"id", "kind", "name", "version", "created_at", "message"} for row in rows)
    whole = await native.get_definition("agent", "clerk", version=rows[0]["version"])
    assert whole is not None and {"path", "content"} <= set(whole)


@pytest.mark.adr("0055-D2-20", "0055-D2-21", "0055-D2-22")
async def test_the_file_and_the_versions_do_not_follow_each_other(
    native: StateDB, native_backend: Backend, tmp_path: Path
) -> None:
    authored = tmp_path / "work" / "clerk.md"
    authored.parent.mkdir()
    authored.write_text("as written")
    before = authored.stat()
    await native.save_definition(kind="agent", name="clerk", path=str(authored), content="as saved")
    await native.save_definition(kind="agent", name="ghost", path=str(tmp_path / "none" / "x.md"), content="")
    assert authored.read_text() == "as written"
    assert (authored.stat().st_mtime_ns, authored.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert not (tmp_path / "none").exists()
    authored.write_text("written again")
    authored.rename(authored.with_suffix(".moved"))
    await asyncio.sleep(0)
    await native.get_definition("agent", "clerk")
    assert [row["version"] for row in await native.list_definition_versions("agent", "clerk")] == [1]
    assert await count(native, "definitions") == 2
    # No other write makes a version.
    await native.create_progression("p")
    await native.create_engine_def({"id": "e", "name": "clerk", "kind": "agent"})
    await native.create_workflow_def({"id": "w", "name": "clerk"})
    assert await count(native, "definitions") == 2
