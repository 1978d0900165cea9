"""`prove`: a scorecard in lines and as data, exit 0 or 3, and arguments that are refused before any copy."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk.store import initialize
from inspector.reports.proof import item_lines, limits_lines, scorecard_lines
from persistence.proof import proving
from persistence.proof.lifecycle import shapes
from persistence.proof.limits import DEFAULTS, load_limits
from persistence.proof.ownership import ownership
from persistence.proof.scorecard import NAMES, Item, Scorecard
from persistence.proof.versions import versions
from tests.persistence.stores import marks_of

NAME = "acme-desk-fresh-run"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    initialize(folder / "desk.db", sample=True)
    return folder / "desk.db"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three items of nine, in their own numbers; the others are proved beside."""
    monkeypatch.setattr(proving, "_ITEMS", (shapes, versions, ownership))


@pytest.mark.usefixtures("few")
def test_every_item_held(command: Any, desk: Path) -> None:
    before = marks_of(desk)
    done = command("prove", NAME, "--store", desk, "--owner", "kim", "--owner2", "lee")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"✓ {NAME}@1 is proved\n")
    assert "for kim and lee" in done.out
    assert "✓ 5  two principals" in done.out
    assert "one shape was given" in done.out
    assert marks_of(desk) == before


@pytest.mark.usefixtures("few")
def test_one_did_not(command: Any, desk: Path) -> None:
    done = command("prove", NAME, "--store", desk, "--owner", "kim", "--json")
    assert done.status == 3
    proof = done.json["proof"]
    assert proof["held"] is False
    assert [(item["number"], item["held"]) for item in proof["items"]] == [(1, True), (8, True), (5, False)]
    assert proof["items"][2]["failures"] == ["a second principal is needed: --owner2"]
    assert proof["profile"] == f"{NAME}@1"
    assert proof["items"][0]["name"] == NAMES[1]


def test_an_owner_is_named_where_there_is_a_rule(command: Any, desk: Path) -> None:
    done = command("prove", NAME, "--store", desk)
    assert done.status == 2
    assert "--owner" in done.err
    done = command("prove", "lionagi-shape-fresh-run", "--store", desk, "--owner", "kim")
    assert done.status == 2
    assert "no owner rule" in done.err


def test_no_such_store(command: Any, tmp_path: Path) -> None:
    done = command("prove", NAME, "--store", tmp_path / "none.db", "--owner", "kim", "--json")
    assert done.status == 4
    assert "refusal" in done.json
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_not_proved_on(command: Any) -> None:
    done = command("prove", NAME, "--store", "postgresql://u:secret@h/x", "--owner", "kim", "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == "not-sqlite-here"
    assert "secret" not in done.out + done.err


def test_bad_limits_are_refused_before_anything(command: Any, desk: Path, tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text("[limits]\nhold = 1\n")
    done = command("prove", NAME, "--store", desk, "--owner", "kim", "--limits", file, "--json")
    assert done.status == 3
    assert done.json["refusal"]["code"] == "limits-invalid"


def test_the_default_limits_are_printed_as_a_file(command: Any, tmp_path: Path) -> None:
    done = command("prove", "--print-limits")
    assert done.status == 0
    file = tmp_path / "limits.toml"
    file.write_text(done.out)
    assert load_limits(file) == DEFAULTS
    assert list(limits_lines(DEFAULTS)) == done.out.splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_no_copy(
    desk: Path, tmp_path: Path, as_program: list[str], number: signal.Signals
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = [*as_program, "prove", NAME, "--store", str(desk), "--owner", "kim", "--owner2", "lee"]
    program = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)}
    )
    while program.poll() is None and not list(scratch.glob("*/scratch-*/store.db-wal")):
        time.sleep(0.02)
    program.send_signal(number)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out) == (130, b"") and b"Traceback" not in err, err
    assert list(scratch.iterdir()) == []


def test_hostile_words_are_made_visible() -> None:
    item = Item(4, tuple(f"run \x1b]52;c;x\x07 {number}" for number in range(12)), {"names": ["\x1b[2J"]})
    card = Scorecard("p\x1b[31m@1", ("s\u202e.db",), ("kim\x07",), "cmd\x1b", (item,), 1.0)
    text = "\n".join((*scorecard_lines(card), *item_lines(item)))
    assert not any(ord(sign) < 32 and sign != "\n" for sign in text)
    assert "\u202e" not in text
    assert "and 2 more, in --json" in text
