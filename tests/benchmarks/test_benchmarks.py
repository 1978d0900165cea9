"""The benchmark programs run, on a store small enough for every test run; their times are not asserted."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from persistence import StateDB
from tests.benchmarks import browse
from tests.benchmarks.make_store import main as make_main
from tests.benchmarks.make_store import make_store


def _content(path: Path) -> str:
    digest = hashlib.sha256()
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        for line in connection.iterdump():
            digest.update(line.encode())
    return digest.hexdigest()


def test_the_generator_makes_the_same_store_every_time(tmp_path: Path) -> None:
    one = make_store(tmp_path / "one.db", messages=600, sessions=7, long=200)
    two = make_store(tmp_path / "two.db", messages=600, sessions=7, long=200)
    assert _content(one.path) == _content(two.path)
    assert (one.long_session, one.long_progression) == (two.long_session, two.long_progression)
    assert one.path.read_bytes()[18:20] == b"\x02\x02"
    assert [entry.name for entry in tmp_path.iterdir()].count("one.db-wal") == 0


async def test_the_generated_store_holds_what_was_asked_for(tmp_path: Path) -> None:
    made = make_store(tmp_path / "made.db", messages=601, sessions=7, long=200)
    async with StateDB(made.path) as db:
        counts = {found.table: found.rows async for found in db.counts()}
        assert (counts["messages"], counts["sessions"], counts["progressions"]) == (601, 7, 14)
        transcript = await db.transcript(made.long_progression)
        assert transcript.length == 200
        async for _ in transcript.survey():
            pass
        assert (transcript.dangling, transcript.out_of_order) == (0, 0)
        run = await db.run(made.long_session)
        assert run is not None and run.messages == 200
        for code in ("dangling-messages", "broken-json"):
            results = [result async for result in db.checks().run(code)]
            assert results[-1].count == 0 and results[-1].examined


def test_a_store_is_not_made_over_another(tmp_path: Path) -> None:
    (tmp_path / "there.db").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        make_store(tmp_path / "there.db", messages=10, sessions=1)
    assert (tmp_path / "there.db").read_bytes() == b"mine"


def test_the_programs_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.db"
    make_main([str(path), "--messages", "900", "--sessions", "30"])
    assert "900 messages, 30 sessions" in capsys.readouterr().out
    browse.main(["--store", str(path), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert any(name.startswith("conversation of 90:") for name in figures)
    assert all(value >= 0 for value, _, _ in figures.values())
