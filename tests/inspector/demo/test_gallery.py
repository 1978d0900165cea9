"""The demo's gallery: what is in it, always the same, and nothing left behind."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from inspector.demo import session
from inspector.demo.gallery import CARDS, read_index
from inspector.demo.session import DemoError, build_gallery, gallery
from persistence import Mode, StateDB
from persistence.records import SchemaApplied

CLOCK = 1_795_953_600.0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> session.Gallery:
    return build_gallery(tmp_path_factory.mktemp("gallery") / "made", CLOCK)


def query(path: str | Path, sql: str) -> list[tuple[object, ...]]:
    """Asks a copy, with what lies beside it, so that the gallery stays as it was built."""
    with tempfile.TemporaryDirectory() as folder:
        for beside in (f"{path}-journal", f"{path}-wal"):
            if Path(beside).exists():
                shutil.copy(beside, folder)
        with sqlite3.connect(shutil.copy(path, folder)) as connection:
            found = connection.execute(sql).fetchall()
        connection.close()
    return found


def test_there_is_a_card_for_each_store(built: session.Gallery) -> None:
    assert [card.name for card in built.cards] == [card.name for card in CARDS]
    assert read_index(built.folder) == built.cards
    for card in built.cards:
        path = Path(card.store)
        assert path.parent == built.folder and path.stat().st_size == card.size
        assert card.title and card.story and card.holds and card.look
    beside = {"logbook.db-wal", "pilots.db-wal", "pilots.db-shm"}
    beside |= {"power-cut.db-journal", "takeover.db-journal"}
    there = {path.name for path in built.folder.iterdir() if path.is_file()}
    assert there == {card.file for card in CARDS} | beside | {"gallery.json"}


def test_the_stores_are_sound(built: session.Gallery) -> None:
    for card in built.cards:
        assert query(card.store, "PRAGMA integrity_check") == [("ok",)]
        assert query(card.store, "PRAGMA foreign_key_check") == []


def test_the_harbour_is_rich(built: session.Gallery) -> None:
    """What the issue asks of it, counted."""
    store = built.cards[0].store
    statuses = dict(query(store, "SELECT status, count(*) FROM sessions GROUP BY 1"))  # type: ignore[arg-type]
    assert sum(statuses.values()) > 300
    assert {
        "completed",
        "failed",
        "timed_out",
        "aborted",
        "cancelled",
        "completed_empty",
        "running",
        None,
    } == set(statuses)
    counts = {
        "more branches than runs": "SELECT (SELECT count(*) FROM branches) > (SELECT count(*) FROM sessions)",
        "versions of definitions": "SELECT max(version) >= 4 FROM definitions",
        "artifacts": "SELECT count(*) >= 5 FROM artifacts WHERE file_path IS NOT NULL OR content IS NOT NULL",
        "verified": "SELECT count(*) >= 2 FROM sessions WHERE artifact_verification_json IS NOT NULL",
        "schedules and runs": "SELECT count(DISTINCT s.id) > 0 AND count(*) > 40 FROM schedules s"
        " JOIN schedule_runs r ON r.schedule_id = s.id",
        "tool calls": "SELECT count(*) > 300 FROM messages WHERE lion_class = 4",
        "a failed call": "SELECT count(*) > 10 FROM messages WHERE lion_class = 5 AND content LIKE '%error%'",
        "a long message": "SELECT max(length(content)) > 15000 FROM messages",
        "other scripts": "SELECT count(*) > 2 FROM messages WHERE content LIKE '%\\u30%'",
        "sixty days": "SELECT max(created_at) - min(created_at) > 58 * 86400 FROM sessions",
        "signals": "SELECT count(*) > 500 FROM session_signals",
        "transitions": "SELECT count(*) > 500 FROM status_transitions",
    }
    for what, sql in counts.items():
        assert query(store, sql) == [(1,)], what


def test_a_few_things_are_worth_a_look(built: session.Gallery) -> None:
    store = built.cards[0].store
    dangling = query(
        store,
        "SELECT count(*) FROM progressions p, json_each(p.collection) e"
        " WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = e.value)",
    )
    stale = query(
        store,
        f"SELECT count(*) FROM sessions WHERE status = 'running' AND last_message_at < {CLOCK - 86_400}",
    )
    assert dangling == [(3,)] and stale == [(1,)]
    named = query(
        store,
        "SELECT s.artifacts_path, a.file_path FROM artifacts a JOIN sessions s ON s.id = a.session_id"
        " WHERE a.file_path IS NOT NULL",
    )
    there = [Path(str(folder), str(path)).is_file() for folder, path in named]
    assert all(str(folder).startswith(str(built.folder)) for folder, _ in named)
    assert sum(there) == 2 and len(there) == 4


def test_the_same_clock_makes_the_same_stores(built: session.Gallery) -> None:
    # Beside it, under a name as long: definitions hold the names of their files.
    again = build_gallery(built.folder.with_name("anew"), CLOCK)
    for one, other in zip(built.cards, again.cards, strict=True):
        assert one.holds == other.holds and one.size == other.size
    for table in ("sessions", "messages", "progressions", "status_transitions"):
        sql = f"SELECT group_concat(id) FROM (SELECT id FROM {table} ORDER BY id)"
        assert query(built.cards[0].store, sql) == query(again.cards[0].store, sql)


@pytest.mark.parametrize("number", [0, 1])
async def test_its_own_stores_are_as_the_native_writer_makes_them(
    built: session.Gallery, number: int, tmp_path: Path
) -> None:
    """A native open finds nothing to do: no table, column, index or row of its own is missing."""
    copy = Path(shutil.copy(built.cards[number].store, tmp_path))
    async with StateDB(copy, mode=Mode.NATIVE) as db:
        assert db.applied == SchemaApplied(from_version="4")
        assert await db.get_meta("lineage") == "lionagi"
        made = float(await db.get_meta("created_at"))
        assert CLOCK - 70 * 86_400 < made < CLOCK


def test_the_program_has_no_schema_of_its_own_for_them() -> None:
    folder = Path(session.__file__).parent
    texts = [path.read_text("utf-8") for path in folder.glob("*.py")]
    assert not any("CREATE TABLE messages" in text or "INSERT INTO messages" in text for text in texts)
    assert not list(folder.glob("*.sql"))


def test_it_is_built_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that reads stores must never have opened one another way: locks would be lost."""
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: pytest.fail("opened in the parent"))
    assert build_gallery(tmp_path / "made", CLOCK).cards


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DemoError) as caught:
        build_gallery(tmp_path, CLOCK)
    assert caught.value.code == "demo-directory-taken" and "thesis.txt" in (caught.value.observed or "")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_something_added_to_an_older_gallery_is_left_alone_too(tmp_path: Path) -> None:
    build_gallery(tmp_path / "g", CLOCK)
    (tmp_path / "g" / "notes.txt").write_text("mine")
    with pytest.raises(DemoError):
        build_gallery(tmp_path / "g", CLOCK)
    assert (tmp_path / "g" / "notes.txt").read_text() == "mine" and read_index(tmp_path / "g")


