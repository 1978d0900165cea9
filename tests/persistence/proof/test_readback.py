"""A run is read back by the managing application's own command, and every difference is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk.store import initialize
from persistence.proof.readback import Readback, ReadbackError, Recorded

LEE = Recorded("lee-sess", "running", ("lee-msg",), "lee")


def answering(tmp_path: Path, answer: Any, code: int = 0) -> Readback:
    script = tmp_path / "answer.py"
    script.write_text(f"import sys\nsys.stdout.write({json.dumps(answer)!r})\nsys.exit({code})\n")
    return Readback(f"{sys.executable} -S '{script}'")


def test_the_desk_s_own_command_shows_what_was_recorded(tmp_path: Path) -> None:
    store = tmp_path / "with a blank.db"
    initialize(store, sample=True)
    command = Readback(f"{sys.executable} -m inspector.demo.acme_desk readback")
    assert command.failures(store, LEE) == []
    assert command.failures(store, Recorded("none", "running", (), "lee")) == ["run none: it is not shown"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": "running", "messages": 1}, None),
        ({"status": "running", "messages": ["lee-msg"], "session": "lee-sess", "owner": "lee"}, None),
        ({"status": "running", "messages": 1, "session": {"id": "lee-sess"}}, None),
        ({"status": "running", "messages": ["lee-msg"], "problems": []}, None),
        ({"status": "completed", "messages": 1}, "status is shown as 'completed'"),
        ({"status": "running", "messages": 2}, "2 messages are shown"),
        ({"status": "running", "messages": ["b", "lee-msg"]}, "2 messages are shown, 1 recorded"),
        ({"status": "running", "messages": 1, "owner": "kim"}, "owner is shown as 'kim'"),
        ({"status": "running", "messages": 1, "session": "other"}, "session is shown as 'other'"),
        ({"status": "running", "messages": 1, "problems": ["late"]}, "the application finds: ['late']"),
        ({"found": False}, "it is not shown"),
        ({"status": "running"}, "says nothing of messages"),
        ([1], "answered no JSON object"),
        ("text", "answered no JSON object"),
    ],
)
def test_what_is_shown_otherwise_is_said(tmp_path: Path, answer: Any, said: str | None) -> None:
    failures = answering(tmp_path, answer).failures(tmp_path / "store.db", LEE)
    assert (failures == []) if said is None else (said in failures[0]), failures


def test_a_command_that_fails_is_a_failure(tmp_path: Path) -> None:
    good = {"status": "running", "messages": 1}
    assert "ended with 4" in answering(tmp_path, good, 4).failures(tmp_path / "s.db", LEE)[0]


@pytest.mark.parametrize("words", ["", "'", "/no/such/program --read"])
def test_a_command_that_cannot_be_run_is_refused(tmp_path: Path, words: str) -> None:
    with pytest.raises(ReadbackError):
        Readback(words).failures(tmp_path / "s.db", LEE)
