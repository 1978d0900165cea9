"""How commands end: exit codes, refusals in one shape, no traceback, nothing created."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

REFUSAL = {"type", "code", "message", "where", "expected", "observed", "remedy", "committed"}

READING = [
    ["doctor", "{}"], ["runs", "{}"], ["tables", "{}"], ["tables", "{}", "t"], ["run", "{}", "x"], ["{}"],
]  # fmt: skip


@pytest.mark.parametrize("words", READING, ids="-".join)
def test_a_store_that_is_not_there_is_4_and_is_not_created(
    command: Any, tmp_path: Path, words: list[str]
) -> None:
    store = tmp_path / "no such folder" / "state.db"
    done = command(*(word.format(store) for word in words))
    assert done.status == 4 and done.out == ""
    assert "There is no such store" in done.err and "no-such-store" in done.err and str(store) in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", READING[:-1], ids="-".join)
def test_the_refusal_is_the_whole_answer_in_json(command: Any, tmp_path: Path, words: list[str]) -> None:
    done = command(*(word.format(tmp_path / "none.db") for word in words), "--json")
    assert done.status == 4
    assert {"format", "tool", "version", "refusal"} == set(done.json)
    assert set(done.json["refusal"]) == REFUSAL
    assert done.json["refusal"]["code"] == "no-such-store" and done.json["refusal"]["committed"] == []


@pytest.mark.parametrize(
    ("content", "status"),
    [(None, 3), (b"just some text, no database at all\n" * 20, 3), (b"\x1f\x8b\x08\x00" + b"\0" * 600, 3)],
    ids=["a directory", "text", "gzip"],
)
def test_what_is_no_store_is_3(command: Any, tmp_path: Path, content: bytes | None, status: int) -> None:
    path = tmp_path / "thing"
    path.mkdir() if content is None else path.write_bytes(content)
    done = command("doctor", path, "--json")
    assert done.status == status and set(done.json["refusal"]) == REFUSAL


@pytest.mark.parametrize(
    "words",
    [
        ["runs", "--limit", "-1", "x"], ["runs", "--nonsense"], ["tables"], ["completion", "powershell"],
        ["doctor", ":memory:"], ["doctor", "mysql://x/y"], ["demo", "--json"], ["config"], ["x.db", "y.db"],
        ["x.db", "--at", "nowhere"], ["x.db", "--at", "/"],
    ],
)  # fmt: skip
def test_usage_is_2(command: Any, words: list[str]) -> None:
    done = command(*words)
    assert done.status == 2 and "Traceback" not in done.err and done.err


def test_usage_in_json_has_the_shape_of_a_refusal(command: Any) -> None:
    done = command("runs", "--limit", "many", "--json")
    assert (
        done.status == 2 and set(done.json["refusal"]) == REFUSAL and done.json["refusal"]["code"] == "usage"
    )


def test_a_password_is_never_said(command: Any) -> None:
    done = command("doctor", "postgresql://kim:tide-secret@127.0.0.1:1/none?password=tide-secret", "--json")
    assert done.status == 4 and "tide-secret" not in done.out + done.err
    done = command("doctor", "kim:tide-secret@host/db")
    assert done.status == 2 and "tide-secret" not in done.out + done.err


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_our_own_fault_is_1_in_one_line(
    command: Any, odd: Path, as_json: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.statedb import StateDB

    async def broken(self: StateDB) -> None:
        raise RuntimeError("the tide is out \x1b[31m")

    monkeypatch.setattr(StateDB, "catalogue", broken)
    done = command("tables", odd, *as_json)
    assert done.status == 1 and done.err.count("\n") == 1 and "our fault" in done.err
    assert "Traceback" not in done.err and "\x1b" not in done.err
    if as_json:
        assert done.json["refusal"]["code"] == "our-fault"
        assert done.json["refusal"]["message"] == "the tide is out \x1b[31m"


def test_the_traceback_can_be_asked_for(command: Any, odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from persistence.statedb import StateDB

    async def broken(self: StateDB) -> None:
        raise RuntimeError("the tide is out")

    monkeypatch.setattr(StateDB, "catalogue", broken)
    monkeypatch.setenv("STORE_INSPECTOR_TRACEBACK", "1")
    assert "RuntimeError: the tide is out" in command("tables", odd).err


def test_an_answer_that_breaks_half_way_stays_one_object(
    command: Any, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are streamed: what goes wrong after the first is told in the same object."""
    from inspector.cli import listing
    from persistence.errors import StoreDamagedError

    whole = listing._rows

    async def torn(*arguments: Any) -> Any:
        count = 0
        async for row in whole(*arguments):
            if count == 3:
                raise StoreDamagedError("page 7 is not readable", where="t")
            count += 1
            yield row

    monkeypatch.setattr(listing, "_rows", torn)
    done = command("tables", odd, "t", "--json")
    assert done.status == 3 and len(done.json["rows"]) == 3 and done.json["complete"] is False
    assert done.json["refusal"]["code"] == "damaged" and done.json["next"]
    assert "page 7 is not readable" in done.err
    monkeypatch.undo()
    rest = command("tables", odd, "t", "--json", "--after", done.json["next"]).json
    assert [row["id"] for row in rest["rows"]] == [4, 5, 6, 7]


