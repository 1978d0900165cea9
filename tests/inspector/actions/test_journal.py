"""The journal: appended whole, by several processes at once, never a credential, torn lines told as such."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.actions import journal as module
from inspector.actions.journal import (
    Entry,
    Journal,
    JournalError,
    Phase,
    Unread,
    journal_files,
    phases,
    read_line,
)
from inspector.actions.journal_query import completion, parse
from inspector.actions.journal_source import COLUMNS, NO_END, journal_source
from persistence.records import Unreadable


def entry(**fields: object) -> Entry:
    given = {"action": "record", "event": "done", "store": "managed.db", **fields}
    return Entry(**given)  # type: ignore[arg-type]


def test_nothing_is_made_until_something_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state")
    assert not journal.folder.exists() and journal_files(journal.folder) == ()
    journal.append(entry())
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.folder.stat().st_mode) == 0o700


def test_it_is_in_the_directory_the_environment_names(own_places: Path) -> None:
    assert Journal().append(entry()) is not None
    assert (own_places / "state" / "journal.jsonl").is_file()


def test_a_line_reads_back_as_the_entry_it_was(tmp_path: Path) -> None:
    whole = entry(
        lineage="acme-desk",
        version="7",
        profile="acme-desk-fresh-run@1",
        owner="kim",
        source="state.db",
        run="0f3c",
        operations={"create_session": 1, "insert_message": 4},
        committed=phases(["create_progression", "insert_message", "insert_message"]),
        refusal={"code": "id-taken", "message": "no", "committed": ["insert_message"]},
        note="odd \udce9 \u202e text",
        seconds=0.25,
    )
    written = Journal(tmp_path).append(whole)
    line = (tmp_path / "journal.jsonl").read_bytes()
    assert line.isascii() and line.endswith(b"\n") and line.count(b"\n") == 1
    assert read_line(line) == written
    assert written.committed == (Phase("create_progression"), Phase("insert_message", 2))


def test_no_credential_is_written(tmp_path: Path) -> None:
    refusal = {
        "message": "no way to postgresql://kim:tide%20pool@host/desk",
        "observed": "x://a:b@c y://d:e@f?password=dune",
    }
    Journal(tmp_path).append(entry(source="postgresql://kim:tide%20pool@host/desk", refusal=refusal))
    text = (tmp_path / "journal.jsonl").read_text("ascii")
    assert "tide" not in text and ":b@" not in text and ":e@" not in text and "dune" not in text
    assert "postgresql://kim:***@host/desk" in text


def test_a_line_is_bounded_whatever_is_told(tmp_path: Path) -> None:
    many = phases(f"phase-{number % 2}" for number in range(5_000))
    written = entry(committed=many, refusal={"message": "x" * 10**6, "committed": ["y" * 10**5] * 10_000})
    line = written.line()
    assert len(line) < 1 << 19
    read = read_line(line)
    assert isinstance(read, Entry)
    assert sum(phase.count for phase in read.committed) == 5_000 and read.committed[-1].name == "more"


def test_an_append_is_one_write_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    real = os.write
    monkeypatch.setattr(module.os, "write", lambda fd, data: (writes.append(data), real(fd, data))[1])
    Journal(tmp_path).append(entry())
    Journal(tmp_path).append(entry(action="probe"))
    assert len(writes) == 2 and b"".join(writes) == (tmp_path / "journal.jsonl").read_bytes()


APPENDING = """
import sys
from pathlib import Path
from inspector.actions import journal
journal.LARGEST = 6_000
journal.KEPT = 1_000
told = journal.Journal(Path(sys.argv[1]))
for number in range(60):
    told.append(journal.Entry("record", "done", "managed.db", run=f"{sys.argv[2]}-{number}", note="n" * 200))
