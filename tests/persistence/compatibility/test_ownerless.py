"""A store without owners: what a run may write is what it made, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from persistence import StateCompatibilityRefused, StateDB
from persistence.profiles.catalogue import load_profile
from persistence.runs import record_run
from persistence.writing.compatibility.manifest import OPERATIONS, book_of, compiled
from tests.managed import dump, live, make_run, manager, message, profile_of
from tests.persistence.compatibility.lifecycle import no
from tests.persistence.stores import make_store


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Tables of this lineage's own shape that another application manages."""
    path = make_store(tmp_path / "plain.db", wal=True)
    manager(
        path,
        "UPDATE schema_meta SET value = 'harbour-master' WHERE key = 'lineage'",
        "INSERT INTO invocations (id, skill, started_at, created_at, updated_at) VALUES ('i', 'x', 1, 1, 1)",
        "INSERT INTO progressions (id, created_at) VALUES ('theirs', 1.0)",
        "INSERT INTO messages (id, created_at, content, role, lion_class) "
        "VALUES ('theirs', 1, '{}', 'user', 0)",
    )
    return path


async def test_a_run_is_recorded_without_owners(plain: Path) -> None:
    profile = load_profile("lionagi-shape-fresh-run", directories=())
    before = dump(plain)
    async with StateDB(plain, profile=profile) as db:
        async with record_run(db, system=message("sys", role="system")) as run:
            await run.message(message("m1"))
            await run.signal("k", {})
        await make_run(db)
        await live(db, "m2")
        written = dump(plain)
        for call in (
            db.create_progression("theirs"),
            db.insert_message(message("theirs")),
            db.append_to_progression("theirs", "m2"),
            db.create_progression("new", ["theirs"]),
            db.create_session({"id": "new", "progression_id": "sp", "invocation_id": "i"}),
            db.update_session("s", invocation_id="i"),
        ):
            await no(call)
        assert dump(plain) == written
        found = await db.get_session(run.session_id)
        assert found is not None and found["status"] == "completed"
    after = dump(plain)
    for table, rows in before.items():
        assert set(rows) <= set(after[table]), table


async def test_an_owner_is_refused_where_there_are_none(plain: Path) -> None:
    before = dump(plain)
    with pytest.raises(StateCompatibilityRefused):
        await StateDB(plain, profile="lionagi-shape-fresh-run", owner="kim").open()
    assert dump(plain) == before


def test_names_are_compared_as_sqlite_compares_them() -> None:
    profile = profile_of()
    shouted = {
        name.upper(): replace(rule, update=tuple(column.upper() for column in rule.update))
        for name, rule in profile.writes.items()
    }
    texts = set(compiled(replace(profile, writes=shouted), "kim").statements)
    assert texts == set(compiled(profile, "kim").statements)
    few = {**profile.writes, "sessions": replace(profile.writes["sessions"], update=("name", "updated_at"))}
    assert "model=" not in "".join(
        entry.text for _, entry in book_of(replace(profile, writes=few)).entries(OPERATIONS["update_session"])
    )
