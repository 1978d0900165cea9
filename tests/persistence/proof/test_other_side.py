"""The other side is plain sqlite3 on the managing application's own tables, and changes no value."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from inspector.demo.acme_desk.store import initialize
from persistence.proof.other_side import own_table
from persistence.proof.preservation import compare, resting
from tests.persistence.proof.test_preservation import PROFILE


@pytest.mark.parametrize(
    ("tables", "table"),
    [
        (("tickets", "ticket_notes"), "tickets"),
        (("ticket_notes",), "schema_meta"),  # has a trigger, which would count an edit
        (("session_signals",), "schema_meta"),  # no row
        ((), "schema_meta"),
    ],
)
def test_it_finds_a_row_of_its_own(tmp_path: Path, tables: tuple[str, ...], table: str) -> None:
    path = tmp_path / "desk.db"
    initialize(path, sample=True)
    with closing(sqlite3.connect(path)) as connection:
        assert own_table(connection, tables)[1] == table


def test_both_work_until_they_are_let_go_and_no_value_changes(tmp_path: Path) -> None:
    before, path = tmp_path / "before.db", tmp_path / "desk.db"
    initialize(before, sample=True)
    resting(before)
    shutil.copyfile(before, path)
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "persistence.proof.other_side", what, str(path), "1000", "tickets"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for what in ("write", "checkpoint")
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    wrote, folded = (json.loads(process.communicate(timeout=20)[0]) for process in started)
    assert wrote["table"] == "tickets"
    assert len(wrote["waits_ms"]) == wrote["tries"] - wrote["busy"]
    assert folded["rounds"] >= 0
    resting(path)
    assert compare(before, path, PROFILE, ("kim",)).failures == ()