def test_an_older_gallery_is_built_anew(tmp_path: Path) -> None:
    build_gallery(tmp_path, CLOCK)
    assert build_gallery(tmp_path, CLOCK + 86_400).cards
    assert '"clock": 1796040000.0' in (tmp_path / "gallery.json").read_text()


def test_a_gallery_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    with gallery(tmp_path, CLOCK), pytest.raises(DemoError) as caught:
        build_gallery(tmp_path, CLOCK)
    assert caught.value.code == "demo-running"


def rows(path: str) -> int:
    """How many messages the live store has, seen by yet another process (its log included)."""
    script = (
        "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]);"
        "print(c.execute('select count(*) from messages').fetchone()[0])"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    return int(done.stdout)


def wait_for(condition: object, seconds: float = 20.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_the_live_store_grows_and_stops_with_the_demo() -> None:
    with gallery(clock=CLOCK) as demo:
        live = next(card for card in demo.cards if card.live)
        first = rows(live.store)
        assert wait_for(lambda: rows(live.store) > first + 1)
        assert demo.folder.is_dir()
    assert not demo.folder.exists()


ROOT = Path(__file__).resolve().parents[3]
DEMO = """
import sys, time
from inspector.demo.session import gallery
with gallery(clock=1795953600.0) as built:
    print(built.folder, flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_demo_leaves_no_process_and_the_next_cleans_up(how: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", DEMO]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([*command, "60"], stdout=subprocess.PIPE, text=True, env=environ, cwd=ROOT)
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    live = folder / "night-watch.db"
    assert wait_for(lambda: Path(f"{live}-wal").exists())
    process.send_signal(how)
    process.wait(10)
    # The writer notices by itself that nobody is there any more, and closes the store as a program does.
    assert wait_for(lambda: not Path(f"{live}-wal").exists() and not Path(f"{live}-shm").exists())
    assert folder.is_dir()
    again = subprocess.run(
        [*command, "0"], stdout=subprocess.PIPE, text=True, env=environ, cwd=ROOT, check=True
    )
    assert again.stdout.strip() != str(folder) and list(tmp_path.iterdir()) == []


def test_the_sweep_leaves_a_running_demo_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    alive, dead, kept = (tmp_path / f"store-inspector-demo-{name}" for name in ("alive", "dead", "kept"))
    for folder in (alive, dead, kept):
        folder.mkdir()
    for folder in (alive, dead):
        (folder / ".demo.lock").touch()
    with (alive / ".demo.lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        session._sweep()
    assert alive.is_dir() and not dead.exists() and kept.is_dir()
