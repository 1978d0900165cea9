"""acme-desk, the made-up managing application: another program, its store, its migrations, its readers."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.demo import acme_desk
from inspector.demo.acme_desk.__main__ import main
from inspector.demo.acme_desk.migrations import migrate
from inspector.demo.acme_desk.runs import Run
from inspector.demo.acme_desk.store import connect, initialize, opened, transaction

ROOT = Path(__file__).resolve().parents[3]


def facts(path: Path) -> dict[str, Any]:
    """What SQLite says of every table, and the text of everything without spacing and quotes."""
    connection = sqlite3.connect(path)
    found: dict[str, Any] = {}
    for kind, name, text in connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall():
        found[name] = [kind, re.sub(r'[\s"]+', "", text)]
        if kind == "table":
            for pragma in ("table_xinfo", "foreign_key_list", "index_list"):
                rows = [tuple(row) for row in connection.execute(f"PRAGMA {pragma}('{name}')")]
                found[name].append(sorted(rows) if pragma == "foreign_key_list" else rows)
    connection.close()
    return found


def rows(path: Path, sql: str, *values: object) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def said(*words: object, code: int = 0) -> dict[str, Any]:
    """What the desk's command answers, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "inspector.demo.acme_desk", *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr or done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "desk.db"
    initialize(path, sample=True)
    return path


