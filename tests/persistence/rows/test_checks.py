"""Things worth a look: what each check finds, how far it is, what it cannot tell, and where it leads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from persistence.errors import StoreError
from persistence.reading import checks as module
from persistence.reading import stretches
from persistence.reading.checks import CODES, CheckResult
from tests.persistence.rows.support import all_rows, make, opened
from tests.persistence.stores import make_store, message, put, session

NOW = 1_000_000.0


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(stretches, "_FIRST", 4)
    monkeypatch.setattr(stretches, "SECONDS", 1e-9)
    yield


async def result(db: StateDB, code: str, now: float | None = NOW) -> CheckResult:
    results = [each async for each in db.checks(now).run(code)]
    assert all(not each.complete for each in results[:-1]) and results[-1].complete
    return results[-1]


async def found(db: StateDB, code: str, table: str | None = None) -> list[Any]:
    rows = await all_rows(db.checks(NOW).rows(code, table), 50)
    return [row.key[0] for row in rows]


async def test_runs_that_have_been_silent_for_a_day(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    hour, day = 3_600.0, 86_400.0
    put(
        path,
        "sessions",
        session(1, status="running", last_message_at=NOW - day - 1),
        session(2, status="running", last_message_at=NOW - hour),
        session(3, status="failed", last_message_at=NOW - 9 * day),
        session(4, status=None, last_message_at=NOW - 9 * day),
    )
    put(path, "sessions", session(5, status="running", started_at=NOW - 2 * day, updated_at=NOW))
    put(path, "sessions", session(6, status="running", started_at=NOW - hour))
    async with opened(path) as db:
        told = await result(db, "running-silent")
        assert (told.severity, told.count, told.examined) == ("notice", 2, 4)
        assert told.sentence == "2 runs have been running with no message for a day"
        assert told.where == (("sessions", 2),)
        assert sorted(await found(db, "running-silent")) == ["s001", "s005"]
        later = await result(db, "running-silent", NOW + day)
        assert later.count == 4
        quiet = await result(db, "running-silent", NOW - 9 * day)
        assert (quiet.severity, quiet.count) == ("ok", 0)


@pytest.mark.parametrize("release", ["0.26.0", "0.28.0"])
async def test_silence_in_older_stores(tmp_path: Path, release: str) -> None:
    path = make_store(tmp_path / "s.db", release)
    put(path, "sessions", session(1, status="running", updated_at=1.0))
    put(path, "sessions", session(2, status="running", updated_at=NOW, created_at=NOW))
    async with opened(path) as db:
        assert (await result(db, "running-silent")).count == 1
        assert await found(db, "running-silent") == ["s001"]


async def test_progressions_that_name_what_is_not_there(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "messages", *[message(n) for n in range(5)])
    two, none, three, odd = ["m0002", "gone"], [], ["gone", "gone", "m0003"], [5, None, "m0004"]
    lists: list[Any] = [["m0000", "m0001"], two, none, three, "[cut", {"a": "b"}, odd]
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lists * 3]
    rows = [{"id": f"p{n:02}", "created_at": 1.0, "collection": text} for n, text in enumerate(texts)]
    put(path, "progressions", *rows)
    async with opened(path) as db:
        told = await result(db, "dangling-messages")
        assert (told.severity, told.count) == ("bad", 15)
        assert told.sentence == "15 progression entries name messages that do not exist"
        assert told.where == (("progressions", 9),)
        found = await all_rows(db.checks().rows("dangling-messages"), 50)
        assert [row.cells[0] for row in found] == [f"p{n:02}" for n in (1, 3, 6, 8, 10, 13, 15, 17, 20)]


async def test_broken_json_wherever_json_is_kept(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "messages", message(1), message(4, content="null"))
    put(path, "messages", message(2, content="[cut"))
    put(path, "messages", message(3, node_metadata="NaN"))
    put(path, "sessions", session(1, node_metadata='{"a": 1'), session(2, node_metadata=None))
    put(path, "progressions", {"id": "p", "created_at": 1.0, "collection": "oops"})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (k INTEGER PRIMARY KEY, doc JSON, text TEXT) WITHOUT ROWID")
        values = "(1, '{', '{'), (2, 5, 'x'), (3, '[]', NULL), (4, x'ff', '')"
        connection.execute(f"INSERT INTO other VALUES {values}")
        connection.commit()
    async with opened(path) as db:
        told = await result(db, "broken-json")
        assert (told.severity, told.count) == ("bad", 6)
        assert dict(told.where) == {"messages": 2, "other": 2, "progressions": 1, "sessions": 1}
        assert told.sentence == "6 rows have JSON that cannot be read"
        assert await found(db, "broken-json", "other") == [1, 4]
        rows = await all_rows(db.checks().rows("broken-json", "messages"), 50)
        assert [row.cells[0] for row in rows] == ["m0002", "m0003"]
        with pytest.raises(StoreError) as refused:
            db.checks().rows("broken-json", "branches")
        assert refused.value.code == "nothing-found"


def artifact(number: int, **fields: Any) -> dict[str, Any]:
    row = {"id": f"a{number:03}", "created_at": 1.0, "updated_at": 1.0, "kind": "report"}
    return {**row, "name": f"n{number}", "content": {}, **fields}


async def test_artifacts_whose_file_is_gone(tmp_path: Path) -> None:
    root = tmp_path / "run"
    (root / "out").mkdir(parents=True)
    (root / "out" / "there.md").write_text("x")
    (tmp_path / "secret.txt").write_text("secret")
    (root / "out" / "away").symlink_to(tmp_path)
    path = make_store(tmp_path / "s.db")
    put(path, "sessions", session(1, artifacts_path=str(root)), session(2, artifacts_path="relative"))
    put(path, "sessions", session(3, artifacts_path=None))
    put(path, "sessions", session(4, artifacts_path=str(tmp_path / "nowhere")))
    mine = {"session_id": "s001"}
    put(
        path,
        "artifacts",
        artifact(1, file_path="out/there.md", **mine),
        artifact(2, file_path="out/gone.md", **mine),
        artifact(3, file_path=str(root / "out" / "there.md"), **mine),
        artifact(4, file_path=str(root / "gone.md"), **mine),
        artifact(5, **mine),
    )
    unknown = [
        artifact(6, file_path="../secret.txt", **mine),
        artifact(7, file_path=str(tmp_path / "secret.txt"), **mine),
        artifact(8, file_path="out/away/secret.txt", **mine),
        artifact(9, file_path="x", session_id="s002"),
        artifact(10, file_path="x", session_id="s003"),
        artifact(11, file_path="x", session_id="s004"),
        artifact(12, file_path="x", session_id=None),
        artifact(13, file_path="a\0b", **mine),
    ]
    for each in unknown:
        put(path, "artifacts", each)
    async with opened(path) as db:
        told = await result(db, "artifact-files")
        assert (told.severity, told.count, told.examined, told.unknown) == ("notice", 2, 12, 8)
        assert told.sentence == "2 artifacts' files are gone" and told.why is not None
        rows = await all_rows(db.checks().rows("artifact-files"), 50)
        assert [row.cells[0] for row in rows] == ["a002", "a004"]
        (root / "out" / "gone.md").write_text("back")  # nothing of the store moved, and yet
        assert (await result(db, "artifact-files")).count == 1


async def test_nothing_can_be_told_of_files_without_a_folder(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "artifacts", artifact(1, file_path="x"))
    async with opened(path) as db:
        told = await result(db, "artifact-files")
        assert (told.severity, told.count, told.unknown) == ("unknown", 0, 1)
        assert told.sentence.startswith("cannot tell")


@pytest.mark.parametrize("code", CODES)
async def test_a_store_that_is_well(tmp_path: Path, code: str) -> None:
    for path in (make_store(tmp_path / "s.db"), make(tmp_path / "other.db", "CREATE TABLE t (a)")):
        async with opened(path) as db:
            told = await result(db, code)
            assert (told.severity, told.count, told.where) == ("ok", 0, ())


async def test_results_are_remembered_under_the_change_token(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "progressions", {"id": "p", "created_at": 1.0, "collection": "oops"})
    async with opened(path) as db:
        checks = db.checks(NOW)
        assert checks.last("broken-json") is None
        with pytest.raises(StoreError) as refused:
            checks.rows("broken-json")
        assert refused.value.code == "not-checked"
        first = await result(db, "broken-json")
        assert checks.last("broken-json") == first
        assert [each async for each in checks.run("broken-json")] == [first]  # from memory, at once
        put(path, "progressions", {"id": "q", "created_at": 1.0, "collection": "oops"})
        assert checks.last("broken-json") == first
        assert (await result(db, "broken-json")).count == 2
        with pytest.raises(StoreError) as unknown:
            await result(db, "nope")
        assert unknown.value.code == "no-such-check"


async def test_a_check_goes_in_stretches_and_can_be_left(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "progressions", *[{"id": f"p{n}", "created_at": 1.0, "collection": '["x"]'} for n in range(40)])
    async with opened(path) as db:
        checks = db.checks(NOW)
        steps = checks.run("dangling-messages")
        seen = [await anext(steps) for _ in range(3)]
        assert [each.count for each in seen] == [4, 5, 6]
        assert [each.progress.done for each in seen if each.progress] == [4, 5, 6]
        assert seen[0].progress is not None and seen[0].progress.total == 40
        await steps.aclose()  # type: ignore[attr-defined]
        assert checks.last("dangling-messages") is None
        put(path, "progressions", {"id": "late", "created_at": 1.0, "collection": '["x"]'})
        assert (await result(db, "dangling-messages")).count == 41


async def test_a_check_says_when_the_store_moved_under_it(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "progressions", *[{"id": f"p{n}", "created_at": 1.0, "collection": '["x"]'} for n in range(10)])
    async with opened(path) as db:
        results = []
        async for each in db.checks(NOW).run("dangling-messages"):
            results.append(each)
            if len(results) == 2:
                put(path, "messages", message(1))
        assert results[-1].snapshots > 1 and results[-1].count == 10


async def test_a_large_store_waits_to_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(make_store(tmp_path / "s.db")) as db:
        assert not await db.checks().needs_asking()
        monkeypatch.setattr(module, "ASK_ABOVE", 1_000)
        assert await db.checks().needs_asking()
