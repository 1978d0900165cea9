"""Whatever an input, a journal or a source holds: an error or a value, and nothing obeyed by a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.actions.copying import CopyRun
from inspector.actions.fitness import unfit
from inspector.actions.journal import Entry, Unread, read_line
from inspector.actions.journal_query import completion, parse
from inspector.actions.record_fields import KINDS
from inspector.actions.record_lines import Line, LineSplitter, RecordInputError
from inspector.actions.record_lines import read_line as read_record
from inspector.reports.actions import outcome_lines, preview_lines, step_lines
from inspector.reports.refusals import refusal_lines
from persistence import StateDB
from persistence.errors import StoreError
from tests.inspector.actions.managed import desk, ready, source
from tests.persistence.stores import run_sql

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b]52;c;cGF3bmVk\x07[bold]x[/bold] \u202egnp.exe\x9b31m"

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner)
)
NAMES = st.sampled_from(sorted({field.name for kind in KINDS.values() for field in kind.fields})) | st.text(
    max_size=6
)
KIND = st.sampled_from(sorted(KINDS)) | SCALARS
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


@settings(max_examples=80, deadline=None)
@given(KIND, OBJECTS)
def test_a_line_is_checked_or_refused(kind: Any, fields: dict[str, Any]) -> None:
    data = json.dumps({**fields, "kind": kind}).encode("utf-8", "surrogatepass")
    try:
        line = read_record(data, 1, "x")
    except RecordInputError as error:
        assert error.where is not None and error.where.startswith("x, line 1") and error.expected
        assert len(error.observed or "") < 200
    else:
        assert isinstance(line, Line) and line.kind == kind
        for field in KINDS[line.kind].fields:
            assert not field.required or field.name in line.fields
        assert unfit(dict(line.fields)) is None


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=200), st.integers(1, 20))
def test_any_bytes_are_lines_or_an_error(data: bytes, size: int) -> None:
    splitter = LineSplitter("x", longest=64)
    found: list[bytes] = []
    try:
        for start in range(0, len(data), size):
            found += [line for _, line in splitter.feed(data[start : start + size])]
        found += [line for _, line in splitter.close()]
    except RecordInputError:
        assert max(map(len, data.split(b"\n"))) > 64
        return
    assert found == [line for line in data.split(b"\n") if line.strip()]
    for line in found:
        try:
            read_record(line, 1, "x")
        except RecordInputError as error:
            assert error.code == "record-input"


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=120) | OBJECTS.map(lambda shape: json.dumps({**shape, "event": "done"}).encode()))
def test_any_line_of_a_journal_is_an_entry_or_said_to_be_none(line: bytes) -> None:
    assert isinstance(read_line(line), Entry | Unread)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_filter_line_means_something(line: str) -> None:
    asked = parse(line)
    assert asked.takes(Entry("record", "done", "x")) in (True, False)
    assert completion(line) is None or isinstance(completion(line), str)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_what_is_fit_reads_back_equal(value: Any) -> None:
    if unfit(value) is None:
        again = json.loads(json.dumps(value, allow_nan=False).encode("utf-8").decode("utf-8"))
        assert again == json.loads(json.dumps(value))


async def test_nothing_of_a_run_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    for folder in ("from", "desk"):
        (tmp_path / folder).mkdir()
    taken_from, store = source(tmp_path / "from" / "state.db"), desk(tmp_path / "desk" / "managed.db")
    content = json.dumps({"a": HOSTILE}).replace("'", "''")
    run_sql(
        taken_from,
        f"UPDATE sessions SET name = '{HOSTILE}', agent_name = '{HOSTILE}'",
        f"UPDATE messages SET content = '{content}', sender = '{HOSTILE}'",
        f"UPDATE session_signals SET kind = '{HOSTILE}'",
        f"UPDATE progressions SET collection = json_array('m0000', '{HOSTILE}') WHERE id = 'pb1'",
    )
    async with StateDB(taken_from) as db:
        for leave_out in ((), ("dangling",)):
            gate = await ready(CopyRun(db, "s001", leave_out), store, tmp_path / "state", owner="kim")
            assert gate.preview is not None
            said = [
                *step_lines(gate.steps),
                *preview_lines(gate.preview),
                *preview_lines(gate.preview, whole=True),
            ]
            outcome = await gate.run()
            said += outcome_lines(outcome)
            if isinstance(outcome.error, StoreError):
                said += refusal_lines(outcome.error)
            assert any("[bold]" in line for line in said)
            assert not [line for line in said if CONTROL.search(line)]
    assert outcome.event == "done"
    async with StateDB(store) as managed:
        run = await managed.get_session("s001")
        assert run is not None and run["name"] == HOSTILE  # exactly as it was


async def test_a_hostile_lineage_or_owner_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    from inspector.actions.probe import Probe

    (tmp_path / "desk").mkdir()
    store = desk(tmp_path / "desk" / "managed.db")
    run_sql(store, f"UPDATE schema_meta SET value = '{HOSTILE}' WHERE key = 'lineage'")
    gate = await ready(Probe(), store, tmp_path / "state", owner=HOSTILE, lineage=HOSTILE)
    assert not gate.is_open
    outcome = await gate.run()
    assert isinstance(outcome.error, StoreError)
    said = [*step_lines(gate.steps), *refusal_lines(outcome.error)]
    assert not [line for line in said if CONTROL.search(line)]
    assert (tmp_path / "state" / "journal.jsonl").read_bytes().isascii()
