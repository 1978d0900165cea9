"""`record`: from a file, from standard input, and from a program that goes on speaking."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.inspector.actions.managed import all_hold, entries, marks, rows
from tests.inspector.actions.test_record_lines import BRANCH, END, MESSAGE, SESSION, WHOLE, written
from tests.inspector.cli.managed import AS_KIM, GO, managed_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return managed_store(tmp_path)


def lines(tmp_path: Path, *said: object, end: bytes = b"") -> Path:
    path = tmp_path / "run.jsonl"
    path.write_bytes(written(*said) + end)
    return path


def test_a_file_is_previewed_and_then_recorded(command: Any, store: Path, tmp_path: Path) -> None:
    path = lines(tmp_path, *WHOLE)
    before = marks(store)
    done = command("record", path, "--into", store, *AS_KIM)
    assert done.status == 3 and marks(store) == before
    assert "persist_live_message  a message, line 3  commits 'live message'" in done.out
    assert "preview: 7 operations" in done.out
    done = command("record", path, "--into", store, *AS_KIM, *GO)
    assert done.status == 0 and "✓ done: run s, 9 transactions" in done.err and all_hold(store)
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("completed",)]


def test_a_line_that_is_none_is_told_with_its_number(command: Any, store: Path, tmp_path: Path) -> None:
    before = marks(store)
    done = command(
        "record", lines(tmp_path, SESSION, BRANCH, END, MESSAGE), "--into", store, *AS_KIM, *GO, "--json"
    )
    assert done.status == 3 and marks(store) == before
    assert (
        done.json["refusal"]["type"] == "RecordInputError" and done.json["refusal"]["code"] == "record-input"
    )
    assert done.json["refusal"]["where"].endswith("run.jsonl, line 4")


@pytest.mark.parametrize("go", [(), GO], ids=["a preview", "recorded"])
def test_standard_input(store: Path, as_program: list[str], own_places: Path, go: tuple[str, ...]) -> None:
    done = subprocess.run(
        [*as_program, "record", "--into", str(store), *AS_KIM, *go],
        input=written(SESSION, BRANCH, MESSAGE), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    if not go:
        assert done.returncode == 3 and b"the input ended after line 3 without an end" in done.stdout
        assert rows(store, "SELECT 1 FROM sessions WHERE id = 's'") == []
        return
    assert done.returncode == 0, done.stderr
    found = rows(store, "SELECT status, status_reason_summary FROM sessions WHERE id = 's'")
    assert found == [("aborted", "the input ended after line 3 without an end")] and all_hold(store)
    assert [each.source for each in entries(own_places / "state")] == ["standard input"] * 2


def test_a_program_that_goes_on_speaking_is_recorded_as_it_speaks_and_can_be_interrupted(
    store: Path, as_program: list[str], own_places: Path
) -> None:
    program = subprocess.Popen(
        [*as_program, "record", "-", "--into", str(store), *AS_KIM, *GO],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdin is not None
    program.stdin.write(written(SESSION, BRANCH, MESSAGE))
    program.stdin.flush()
    until = time.monotonic() + 60
    while not rows(store, "SELECT 1 FROM messages WHERE id = 'm'"):
        assert time.monotonic() < until and program.poll() is None, program.communicate()
        time.sleep(0.02)
    os.kill(program.pid, signal.SIGINT)  # while it waits for the next line, and standard input stays open
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert b"The run was ended as cancelled." in err and b"live message" in err
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("cancelled",)] and all_hold(store)
    assert [each.event for each in entries(own_places / "state")] == ["begun", "interrupted"]


def test_a_named_pipe_is_read_once(store: Path, tmp_path: Path, as_program: list[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = subprocess.Popen([*as_program, "record", str(pipe), "--into", str(store), *AS_KIM, *GO],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    with pipe.open("wb") as said:
        said.write(written(*WHOLE))
    _, err = program.communicate(timeout=60)
    assert program.returncode == 0, err
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("completed",)]


@pytest.mark.parametrize(
    ("name", "code"),
    [("none.jsonl", "input-unread"), ("", "input-unread"), ("desk/managed.db", "input-is-store")],
)
def test_an_input_that_cannot_be_one(
    command: Any, store: Path, tmp_path: Path, own_places: Path, name: str, code: str
) -> None:
    before = marks(store)
    done = command("record", tmp_path / name, "--into", store, *AS_KIM, *GO, "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == code and marks(store) == before
    (told,) = entries(own_places / "state")
    assert (told.action, told.event, told.owner) == ("record", "refused", "kim")
    assert told.source == str(tmp_path / name) and (told.refusal or {})["code"] == code


def test_a_standard_input_that_is_closed(store: Path, as_program: list[str]) -> None:
    words = " ".join([*as_program, "record", "--into", str(store), *AS_KIM, *GO])
    done = subprocess.run(["sh", "-c", f"{words} <&-"], capture_output=True, check=False, timeout=60)
    assert done.returncode == 3 and b"(input-unread)" in done.stderr, done.stderr


def test_what_is_kept_for_a_preview_is_bounded(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    from inspector.cli import input_lines

    monkeypatch.setattr(input_lines, "KEPT", 100)
    with lines(tmp_path, *WHOLE).open("rb") as said:
        monkeypatch.setattr(input_lines.sys, "stdin", said)
        done = command("record", "--into", store, *AS_KIM, "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == "input-too-long"


def test_the_help_has_the_shapes_of_the_lines(command: Any) -> None:
    from inspector.actions.record_fields import KINDS

    said = command("record", "--help").out
    for kind in KINDS.values():
        assert f'{{"kind": "{kind.name}", ...}}' in said


async def test_the_lines_in_the_readme_are_a_run() -> None:
    from inspector.actions.record import plan_of_lines
    from tests.inspector.actions.test_record_lines import pieces

    readme = (Path(__file__).resolve().parents[3] / "README.md").read_text("utf-8")
    (block,) = [part.split("```")[0] for part in readme.split("```jsonl\n")[1:]]
    plan = await plan_of_lines("README.md", pieces(block.encode()), again=True)
    assert plan.counts is not None and plan.counts["persist_live_message"] == 2 and not plan.notes
