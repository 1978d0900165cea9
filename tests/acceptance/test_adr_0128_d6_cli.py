"""ADR-0128 D6 on the command line: a refusal is an exit code, and nothing writes past the profile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli import run
from persistence.profiles import load_profile
from persistence.profiles.catalogue import SHIPPED
from tests.inspector.actions.managed import desk, marks, rows, source
from tests.inspector.actions.test_record_lines import BRANCH, END, MESSAGE, SESSION, SIGNAL, written

AS_KIM = ("--owner", "kim", "--allow-writes", "--confirm", "acme-desk")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


def narrower(tmp_path: Path, *without: str) -> Path:
    """acme-desk's profile without some operations, as a document of the user's."""
    text = (SHIPPED / "acme-desk-fresh-run.toml").read_text("utf-8")
    for operation in without:
        assert f'"{operation}",' in text
        text = text.replace(f'"{operation}",', "")
    path = tmp_path / "narrower.toml"
    path.write_text(text, "utf-8")
    assert not set(without) & set(load_profile(path).operations)
    return path


def words_of(command: str, store: Path, tmp_path: Path) -> list[str]:
    if command == "probe":
        return ["probe", str(store)]
    if command == "record":
        (tmp_path / "run.jsonl").write_bytes(written(SESSION, BRANCH, MESSAGE, SIGNAL, END))
        return ["record", str(tmp_path / "run.jsonl"), "--into", str(store)]
    (tmp_path / "from").mkdir()
    return ["copy-run", str(source(tmp_path / "from" / "state.db")), "s001", "--into", str(store)]


@pytest.mark.adr("0128-D6-20")
@pytest.mark.parametrize("command", ["probe", "record", "copy-run"])
def test_a_refusal_makes_the_command_line_exit_with_3(
    command: str, store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [*words_of(command, store, tmp_path), "--profile", "acme-desk-fresh-run"]
    before = marks(store)
    assert run([*words, "--owner", "nobody", "--allow-writes", "--confirm", "acme-desk"]) == 3
    assert "owner-unknown" in capfd.readouterr().err and marks(store) == before
    assert run([*words, *AS_KIM]) == 0


@pytest.mark.adr("0128-D6-20", "0128-D6-19")
def test_a_refusal_by_the_store_half_way_exits_with_3_in_a_process_of_its_own(
    store: Path, tmp_path: Path
) -> None:
    said = written(SESSION, BRANCH, MESSAGE | {"id": "lee-msg"}, END)
    words = ["record", "--into", str(store), "--profile", "acme-desk-fresh-run", *AS_KIM]
    done = subprocess.run(
        [sys.executable, "-m", "inspector", *words],
        input=said, capture_output=True, check=False, env=dict(os.environ), timeout=120,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert b"(id-taken)" in done.stderr and b"committed  progression x2, session, branch" in done.stderr
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("failed",)]


@pytest.mark.adr("0128-D6-26")
@pytest.mark.parametrize(
    ("command", "without", "code"),
    [
        ("probe", "persist_live_message", "operation-unlisted"),
        ("probe", "update_status", "operation-unlisted"),
        ("record", "create_branch", "operation-unlisted"),
        ("record", "insert_session_signal", "not-in-profile"),  # only a line of this input asks for it
        ("copy-run", "insert_message", "operation-unlisted"),
        ("copy-run", "finalize_branch", "operation-unlisted"),
    ],
)
def test_a_command_outside_the_profile_refuses_with_a_typed_error(
    command: str, without: str, code: str, store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    profile = narrower(tmp_path, without)
    before = marks(store)
    words = [*words_of(command, store, tmp_path), "--profile", str(profile), *AS_KIM]
    assert run(words) == 3
    said = capfd.readouterr().err
    assert f"({code})" in said and without in said and marks(store) == before


@pytest.mark.adr("0128-D6-26", "0128-D6-24")
def test_a_stream_that_goes_past_the_profile_never_becomes_a_run_that_succeeded(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    profile = narrower(tmp_path, "insert_session_signal")
    with (tmp_path / "said").open("w+b") as said:
        said.write(written(SESSION, BRANCH, MESSAGE, SIGNAL, END))
        said.seek(0)
        monkeypatch.setattr(sys, "stdin", said)
        assert run(["record", "--into", str(store), "--profile", str(profile), *AS_KIM]) == 3
    assert "(not-in-profile)" in capfd.readouterr().err
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("failed",)]
    assert rows(store, "SELECT count(*) FROM messages WHERE id = 'm'") == [(1,)]