"""


def test_processes_append_at_once_and_files_are_put_aside_without_losing_a_line(tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", APPENDING, str(tmp_path), str(number)]) for number in range(3)
    ]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    files = journal_files(tmp_path)
    assert len(files) > 5 and all(path.stat().st_size < 8_000 for path in files)
    read = [read_line(line) for path in files for line in path.read_bytes().splitlines()]
    told = [each.run for each in read if isinstance(each, Entry)]
    assert sorted(told, key=str) == sorted(f"{child}-{number}" for child in range(3) for number in range(60))
    assert len(read) == 180


def test_only_the_newest_of_the_files_put_aside_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST", 1)
    monkeypatch.setattr(module, "KEPT", 3)
    for number in range(6):
        Journal(tmp_path).append(entry(run=str(number)))
    read = [read_line(path.read_bytes()) for path in journal_files(tmp_path)]
    assert [each.run for each in read if isinstance(each, Entry)] == ["3", "4", "5"]


@pytest.mark.parametrize("obstacle", ["a file", "full"])
def test_a_journal_that_cannot_be_written_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    folder = tmp_path / "state"
    if obstacle == "a file":
        folder.write_text("in the way")
    else:
        monkeypatch.setattr(module.os, "write", lambda descriptor, data: 5)
    with pytest.raises(JournalError) as refused:
        Journal(folder).append(entry())
    assert refused.value.code == "journal-unwritable" and refused.value.exit_status == 3
    assert "STORE_INSPECTOR_STATE_DIR" in (refused.value.remedy or "")


async def test_a_torn_line_stays_a_line_of_its_own_and_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(entry(run="first"))
    with journal.path.open("ab") as file:
        file.write(b'{"format":1,"action":"rec')
    journal.append(entry(run="second"))
    with journal.path.open("ab") as file:
        file.write(b"\xff\x00torn")
    rows = (await (await journal_source(folder=tmp_path)).window(0, 10)).rows
    outcomes = [row.cells[2] for row in rows]
    assert [row.cells[7] for row in rows if not isinstance(row.cells[2], Unreadable)] == ["second", "first"]
    assert [isinstance(each, Unreadable) for each in outcomes] == [True, False, True, False]
    assert isinstance(outcomes[2], Unreadable) and outcomes[2].raw == '{"format":1,"action":"rec'


@pytest.mark.parametrize(
    "line",
    [
        b"", b"null", b"[]", b"{}", b'{"event":"done"}', b'{"event":"done","action":"x"}', b"[" * 100_000,
        b'{"event":"done","action":"x","id":"1","store":"s","when":"soon"}',
        b'{"event":"done","action":"x","id":"1","store":"s","when":1,"committed":7}',
        b'{"event":"done","action":"x","id":"1","store":"s","when":1,"committed":[["a","b"]]}',
        b'{"event":"done","action":["x"],"id":"1","store":"s","when":1}',
        b'{"event":"done","action":"x","id":"1","store":"s","when":1e999,"operations":[1]}',
        b'{"event":"done","action":"x","id":"1","store":"s","when":1,"refusal":"no"}',
        b'{"event":"done","action":"x","id":"1","store":"s","when":1,"seconds":"long"}',
    ],
)  # fmt: skip
def test_a_line_that_is_no_entry_is_said_to_be_none(line: bytes) -> None:
    assert isinstance(read_line(line), Unread)


def test_an_entry_with_fields_of_a_later_version_is_read() -> None:
    shape = json.loads(entry(run="r").line()) | {"later": {"a": 1}}
    read = read_line(json.dumps(shape).encode())
    assert isinstance(read, Entry) and read.run == "r"


async def test_an_action_is_one_row_and_one_without_an_end_says_so(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    begun = entry(event="begun", id="a", run="ended", when=1.0)
    journal.append(begun)
    journal.append(entry(event="begun", id="b", run="killed", when=2.0))
    journal.append(entry(event="done", id="a", run="ended", when=3.0, committed=phases(["create_session"])))
    source = await journal_source(folder=tmp_path)
    rows = (await source.window(0, 10)).rows
    assert [(row.cells[7], row.cells[2]) for row in rows] == [("ended", "done"), ("killed", NO_END)]
    assert rows[0].cells[8] == "create_session" and rows[1].cells[8] == "nothing"
    assert source.extent.rows == 2 and source.extent.complete
    whole = await source.entry(rows[0].key)
    assert isinstance(whole, Entry) and whole.committed == (Phase("create_session"),)


async def test_rows_are_found_again_when_their_file_was_put_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    for number in range(3):
        journal.append(entry(run=str(number)))
    source = await journal_source(folder=tmp_path)
    monkeypatch.setattr(module, "LARGEST", 1)
    journal.append(entry(run="3"))
    assert [row.cells[7] for row in (await source.window(0, 10)).rows] == ["2", "1", "0"]
    again = await source.refreshed()
    assert again is not source and again.extent.rows == 4
    assert await again.refreshed() is again
    assert [row.cells[7] async for row in again.everything(limit=2)] == ["3", "2"]
    (second,) = (await again.window(1, 1)).rows
    assert [row.cells[7] async for row in again.everything(after=second.key)] == ["1", "0"]
    assert [row.cells[7] for row in (await again.window(-1, 5)).rows] == ["0"]
    assert await again.position((0, 0)) is None and await again.cells((0, 0)) is None


async def test_what_is_typed_narrows_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(entry(action="probe", owner="kim", when=1_000.0))
    journal.append(
        entry(action="record", owner="lee", event="refused", refusal={"code": "no-owner"}, when=2_000.0)
    )
    journal.append(entry(action="copy-run", owner="kim", store="other.db", note="by hand", when=3_000.0))

    async def found(line: str) -> list[object]:
        source = await journal_source(parse(line), folder=tmp_path)
        return [row.cells[1] for row in (await source.window(0, 10)).rows]

    assert await found("owner:kim") == ["copy-run", "probe"]
    assert await found("outcome:ref") == ["record"]
    assert await found("code:no-owner owner:lee") == ["record"]
    assert await found("store:MANAGED owner:kim") == ["probe"]
    assert await found('"by hand"') == ["copy-run"] and await found("HAND") == ["copy-run"]
    assert await found("since:1970-01-01T00:30:00 until:1970-01-01T00:40:00") == ["record"]
    assert await found("nowhere") == [] and await found("owner:") == await found("")


def test_a_filter_line_says_what_it_does_not_use() -> None:
    asked = parse("outcome:sideways ownr:kim since:whenever")
    assert len(asked.problems) == 3 and not asked.narrows
    assert "is owner meant?" in asked.problems[1]
    assert completion("ow") == "owner:" and completion("x outcome:re") == "x outcome:refused"
    assert completion("") is None and completion("owner:k") is None


def test_its_columns_have_one_name_each() -> None:
    assert len({column.name for column in COLUMNS}) == len(COLUMNS)
