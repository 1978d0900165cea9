"""The list of runs: what it shows, how it is narrowed and sorted, and what older stores do not have."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import StoreError
from persistence.reading import fences
from persistence.reading.runs import COLUMNS
from persistence.records import ABSENT, PENDING, Order, Preview, RunFilter, Unreadable
from persistence.schema.known import RELEASES, columns_of
from tests.persistence.rows.support import all_rows, exported, make, measured, opened
from tests.persistence.stores import make_filled, make_store, put, session

AT = {column.name: place for place, column in enumerate(COLUMNS)}


def busy(path: Path, count: int = 300) -> Path:
    """Runs of every kind, with progressions of odd lengths and odd states."""
    path.write_bytes(_busy(count))
    return path


@cache
def _busy(count: int) -> bytes:
    kinds = ["completed", "failed", "running", None]
    lists: list[Any] = ["[]", '["a"]', json.dumps(["m"] * 17), '{"no": "list"}', '["cut', None]
    progressions, sessions = [], []
    for n in range(count):
        collection = lists[n % 6]
        if collection is not None:
            progressions.append({"id": f"p{n:03}", "created_at": 1.0, "collection": collection})
        sessions.append(
            session(
                n,
                status=kinds[n % 4],
                name=None if n % 9 == 0 else f"run {n % 50} of 100%",
                project=["harbour", "日誌", None][n % 3],
                agent_name=["planner", "clerk_1", None][n % 3],
                model=f"model-{n % 2}",
                started_at=float(n),
                ended_at=None if n % 5 == 0 else n + n % 13,
                updated_at=5_000.0 - (n * 7) % count,
                progression_id=f"p{n:03}",
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        path = make_store(Path(folder, "busy.db"))
        put(path, "progressions", *progressions)
        put(path, "sessions", *sessions)
        return path.read_bytes()


async def shown(source: Any, name: str) -> list[Any]:
    rows = await all_rows(source, 64)
    return [row.cells[AT[name]] for row in rows]


async def test_newest_first_through_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "STEP", 16)
    async with opened(busy(tmp_path / "s.db")) as db:
        source = db.runs()
        assert [column.name for column in source.columns] == [column.name for column in COLUMNS]
        updated = await shown(source, "updated_at")
        assert updated == sorted(updated, reverse=True) and len(updated) == 300
        first = (await source.window(0, 1)).rows[0]
        assert first.key == (first.cells[AT["id"]],)
        assert (await measured(source)).rows == 300
        for place in (0, 15, 16, 17, 250):
            row = (await source.window(place, 1)).rows[0]
            assert await source.position(row.key) == place
        assert await source.position(("none",)) is None


async def test_messages_come_after_the_first_paint(tmp_path: Path) -> None:
    async with opened(busy(tmp_path / "s.db")) as db:
        source = db.runs(order=Order("id"))
        window = await source.window(0, 6)
        assert [row.cells[AT["messages"]] for row in window.rows] == [PENDING] * 6
        full = await source.complete(window)
        counts = [row.cells[AT["messages"]] for row in full.rows]
        assert counts[:3] == [0, 1, 17]
        assert [cell.why for cell in counts[3:] if isinstance(cell, Unreadable)] == [
            "the progression is not a list",
            "the progression is not JSON",
            "the progression does not exist",
        ]
        assert await source.complete(full) == full
        row = await source.cells(window.rows[2].key)
        assert row is not None and row.cells[AT["messages"]] == 17
        assert [each.cells[AT["messages"]] for each in await exported(source, limit=3)] == [0, 1, 17]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", [column.name for column in COLUMNS])
async def test_every_column_sorts_with_nothing_last(tmp_path: Path, name: str, descending: bool) -> None:
    async with opened(busy(tmp_path / "s.db", 60)) as db:
        source = db.runs(order=Order(name, descending))
        window = await source.complete(await source.window(0, 60))
        values = [row.cells[AT[name]] for row in window.rows]
        assert len(values) == 60
        known = [value for value in values if isinstance(value, int | float | str)]
        assert known == sorted(known, reverse=descending)  # type: ignore[type-var]
        assert values[: len(known)] == known
        await measured(source)
        assert [row.key for row in await all_rows(source, 17)] == [row.key for row in window.rows]


def _words(row: dict[str, Any]) -> bool:
    name = row["name"] or ""
    return "run" in name and "100%" in name and ("7" in name or "7" in row["id"])


def _statuses(row: dict[str, Any]) -> bool:
    return row["status"] in ("failed", None)


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        (RunFilter(statuses=("failed",)), lambda r: r["status"] == "failed"),
        (RunFilter(statuses=(None,)), lambda r: r["status"] is None),
        (RunFilter(statuses=("failed", None)), _statuses),
        (RunFilter(project="日誌"), lambda r: r["project"] == "日誌"),
        (
            RunFilter(agent="clerk_1", model="model-1"),
            lambda r: r["agent_name"] == "clerk_1" and r["model"] == "model-1",
        ),
        (RunFilter(agent="*lan*"), lambda r: r["agent_name"] == "planner"),
        (RunFilter(agent="clerk%"), lambda r: False),  # no wildcard of ours
        (RunFilter(text="RUN 7 100%"), _words),
        (RunFilter(text="100_"), lambda r: False),
        (RunFilter(text="日"), lambda r: r["project"] == "日誌"),
        (RunFilter(since=4_990.0, until=4_995.0), lambda r: 4_990.0 <= r["updated_at"] < 4_995.0),
        (RunFilter(statuses=("failed",), project="harbour", text="clerk"), lambda r: False),
    ],
)
async def test_filters(tmp_path: Path, asked: RunFilter, fits: Any) -> None:
    async with opened(busy(tmp_path / "s.db", 120)) as db:
        names = ("id", "status", "project", "agent_name", "model", "name", "updated_at")
        every = await all_rows(db.runs(), 200)
        wanted = []
        for row in every:
            values = {name: row.cells[AT[name]] for name in names}
            if fits(values):
                wanted.append(row.key)
        source = db.runs(asked)
        found = [row.key for row in await all_rows(source, 11)]
        assert found == wanted
        assert (await measured(source)).rows == len(wanted)
        assert [row.key for row in await all_rows(source.ordered(Order("id")), 50)] == sorted(wanted)


async def test_a_name_of_five_megabytes_is_not_in_the_way(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "sessions", session(1, name="n" * 5_000_000), session(2, name="short"))
    async with opened(path) as db:
        window = await db.runs(order=Order("id")).window(0, 5)
        name = window.rows[0].cells[AT["name"]]
        assert isinstance(name, Preview) and name.size == 5_000_000 and len(name.head) == 200


async def test_times_that_are_no_times(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(
        path,
        "sessions",
        session(1, started_at="soon", ended_at=9.0),
        session(2, started_at=3.0, ended_at=9.5),
    )
    async with opened(path) as db:
        rows = (await db.runs(order=Order("id")).window(0, 5)).rows
        assert [row.cells[AT["length"]] for row in rows] == [None, 6.5]
        assert rows[0].cells[AT["started_at"]] == "soon"


@pytest.mark.parametrize("release", RELEASES)
async def test_what_a_release_does_not_have_is_marked(tmp_path: Path, release: str) -> None:
    path = make_store(tmp_path / "s.db", release)
    there = columns_of("sessions", release)
    row = {name: value for name, value in session(1, status="failed", name="old").items() if name in there}
    put(path, "sessions", row)
    async with opened(path) as db:
        source = db.runs()
        rows = (await source.window(0, 5)).rows
        missing = {column.name for column in source.columns if column.missing}
        assert missing == {column.name for column in COLUMNS} - there - {"messages", "length"}
        for name in missing:
            assert rows[0].cells[AT[name]] is ABSENT
            with pytest.raises(StoreError):
                await db.runs(order=Order(name)).window(0, 1)
        assert rows[0].cells[AT["name"]] == "old"
        found = (await db.runs(RunFilter(model="m", agent="a")).window(0, 5)).rows
        assert not found
        choices = await db.run_choices()
        assert choices.statuses == (("failed", 1),)


async def test_real_stores_of_every_release(shared_stores: Path, tmp_path: Path) -> None:
    for store in sorted(shared_stores.glob("lionagi-*.db")):
        path = tmp_path / store.name
        path.write_bytes(store.read_bytes())
        async with opened(path) as db:
            source = db.runs()
            rows = (await source.complete(await source.window(0, 50))).rows
            assert len(rows) == 11
            assert sum(row.cells[AT["messages"]] for row in rows) == 101  # type: ignore[misc]
            for row in rows:
                detail = await db.run(row.key[0])
                assert detail is not None and detail.messages == row.cells[AT["messages"]]
                for branch in detail.branches:
                    transcript = await db.transcript(branch.progression_id or "")
                    assert transcript.length == branch.messages
                    entries = await transcript.window(0, 100)
                    assert len(entries) == transcript.length
                    assert all(entry.parts or not entry.exists for entry in entries if entry.size > 30)


async def test_a_store_without_sessions(tmp_path: Path) -> None:
    async with opened(make(tmp_path / "other.db", "CREATE TABLE t (a)")) as db:
        with pytest.raises(StoreError) as refused:
            await db.runs().window(0, 5)
        assert refused.value.code == "no-such-table"
        assert (await db.run_choices()).statuses == ()
        assert await db.statuses() == () and (await db.activity()).last is None


async def test_choices(tmp_path: Path) -> None:
    async with opened(busy(tmp_path / "s.db", 120)) as db:
        choices = await db.run_choices()
        assert dict(choices.statuses) == {"completed": 30, "failed": 30, "running": 30, None: 30}
        assert choices.projects == (("harbour", 40), ("日誌", 40), (None, 40))
        assert not choices.capped


async def test_one_run_whole(tmp_path: Path) -> None:
    async with opened(make_filled(tmp_path / "s.db")) as db:
        detail = await db.run("s000")
        assert detail is not None
        assert (detail.name, detail.status, detail.missing_columns, detail.missing_tables) == (
            "Tide board",
            "running",
            (),
            (),
        )
        assert [branch.id for branch in detail.branches] == ["b0", "b1"]
        assert [branch.messages for branch in detail.branches] == [4, 0]
        assert detail.invocation is not None and detail.invocation["skill"] == "review"
        assert detail.row["project"] == "harbour"
        assert set(detail.counts) == {
            "signals",
            "transitions",
            "artifacts",
            "controls",
            "engine_runs",
            "tags",
        }
        for name, source in {
            "signals": db.signals("s000"),
            "transitions": db.transitions("session", "s000"),
            "controls": db.controls("s000"),
            "engine_runs": db.engine_runs_of("s000"),
            "artifacts": db.artifacts_of("s000", "i0"),
        }.items():
            assert len(await all_rows(source, 50)) == detail.counts[name], name
        failed = await db.run("s003")
        assert failed is not None and failed.verification == {"status": "failed"}
        assert await db.run("none") is None


async def test_broken_json_of_a_run_is_told(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(
        path,
        "sessions",
        session(
            1,
            artifact_contract_json='{"cut',
            artifact_verification_json='{"status": "passed", "status": "failed"}',
        ),
    )
    async with opened(path) as db:
        detail = await db.run("s001")
        assert detail is not None
        assert isinstance(detail.contract, Unreadable) and detail.row["artifact_contract_json"] == '{"cut'
        assert isinstance(detail.verification, Unreadable) and "twice" in detail.verification.why
        assert isinstance(detail.messages, Unreadable) and "does not exist" in detail.messages.why


async def test_a_run_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(
        path,
        "sessions",
        session(1, id="abc1", run_id="r1"),
        session(2, id="abd2", run_id="abc"),
        session(3, id="x", run_id="zz"),
        session(4, id="\U0010ffff!", run_id="r4"),
    )
    async with opened(path) as db:
        assert await db.find_run("abc1") == "abc1"
        assert await db.find_run("abd") == "abd2"
        assert await db.find_run("abc") == "abd2"  # the whole of a run id
        assert await db.find_run("z") == "x"
        assert await db.find_run("\U0010ffff") == "\U0010ffff!"
        assert await db.find_run("nothing") is None and await db.find_run("") is None
        with pytest.raises(StoreError) as refused:
            await db.find_run("ab")
        assert refused.value.code == "ambiguous-run"
        assert refused.value.observed == "abc1, abd2"
