"""Stores of older releases lack columns and tables: every read adapts, and says what is missing."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from persistence.reading.page import Page
from persistence.schema.known import RELEASES, TABLES, columns_of, ever_had
from tests.persistence.stores import make_filled, marks_of

SHARED = ["0.26.0", "0.28.0", "0.32.0", "0.36.0"]

# What is asked for where a method needs more than a page.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "list_artifacts_for_invocation": ("i0",),
    "list_artifacts_for_session": ("s000",),
    "list_definition_versions": ("agent", "clerk"),
    "list_pending_session_controls": ("s000",),
    "list_sessions_for_invocation": ("i0",),
    "get_definition": ("agent", "clerk"),
    "get_messages": (["m0000", "none"],),
    "get_session_signals_after": ("s000", 0),
    "get_message_type": (1,),
}

READS = [
    name
    for name, method in inspect.getmembers(StateDB, inspect.iscoroutinefunction)
    if name.startswith(("get_", "list_", "count_"))
]

TABLE_OF = {
    "list_artifacts_for_invocation": "artifacts",
    "list_artifacts_for_session": "artifacts",
    "list_pending_session_controls": "session_controls",
    "list_sessions_for_invocation": "sessions",
    "list_latest_definition_versions": "definitions",
    "list_definition_versions": "definitions",
    "list_meta": "schema_meta",
    "list_dispatches": "dispatch_outbox",
    "list_attention_history": "attention_disposition_history",
    "list_approval_evidence": "approval_evidence",
}


def table_of(method: str) -> str:
    table = TABLE_OF.get(method, method.removeprefix("list_"))
    assert table in TABLES, method
    return table


async def read(db: StateDB, name: str) -> Any:
    method = getattr(db, name)
    arguments = ARGUMENTS.get(name)
    if arguments is None:
        needed = [
            parameter
            for parameter in inspect.signature(method).parameters.values()
            if parameter.default is parameter.empty
        ]
        arguments = ("s000",) * len(needed)
    return await method(*arguments)


def test_the_facade_has_the_reads_of_the_contract() -> None:
    assert set(READS) >= {"get_session", "get_definition", "list_definition_versions", "get_progression"}
    assert len(READS) > 60


@pytest.mark.parametrize("release", RELEASES)
async def test_every_read_works_on_every_release(tmp_path: Path, release: str) -> None:
    path = make_filled(tmp_path / "state.db", release)
    before = marks_of(path)
    async with StateDB(path) as db:
        for name in READS:
            answer = await read(db, name)
            if name.startswith("list_"):
                assert isinstance(answer, Page), name
                table = table_of(name)
                there = columns_of(table, release)
                assert answer.missing.table is (not there), name
                assert set(answer.missing.columns) == ever_had(table) - there, name
                assert answer.complete
                if not there:
                    assert answer == []
        for table in TABLES:
            missing = await db.missing(table)
            assert missing.table is (not columns_of(table, release))
            assert bool(missing) is (columns_of(table, release) != ever_had(table))
    assert marks_of(path) == before


@pytest.mark.parametrize("release", RELEASES)
async def test_a_filter_on_a_column_the_store_lacks_matches_nothing(tmp_path: Path, release: str) -> None:
    path = make_filled(tmp_path / "state.db", release)
    async with StateDB(path) as db:
        page = await db.list_sessions(project="harbour")
        if "project" in columns_of("sessions", release):
            assert len(page) == 2
        else:
            assert page == [] and "project" in page.missing.columns
        assert len(await db.list_sessions()) == 4
        assert await db.count_sessions(status="running") == 1
        expected = None if not columns_of("invocations", release) else 2
        assert await db.count_invocations() == expected
        session = await db.get_session("s000")
        assert session is not None
        assert set(session) == columns_of("sessions", release)


@pytest.fixture
def real(shared_stores: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return Path(shutil.copy(shared_stores / f"lionagi-{request.param}.db", tmp_path / "state.db"))


@pytest.mark.parametrize("real", SHARED, indirect=True)
async def test_every_read_works_on_the_stores_releases_made(real: Path) -> None:
    before = marks_of(real)
    async with StateDB(real) as db:
        counts = {
            shape.name: (await db.fetch_one(f'SELECT count(*) AS n FROM "{shape.name}"') or {})["n"]
            for shape in await db.catalogue()
        }
        for name in READS:
            method = getattr(db, name)
            needed = [
                parameter
                for parameter in inspect.signature(method).parameters.values()
                if parameter.default is parameter.empty
            ]
            if name.startswith("list_") and not needed:
                page = await method()
                table = table_of(name)
                if name == "list_latest_definition_versions":
                    assert len({(row["kind"], row["name"]) for row in page}) == len(page)
                else:
                    assert len(page) == counts.get(table, 0), name
                if table in counts and "limit" in inspect.signature(method).parameters and page:
                    part = await method(limit=1)
                    assert part[0] == page[0] and part.complete is (len(page) == 1)
            else:
                await read(db, name)
        for session in await db.list_sessions():
            assert await db.get_session(session["id"]) == session
            for branch in await db.list_branches(session["id"]):
                order = await db.get_progression(branch["progression_id"])
                messages = await db.get_branch_messages(branch["id"])
                assert [row["id"] for row in messages] == [m for m in order if await db.get_message(m)]
    assert marks_of(real) == before