# -- making a store -----------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-36")
def test_the_lineage_row_comes_with_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction: every moment another connection can see has both, or neither."""
    seen = []
    plain = sqlite3.connect

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> Any:  # type: ignore[override]
            done = super().execute(sql, *values)
            if sql.startswith("PRAGMA"):
                return done
            other = plain(tmp_path / "new.db")
            tables = {
                name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            meta = dict(other.execute("SELECT key, value FROM schema_meta")) if tables else {}
            other.close()
            seen.append((bool(tables), meta.get("lineage")))
            return done

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: plain(*a, **{**k, "factory": Watched}))
    initialize(tmp_path / "new.db")
    assert set(seen) == {(False, None), (True, "acme-desk")} and seen[0] == (False, None)


def test_a_new_store_is_in_wal_and_at_todays_schema(store: Path) -> None:
    assert rows(store, "PRAGMA journal_mode") == [("wal",)] and store.read_bytes()[18:20] == b"\x02\x02"
    meta = dict(rows(store, "SELECT key, value FROM schema_meta"))
    assert meta == {"lineage": "acme-desk", "version": "7", "installed_at": "2026-01-15"}
    assert [row[0] for row in rows(store, "SELECT id FROM principals")] == ["acme-system", "kim", "lee"]


def test_nothing_that_is_there_is_written_over(store: Path) -> None:
    before = store.read_bytes()
    assert "already" in said("init", store, code=1)["error"] and store.read_bytes() == before


@pytest.mark.parametrize("what", ["none", "text", "foreign"])
def test_it_opens_only_its_own(what: str, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    if what == "text":
        path.write_text("not a database, but long enough to be asked whether it is one" * 20)
    elif what == "foreign":
        connection = sqlite3.connect(path)
        connection.executescript(
            "CREATE TABLE schema_meta (key, value); INSERT INTO schema_meta VALUES ('lineage', 'lionagi')"
        )
        connection.close()
    assert said("list", path, code=1)["error"]
    assert path.exists() is (what != "none")


# -- migrating ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [5, 6])
@pytest.mark.parametrize("sample", [False, True])
def test_an_older_store_migrates_to_exactly_todays_shape(version: int, sample: bool, tmp_path: Path) -> None:
    fresh, old = tmp_path / "fresh.db", tmp_path / "old.db"
    initialize(fresh)
    initialize(old, version, sample=sample)
    assert facts(old) != facts(fresh)
    assert migrate(old) == (version, 7)
    found, wanted = facts(old), facts(fresh)
    assert found == wanted
    assert list(found) != [] and rows(old, "SELECT value FROM schema_meta WHERE key = 'version'") == [("7",)]
    assert main(["check", str(old)]) == 0


@pytest.mark.parametrize("version", [5, 6])
def test_the_two_older_shapes_are_shapes_of_their_own(version: int, tmp_path: Path) -> None:
    for each in acme_desk.VERSIONS:
        initialize(tmp_path / f"{each}.db", each)
    mine, others = (
        facts(tmp_path / f"{version}.db"),
        [facts(tmp_path / f"{n}.db") for n in (5, 6, 7) if n != version],
    )
    assert all(mine != other for other in others)


@pytest.mark.parametrize("version", [5, 6])
def test_a_migration_keeps_every_row_and_gives_it_its_owner(version: int, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    initialize(path, version, sample=True)
    before = {
        table: rows(path, f"SELECT id FROM {table} ORDER BY id")
        for table in ("sessions", "branches", "messages", "progressions", "tickets", "ticket_notes")
    }
    migrate(path)
    for table, ids in before.items():
        assert rows(path, f"SELECT id FROM {table} ORDER BY id") == ids and ids
    assert rows(path, "SELECT id, owner_id FROM sessions ORDER BY id") == [
        ("kim-old-sess", "kim"), ("lee-sess", "lee"),
    ]  # fmt: skip
    assert rows(path, "SELECT owner_id FROM messages") == [("lee",)]
    assert rows(path, "SELECT owner_id FROM branches") == [("lee",)]


def test_a_migration_is_all_or_nothing(tmp_path: Path) -> None:
    """A branch whose session is gone stops the second step; the store stays what the first step made it."""
    path = tmp_path / "old.db"
    initialize(path, 6, sample=True)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO branches (id, created_at, session_id, progression_id) VALUES ('x', 0, 'gone', 'kim-old-prog')")  # fmt: skip  # noqa: E501
    connection.commit()
    connection.close()
    before = facts(path)
    with pytest.raises((acme_desk.DeskError, sqlite3.IntegrityError)):
        migrate(path)
    assert facts(path) == before
    assert rows(path, "SELECT value FROM schema_meta WHERE key = 'version'") == [("6",)]


def test_todays_desk_reads_only_todays_schema(tmp_path: Path) -> None:
    initialize(tmp_path / "old.db", 6)
    assert "migrate" in said("list", tmp_path / "old.db", code=1)["error"]
    assert said("migrate", tmp_path / "old.db") == {
        "store": str(tmp_path / "old.db"),
        "before": 6,
        "schema": 7,
    }


# -- reading ------------------------------------------------------------------------------------------------


def test_the_list_is_by_owner(store: Path) -> None:
    everyone = [row["id"] for row in said("list", store)["sessions"]]
    assert everyone == ["lee-sess", "kim-old-sess"]
    assert [row["id"] for row in said("list", store, "--owner", "kim")["sessions"]] == ["kim-old-sess"]
    assert said("list", store, "--owner", "nobody")["sessions"] == []


def test_one_run_is_shown_to_its_owner_alone(store: Path) -> None:
    shown = said("show", store, "lee-sess", "--owner", "lee")
    assert [one["id"] for one in shown["messages"]] == ["lee-msg"] and shown["session"]["desk_pinned"] == 1
    assert (
        shown["branches"][0]["collection"] == ["lee-msg"]
        and shown["tickets"][0]["subject"] == "Printer on fire"
    )
    assert said("show", store, "lee-sess", "--owner", "kim", code=3) == {"found": False}
    assert said("show", store, "no-such", code=3) == {"found": False}


def test_a_run_streams_as_it_happened(store: Path) -> None:
    with opened(store) as connection, transaction(connection):
        run = Run(connection, "r", "kim")
        run.begin(10.0, "A run")
        run.say(11.0, "user", {"instruction": "Look."})
        run.signal(12.0, "tool.started", {})
        run.say(13.0, "say", {"assistant_response": "I looked."})
        run.end(14.0, "completed", "run.completed.ok", "done")
    events = said("stream", store, "r-session", "--owner", "kim")["events"]
    assert [(one["what"], one["at"]) for one in events] == [
        ("signal", 10.0), ("status", 10.0), ("message", 11.0), ("signal", 12.0), ("message", 13.0),
        ("status", 14.0),
    ]  # fmt: skip
    assert said("stream", store, "r-session", "--owner", "lee", code=3)["events"] == []


def test_readback_says_what_all_three_ways_say(store: Path) -> None:
    found = said("readback", store, "lee-sess")
    assert found["found"] and found["listed"] and found["owner"] == "lee" and found["problems"] == []
    assert found["messages"] == ["lee-msg"] and found["stream"] == 1
    assert said("readback", store, "gone", code=3) == {"session": "gone", "found": False, "problems": []}


# -- what must hold -----------------------------------------------------------------------------------------

BROKEN = {
    "not a list": "UPDATE progressions SET collection = '{}' WHERE id = 'kim-old-prog'",
    "stands twice": "UPDATE progressions SET collection = '[\"lee-msg\",\"lee-msg\"]' WHERE id = 'lee-prog'",
    "not there": "UPDATE progressions SET collection = '[\"gone\"]' WHERE id = 'lee-prog'",
    "as they arrived": "INSERT INTO messages (id, created_at, content, role, lion_class, owner_id) VALUES"
    " ('later', 1, '{}', 'user', 0, 'lee');"
    " UPDATE progressions SET collection = '[\"later\",\"lee-msg\"]' WHERE id = 'lee-prog'",
    "newest transition": "INSERT INTO status_transitions (id, entity_type, entity_id, status,"
    " reason_code, source, created_at, owner_id) VALUES"
    " ('t', 'session', 'lee-sess', 'failed', 'x', 'y', 1, 'lee')",
    "after its last change": "UPDATE sessions SET last_message_at = updated_at + 1 WHERE id = 'lee-sess'",
    "a session and its progression": "UPDATE progressions SET owner_id = 'kim' WHERE id = 'lee-prog'",
    "a progression and a message": "UPDATE messages SET owner_id = 'kim' WHERE id = 'lee-msg'",
    "a message of another owner": "UPDATE sessions SET last_msg_id = 'lee-msg' WHERE id = 'kim-old-sess'",
    "a system message of another owner": "UPDATE messages SET owner_id = 'kim';"
    " UPDATE branches SET system_msg_id = 'lee-msg'",
    "a session and its invocation": "UPDATE sessions SET invocation_id = 'kim-inv' WHERE id = 'lee-sess'",
    "a signal and its session": "INSERT INTO session_signals (id, session_id, seq, kind, ts, owner_id) VALUES"
    " ('g', 'lee-sess', 1, 'x', 1, 'kim')",
    "a transition and its session": "INSERT INTO status_transitions (id, entity_type, entity_id, status,"
    " reason_code, source, created_at, owner_id) VALUES"
    " ('t', 'session', 'lee-sess', 'running', 'x', 'y', 1, 'kim')",
    "who is nobody": "PRAGMA foreign_keys = OFF; UPDATE progressions SET owner_id = 'pat'",
    "points to a row": "PRAGMA foreign_keys = OFF; UPDATE branches SET progression_id = 'gone'",
    "neither 0 nor 1": "UPDATE sessions SET desk_pinned = 7 WHERE id = 'lee-sess'",
    "flags below zero": "UPDATE messages SET desk_flags = -1",
    "by the desk itself": "UPDATE tickets SET opened_by = 'acme-system'",
    "the store says it is": "UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'",
    "never the desk's": "CREATE TABLE bookmarks (id)",
    "is gone": "DROP VIEW open_tickets",
    "journal mode": "PRAGMA journal_mode = DELETE",
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_every_rule_is_checked(what: str, store: Path) -> None:
    from inspector.demo.acme_desk.invariants import problems

    connection = connect(store)
    assert list(problems(connection)) == []
    connection.executescript(BROKEN[what])
    assert any(what in problem for problem in problems(connection))
    connection.close()


def test_clocks_must_not_go_back(store: Path, tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(said("check", store)))
    assert said("check", store, "--earlier", earlier)["problems"] == []
    connection = connect(store)
    connection.execute("UPDATE sessions SET last_message_at = 1.0 WHERE id = 'lee-sess'")
    connection.close()
    assert said("check", store, "--earlier", earlier, code=3)["problems"] == [
        "last_message_at of a session went back: lee-sess"
    ]


# -- at work ------------------------------------------------------------------------------------------------


def test_it_works_beside_itself(store: Path) -> None:
    """Two desks write and a third checkpoints; all they wrote is there, and everything holds."""
    words = [sys.executable, "-m", "inspector.demo.acme_desk"]
    started = [
        subprocess.Popen([*words, *more], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for more in (
            ["write", str(store), "--rounds", "12"],
            ["write", str(store), "--rounds", "12", "--owner", "kim"],
            ["checkpoint", str(store), "--rounds", "10", "--pause", "0.01"],
        )
    ]
    told = [json.loads(one.communicate(timeout=60)[0]) for one in started]
    for one in told[:2]:
        assert one["runs"] == one["tickets"] == 12 and one["messages"] == 48 and one["busy"] == 0
    assert told[2]["checkpoints"] == 10
    assert said("check", store)["problems"] == []
    assert len(said("list", store, "--owner", "kim")["sessions"]) == 13


def test_the_loop_ends_when_it_is_asked_to(store: Path) -> None:
    loop = subprocess.Popen(
        [sys.executable, "-m", "inspector.demo.acme_desk", "write", str(store), "--pause", "0.02"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not rows(store, "SELECT 1 FROM tickets WHERE id > 1 LIMIT 1"):
        assert loop.poll() is None
    loop.terminate()
    told = json.loads(loop.communicate(timeout=20)[0])
    assert loop.returncode == 0 and told["runs"] >= 1 and main(["check", str(store)]) == 0
