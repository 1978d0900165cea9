"""A native handle reads through the same surface as a read-only one, and gets the same answers."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB
from persistence.records import Order, ReadInfo, Route
from tests.native import Backend
from tests.persistence.stores import make_filled


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_filled(tmp_path_factory.mktemp("filled") / "state.db")


@pytest.fixture
async def both(filled: Path, tmp_path: Path) -> AsyncIterator[tuple[StateDB, StateDB]]:
    path = tmp_path / "state.db"
    shutil.copyfile(filled, path)
    async with StateDB(path, mode=Mode.NATIVE) as native, StateDB(path) as reading:
        yield native, reading


def _bare(value: Any) -> Any:
    """The answer without how and when it was read."""
    if isinstance(value, ReadInfo):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: _bare(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [_bare(part) for part in value]
    if isinstance(value, dict):
        return {key: _bare(part) for key, part in value.items()}
    return value


READS = sorted(
    name
    for name, method in inspect.getmembers(StateDB, inspect.iscoroutinefunction)
    if name.startswith(("get_", "list_", "count_"))
    or name in ("run_choices", "statuses", "catalogue", "schema_version")
)


@pytest.mark.parametrize("name", READS)
async def test_every_read_answers_alike(both: tuple[StateDB, StateDB], name: str) -> None:
    parameters = inspect.signature(getattr(StateDB, name)).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.name != "self"]
    given: list[Any] = ["s000"] * len(needed)
    if name == "get_messages":
        given = [["m0000", "none"]]
    elif name == "get_message_type":
        given = [1]
    elif name == "get_session_signals_after":
        given = ["s000", 0]
    answers = [_bare(await getattr(db, name)(*given)) for db in both]
    assert answers[0] == answers[1]


async def test_what_screens_ask_answers_alike(both: tuple[StateDB, StateDB]) -> None:
    native, reading = both
    for make in (
        lambda db: db.runs(order=Order("name")),
        lambda db: db.rows("messages"),
        lambda db: db.rows("sessions", order=Order("updated_at", descending=True)),
        lambda db: db.signals("s000"),
        lambda db: db.artifacts(),
        lambda db: db.progressions(),
    ):
        windows = [await make(db).window(0, 50) for db in (native, reading)]
        assert windows[0].rows == windows[1].rows
        assert windows[0].read.route is Route.LIVE_LOG
    (session, *_) = await native.list_sessions()
    assert _bare(await native.run(session["id"])) == _bare(await reading.run(session["id"]))
    transcripts = [await db.transcript(session["progression_id"]) for db in (native, reading)]
    shown = [_bare(await transcript.window(0, 20)) for transcript in transcripts]
    assert shown[0] == shown[1]
    counts = [{found.table: found.rows async for found in db.counts()} for db in (native, reading)]
    assert counts[0] == counts[1] and counts[0]["sessions"]
    facts = await native.facts()
    assert (facts.lineage, facts.version, facts.journal_mode) == ("lionagi", "4", "wal")
    assert native.last_read is not None and native.last_read.route is Route.LIVE_LOG


async def test_a_load_that_waits_for_something_else_is_one_all_the_same(native: StateDB) -> None:
    """A load is run on the reader's thread at once; one that also waits for the loop is run from there."""
    reader = native._reading.reader
    await native.create_progression("p")
    runs: list[int] = []

    async def waits(snapshot: Any) -> int:
        runs.append(1)
        first = await snapshot.scalar("SELECT count(*) FROM progressions")
        await asyncio.sleep(0)
        return int(first + await snapshot.scalar("SELECT count(*) FROM progressions"))

    async def works(snapshot: Any) -> int:
        first = await snapshot.scalar("SELECT count(*) FROM progressions")
        return int(first + await asyncio.to_thread(lambda: 5))

    async def fails(snapshot: Any) -> int:
        raise KeyError("mine")

    assert await reader.load(waits) == 2
    assert await reader.load(works) == 6
    with pytest.raises(KeyError):
        await reader.load(fails)
    assert await native.get_progression("p") == []


async def test_a_read_sees_what_was_written_before_it(native: StateDB, native_backend: Backend) -> None:
    token = await native.token()
    for number in range(20):
        await native.create_progression(f"p{number}")
        assert len(await native.list_progressions()) == number + 1
    assert await native.token() != token


async def test_cancelled_reads_leave_the_handle_usable(native: StateDB) -> None:
    slow = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000000) "
        "SELECT count(*) AS n FROM n"
    )
    calls: list[Callable[[], Awaitable[Any]]] = [lambda: native.fetch_one(slow), native.list_sessions]
    for call in calls * 3:
        task = asyncio.ensure_future(call())
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await native.fetch_one("SELECT 1 AS n") == {"n": 1}
    await native.create_progression("p")
    answer = await native.checkpoint("TRUNCATE")
    assert answer is None or answer[0] == 0, "no read is left open"


async def test_text_that_is_no_utf_8_is_read_as_a_reader_of_its_own_reads_it(
    both: tuple[StateDB, StateDB], tmp_path: Path
) -> None:
    native, reading = both
    await native.execute("UPDATE sessions SET name = CAST(? AS TEXT) WHERE id = 's000'", [b"caf\xe9"])
    for db in (native, native, reading):
        (row,) = [row for row in await db.list_sessions() if row["id"] == "s000"]
        assert row["name"] == "caf\udce9"
        assert (await db.get_session("s000") or {})["name"] == "caf\udce9"
        cells = await db.rows("sessions", where={"id": "s000"}).window(0, 1)
        assert "caf\udce9" in cells.rows[0].cells
