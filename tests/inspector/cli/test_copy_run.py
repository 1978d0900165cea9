"""`copy-run`: what it prints and ends with, and an interruption in the middle of a long one."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.inspector.actions.managed import all_hold, entries, marks, rows, source
from tests.inspector.cli.managed import AS_KIM, GO, managed_store
from tests.persistence.stores import run_sql


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return managed_store(tmp_path)


@pytest.fixture
def taken_from(tmp_path: Path) -> Path:
    (tmp_path / "from").mkdir()
    return source(tmp_path / "from" / "state.db")


def test_the_preview_names_every_statement_and_what_is_in_the_way(
    command: Any, store: Path, taken_from: Path
) -> None:
    run_sql(taken_from, "UPDATE progressions SET collection = '[\"m0000\",\"gone\"]' WHERE id = 'pb1'")
    before = marks(store), marks(taken_from)
    done = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM)
    assert done.status == 3 and (marks(store), marks(taken_from)) == before
    assert "5 ✗" in done.out and "(source-dangling, 1)" in done.out and "--leave-out dangling" in done.out
    assert "(writes-not-allowed)" in done.err
    done = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM, "--leave-out", "dangling")
    assert "Left out." in done.out and "INSERT INTO messages" in done.out
    assert "insert_message  3 more of the same statements (--whole tells each)" in done.out


def test_whole_tells_every_call_and_every_value(command: Any, store: Path, taken_from: Path) -> None:
    long = "x" * 500
    run_sql(taken_from, f"UPDATE messages SET content = '{{\"a\":\"{long}\"}}' WHERE id = 'm0005'")
    short = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM)
    whole = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM, "--whole")
    assert long not in short.out and long in whole.out
    assert whole.out.count("  insert_message  ") == 6 and "more of the same" not in whole.out


def test_a_copy_is_done_and_told(command: Any, store: Path, taken_from: Path, own_places: Path) -> None:
    done = command("copy-run", taken_from, "s0", "--into", store, *AS_KIM, *GO, "--json")
    assert done.status == 0, done.err
    assert done.json["outcome"]["run"] == "s001" and done.json["preview"]["counts"]["insert_message"] == 6
    assert {"transaction": "message", "count": 6} in done.json["outcome"]["committed"]
    told = entries(own_places / "state")[-1]
    assert told.event == "done" and told.source is not None and told.source.endswith("state.db s0")
    again = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM, *GO)
    assert again.status == 3 and "(id-taken)" in again.err and all_hold(store)


def test_a_refusal_half_way_says_what_was_committed(
    command: Any, store: Path, taken_from: Path, own_places: Path
) -> None:
    run_sql(taken_from, "UPDATE sessions SET source_kind = 'imported_codex'")
    done = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM, *GO)
    assert done.status == 3
    assert "refused half-way; what follows of run s001 is in the store" in done.err
    assert "committed  message x6, progression x3" in done.err and "No session was made" in done.err
    assert "othing was written" not in done.err and "Nothing of this operation was written" in done.err
    other = managed_store(store.parent.parent / "b")
    as_json = command("copy-run", taken_from, "s001", "--into", other, *AS_KIM, *GO, "--json")
    assert as_json.status == 3
    assert as_json.json["refusal"]["committed"] == ["message x6", "progression x3"]
    assert as_json.json["outcome"]["stands"].startswith("No session was made")
    assert [each.event for each in entries(own_places / "state")] == ["begun", "refused"] * 2


def test_a_fault_of_our_own_half_way_does_not_say_that_the_store_is_as_it_was(
    command: Any, store: Path, taken_from: Path, own_places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.statedb import StateDB

    async def broken(self: StateDB, *_: Any) -> None:
        raise RuntimeError("made for this test")

    monkeypatch.setattr(StateDB, "create_session", broken)
    done = command("copy-run", taken_from, "s001", "--into", store, *AS_KIM, *GO)
    assert done.status == 1 and "stopped half-way" in done.err and "committed  message x6" in done.err
    assert "our fault" in done.err and "as it was" not in done.err and "what is told above" in done.err
    (_, failed) = entries(own_places / "state")
    assert failed.event == "failed" and failed.refusal is not None


def test_usage(command: Any, store: Path, taken_from: Path, own_places: Path) -> None:
    assert command("copy-run", taken_from, "s001").status == 2
    assert command("copy-run", taken_from, "s001", "--into", store, "--leave-out", "everything").status == 2
    assert command("copy-run", taken_from.parent / "none.db", "s001", "--into", store, *AS_KIM).status == 4
    (told,) = entries(own_places / "state")  # it never came to the gate, and is in the journal all the same
    assert (told.action, told.event, (told.refusal or {})["code"]) == ("copy-run", "refused", "no-such-store")
    assert told.source is not None and told.source.endswith("none.db s001")
    done = command("copy-run", taken_from, "s999", "--into", store, *AS_KIM, "--json")
    assert done.status == 3 and "no-such-run" in json.dumps(done.json["gate"])


@pytest.mark.parametrize(
    ("number", "form"), [(signal.SIGINT, "text"), (signal.SIGTERM, "text"), (signal.SIGINT, "json")]
)
def test_an_interruption_in_the_middle_ends_with_130_and_says_what_is_there(
    store: Path, tmp_path: Path, own_places: Path, as_program: list[str], number: signal.Signals, form: str
) -> None:
    (tmp_path / "from").mkdir()
    taken_from = source(tmp_path / "from" / "state.db", 1_500)
    words = ["copy-run", str(taken_from), "s001", "--into", str(store), *AS_KIM, *GO]
    words += ["--json"] if form == "json" else []
    program = subprocess.Popen(
        [*as_program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for_messages(store, program)
    os.kill(program.pid, number)
    out, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert "Traceback" not in err
    if form == "json":
        said = json.loads(out)
        assert said["outcome"]["event"] == "interrupted" and said["outcome"]["run"] == "s001"
        assert said["refusal"]["code"] == "interrupted" and said["refusal"]["committed"]
    else:
        assert "interrupted; what follows of run s001 is in the store" in err and "lineage typed" in out
        assert "committed  message x" in err
    told = entries(own_places / "state")
    assert [each.event for each in told] == ["begun", "interrupted"]
    (messages,) = told[1].committed
    assert 0 < messages.count < 1_500
    assert rows(store, "SELECT count(*) FROM messages WHERE owner_id = 'kim'") == [(messages.count,)]
    assert rows(store, "SELECT count(*) FROM sessions WHERE id = 's001'") == [(0,)] and all_hold(store)


def test_an_action_that_was_killed_is_in_the_journal_as_begun(
    command: Any, store: Path, tmp_path: Path, own_places: Path, as_program: list[str]
) -> None:
    (tmp_path / "from").mkdir()
    taken_from = source(tmp_path / "from" / "state.db", 1_500)
    words = ["copy-run", str(taken_from), "s001", "--into", str(store), *AS_KIM, *GO]
    program = subprocess.Popen(
        [*as_program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for_messages(store, program)
    program.kill()
    program.communicate(timeout=60)
    assert [each.event for each in entries(own_places / "state")] == ["begun"]
    (row,) = command("journal", "--json").json["rows"]
    assert row["outcome"] == "begun, no end was recorded" and row["run"] == "s001"
    assert all_hold(store) and rows(store, "SELECT count(*) FROM sessions WHERE id = 's001'") == [(0,)]


def _wait_for_messages(store: Path, program: subprocess.Popen[str]) -> None:
    """Until the copy has begun to write; acme-desk looks at its own store meanwhile."""
    until = time.monotonic() + 60
    while time.monotonic() < until and program.poll() is None:
        connection = sqlite3.connect(store)
        (count,) = connection.execute("SELECT count(*) FROM messages WHERE owner_id = 'kim'").fetchone()
        connection.close()
        if count > 20:
            return
        time.sleep(0.01)
    raise AssertionError(program.communicate()[1] if program.poll() is not None else "it never began")