def test_a_reader_that_leaves_is_not_an_error(harbour: Path, as_program: list[str]) -> None:
    process = subprocess.Popen(
        [*as_program, "tables", str(harbour), "messages", "--jsonl", "--limit", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith(b"{")
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(30) == 0 and said == b""


def test_interrupting_is_130(tmp_path: Path, as_program: list[str]) -> None:
    """A store that another program holds exclusively is waited for; ctrl-c ends the waiting."""
    store = tmp_path / "held.db"
    holder = (
        "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('create table t(x)'); c.commit();"
        "c.execute('pragma locking_mode=exclusive'); c.execute('begin exclusive'); print('held',flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        process = subprocess.Popen(
            [*as_program, "runs", str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(1.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert other.stdin is not None
        other.stdin.close()
    assert process.returncode == 130 and out == b"" and b"Traceback" not in err


def test_the_application_says_when_there_is_no_terminal(command: Any, harbour: Path) -> None:
    done = command(harbour)
    assert done.status == 2 and "needs a terminal" in done.err


def test_a_word_that_is_nearly_a_command_is_told(command: Any) -> None:
    done = command("docter")
    assert done.status == 4 and "The command doctor?" in done.err


def test_the_application_ends_as_what_it_could_not_open(tmp_path: Path, as_program: list[str]) -> None:
    """The refusal is a page of its own; leaving it, the exit code is that of the refusal."""
    from tests.terminal import Terminal

    (tmp_path / "notes.db").write_text("no database at all\n" * 40)
    with Terminal([*as_program, str(tmp_path / "notes.db")]) as terminal:
        terminal.wait_for("this store does not open")
        terminal.press("q")
        assert terminal.ended() == 3


@pytest.mark.parametrize("words", [["--version"], ["-V"]])
def test_the_version(command: Any, words: list[str]) -> None:
    from inspector.version import __version__

    done = command(*words)
    assert (done.status, done.out, done.err) == (0, f"store-inspector {__version__}\n", "")


def test_every_command_has_help_with_examples(command: Any) -> None:
    from inspector.cli.program import COMMANDS

    top = command("--help")
    assert top.status == 0 and "Examples:" in top.out and "Exit codes:" in top.out
    for name, says in COMMANDS.items():
        assert name in top.out and says in " ".join(top.out.split())
        done = command(name, "--help")
        assert done.status == 0 and "Usage: store-inspector" in done.out
        if name not in ("config", "completion"):
            assert "Examples:" in done.out, name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(command: Any, shell: str, as_program: list[str]) -> None:
    done = command("completion", shell)
    assert done.status == 0 and "_STORE_INSPECTOR_COMPLETE" in done.out and "store-inspector" in done.out
    ask = {"COMP_WORDS": "store-inspector do", "COMP_CWORD": "do" if shell == "fish" else "1"}
    answer = subprocess.run(
        as_program,
        env={**os.environ, **ask, "_STORE_INSPECTOR_COMPLETE": f"{shell}_complete"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "doctor" in answer.stdout and "completion" not in answer.stdout
