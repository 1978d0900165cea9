"""`record`'s input: what a line may be, and that each line that is none is told by its number."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from inspector.actions.plan import END_REASONS, Call
from inspector.actions.record import Recording, plan_of_lines
from inspector.actions.record_fields import KINDS, shape_lines
from inspector.actions.record_lines import Line, LineSplitter, RecordInputError, read_line
from persistence.schema.known import REASON_CODES, TERMINAL

SESSION = {"kind": "session", "id": "s", "name": "Tide board"}
BRANCH = {"kind": "branch", "id": "b", "name": "main"}
MESSAGE = {"kind": "message", "id": "m", "role": "user", "content": {"text": "when is high water?"}}
SIGNAL = {"kind": "signal", "signal": "tool.started", "payload": {"tool": "tides"}}
STATUS = {"kind": "status", "status": "running", "reason_code": "run.paused.operator"}
END = {"kind": "end", "status": "completed"}
BAD_PATH = {"id": "a", "path": "../x"}
WHOLE = [SESSION, BRANCH, MESSAGE, SIGNAL, STATUS, END]


def pieces(data: bytes, size: int = 7) -> Callable[[], AsyncIterator[bytes]]:
    async def read() -> AsyncIterator[bytes]:
        for start in range(0, len(data), size):
            yield data[start : start + size]

    return read


def written(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


async def calls_of(*lines: object, end: bytes = b"") -> list[Call]:
    plan = await plan_of_lines("run.jsonl", pieces(written(*lines) + end), again=False)
    return [call async for call in plan.calls()]


def refused(data: bytes, number: int = 3) -> RecordInputError:
    with pytest.raises(RecordInputError) as caught:
        read_line(data, number, "run.jsonl")
    assert caught.value.where is not None and caught.value.where.startswith(f"run.jsonl, line {number}")
    assert caught.value.exit_status == 3 and caught.value.code == "record-input"
    return caught.value


@pytest.mark.parametrize(
    ("data", "observed"),
    [
        (b"nonsense", "Expecting value"),
        (b"", "Expecting value"),
        (b"[1]", "a list"),
        (b"null", "a NoneType"),
        (b'"session"', "a str"),
        (b"{}", "no kind"),
        (b'{"kind":7}', "7"),
        (b'{"kind":"sessions"}', "sessions"),
        (b'{"kind":"session"} {"kind":"end"}', "Extra data"),
        (b'\xef\xbb\xbf{"kind":"session"}', "U+FEFF"),
        (b'{"kind":"session","name":"\xff"}', "byte 0xff at 26"),
        (b'{"kind":"session","name":"a","name":"b"}', "name"),
        (b'{"kind":"session","node_metadata":{"a":{"b":1,"b":2}}}', "b"),
        (b'{"kind":"message","role":"user","content":NaN}', "NaN"),
        (b'{"kind":"message","role":"user","content":[-Infinity]}', "-Infinity"),
        (b'{"kind":"message","role":"user","content":1e999}', "not finite"),
        (b'{"kind":"message","role":"user","content":"\\ud800"}', "not UTF-8"),
        (b'{"kind":"message","role":"user","content":{"\\udfff":1}}', "not UTF-8"),
        (b'{"kind":"message","role":"user","content":9223372036854775808}', "64 bits"),
        (b'{"kind":"message","role":"user","content":' + b"9" * 5_000 + b"}", ""),
        (b'{"kind":"message","role":"user","content":' + b"[" * 300 + b"]" * 300 + b"}", "more"),
        (b'{"kind":"message","role":"user","content":' + b"[" * 200_000, "more"),
        (b'{"kind":"message","role":"user"}', "no content"),
        (b'{"kind":"message","content":"x"}', "no role"),
        (b'{"kind":"message","role":" ","content":"x"}', " "),
        (b'{"kind":"message","role":"user","content":null}', "null"),
        (b'{"kind":"message","role":"user","content":1,"id":"a\\u0000b"}', "a\0b"),
        (b'{"kind":"message","role":"user","content":1,"embedding":[1,"x"]}', '[1, "x"]'),
        (b'{"kind":"message","role":"user","content":1,"created_at":"soon"}', "soon"),
        (b'{"kind":"message","role":"user","content":1,"created_at":true}', "true"),
        (b'{"kind":"message","role":"user","content":1,"r\xc3\xb4le":1}', "r\u00f4le"),
        (b'{"kind":"branch","system":{"content":"x"}}', "no role"),
        (b'{"kind":"branch","system":"be kind"}', "be kind"),
        (b'{"kind":"signal"}', "no signal"),
        (b'{"kind":"status","status":"completed","reason_code":"run.completed.ok"}', "completed"),
        (b'{"kind":"end","status":"done"}', "done"),
        (b'{"kind":"end","status":"running"}', "running"),
        (b'{"kind":"end"}', "no status"),
        (b'{"kind":"end","status":["completed"]}', '["completed"]'),
        (b'{"kind":"status","status":{},"reason_code":"run.paused.operator"}', "{}"),
        (b'{"kind":"end","status":"failed","input_tokens":-1}', "-1"),
        (b'{"kind":"end","status":"failed","input_tokens":1.5}', "1.5"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(data: bytes, observed: str) -> None:
    error = refused(data)
    assert observed in (error.observed or "")
    assert len(error.observed or "") < 100 and error.expected


def test_a_field_there_is_none_of_names_the_nearest() -> None:
    error = refused(b'{"kind":"end","status":"failed","reason_sumary":"x"}')
    assert "reason_summary" in (error.expected or "")


def test_a_line_reads_as_its_fields() -> None:
    line = read_line(json.dumps(MESSAGE).encode() + b"\r", 5, "x")
    assert line == Line(5, "message", {name: value for name, value in MESSAGE.items() if name != "kind"})


def test_lines_are_split_wherever_the_pieces_end() -> None:
    data = b'{"a":1}\n\n  \n{"b":2}\r\n{"c":3}'
    for size in (1, 2, 5, 100):
        splitter = LineSplitter("x")
        found = []
        for start in range(0, len(data), size):
            found += splitter.feed(data[start : start + size])
        found += splitter.close()
        assert [number for number, _ in found] == [1, 4, 5]
        assert [line.strip() for _, line in found] == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


def test_a_line_without_an_end_is_not_kept_for_ever() -> None:
    splitter = LineSplitter("endless", longest=1_000)
    assert list(splitter.feed(b"{}\n" + b"x" * 900)) == [(1, b"{}")]
    with pytest.raises(RecordInputError) as caught:
        list(splitter.feed(b"x" * 101))
    assert caught.value.where == "endless, line 2"


async def test_a_run_becomes_calls_of_the_manifest() -> None:
    calls = await calls_of(*WHOLE)
    assert [call.operation for call in calls] == [
        "create_progression", "create_session", "create_progression", "create_branch", "persist_live_message",
        "insert_session_signal", "update_status", "finalize_branch", "update_status",
    ]  # fmt: skip
    session, branch = calls[1].arguments[0], calls[3].arguments[0]
    assert session["id"] == "s" and session["status"] == "running" and session["started_at"] > 0
    assert session["progression_id"] == calls[0].arguments[0]
    assert branch == {"name": "main", "id": "b", "session_id": "s", "progression_id": calls[2].arguments[0]}
    assert calls[4].arguments[0]["id"] == "m"
    assert calls[4].named == {
        "session_id": "s", "branch_progression_id": calls[2].arguments[0],
        "session_progression_id": calls[0].arguments[0],
    }  # fmt: skip
    assert calls[-1].named["reason_code"] == "run.completed.ok"


async def test_a_system_message_usage_and_times_go_where_they_belong() -> None:
    system = {"id": "sys", "role": "system", "content": "be brief", "class": "a.b.System"}
    end = END | {"status": "failed", "ended_at": 9.0, "input_tokens": 3, "reason_summary": "out of tide"}
    calls = await calls_of(SESSION, BRANCH | {"system": system}, end)
    assert calls[3].operation == "create_branch"
    assert calls[4].arguments[0]["lion_class_str"] == "a.b.System"
    assert calls[4].named["system_branch_id"] == "b"
    assert calls[5].operation == "update_session" and calls[5].named == {"input_tokens": 3}
    assert calls[6].named == {"status": "failed", "ended_at": 9.0}
    assert calls[7].named == {
        "new_status": "failed", "reason_code": "run.failed.exception", "reason_summary": "out of tide",
        "extra_fields": {"ended_at": 9.0},
    }  # fmt: skip


async def test_a_message_finds_its_branch() -> None:
    other = {"kind": "branch", "id": "c", "name": "second opinion"}
    to_each = ({}, {"id": "m2", "branch": "main"}, {"id": "m3", "branch": "b"})
    calls = await calls_of(SESSION, BRANCH, other, *(MESSAGE | to for to in to_each), END)
    orders = {call.arguments[0]["id"]: call.arguments[0]["progression_id"] for call in calls[3:6:2]}
    live = [call for call in calls if call.operation == "persist_live_message"]
    assert [call.named["branch_progression_id"] for call in live] == [orders["c"], orders["b"], orders["b"]]


@pytest.mark.parametrize(
    ("lines", "number", "says"),
    [
        ([BRANCH], 1, "begins with its session"),
        ([SESSION, SESSION], 2, "one run"),
        ([SESSION, MESSAGE], 2, "none yet"),
        ([SESSION, BRANCH, MESSAGE | {"branch": "x"}], 3, "no such branch"),
        ([SESSION, BRANCH, BRANCH | {"id": "c"}, MESSAGE | {"branch": "main"}], 4, "Several branches"),
        ([SESSION, END, MESSAGE], 3, "follows the end"),
        ([SESSION, END, END], 3, "follows the end"),
        ([SESSION | {"artifact_contract": {"expected": [BAD_PATH]}}], 1, "contract has a fault"),
    ],
)
async def test_lines_that_do_not_fit_together_are_refused(lines: list[Any], number: int, says: str) -> None:
    with pytest.raises(RecordInputError, match=says) as caught:
        await calls_of(*lines)
    assert caught.value.where == f"run.jsonl, line {number}"


async def test_an_input_without_an_end_is_an_aborted_run() -> None:
    calls = await calls_of(SESSION, BRANCH, MESSAGE)
    assert [call.operation for call in calls[-2:]] == ["finalize_branch", "update_status"]
    assert calls[-1].named == {
        "new_status": "aborted", "reason_code": "run.aborted.user",
        "reason_summary": "the input ended after line 3 without an end",
    }  # fmt: skip


@pytest.mark.parametrize("end", [b'{"kind":"end","status":"completed"', b"\n\n"])
async def test_a_last_line_is_read_without_its_end_and_refused_when_it_is_torn(end: bytes) -> None:
    if end.strip():
        with pytest.raises(RecordInputError):
            await calls_of(SESSION, end=end)
    else:
        assert (await calls_of(SESSION, end=end))[-1].named["new_status"] == "aborted"


async def test_an_empty_input_is_no_run() -> None:
    with pytest.raises(RecordInputError, match="no run"):
        await calls_of(end=b"\n  \n")


async def test_an_input_that_can_be_read_twice_is_checked_before_anything() -> None:
    good = await plan_of_lines("x", pieces(written(SESSION, BRANCH, MESSAGE)), again=True)
    assert good.counts == {
        "create_progression": 2, "create_session": 1, "create_branch": 1, "persist_live_message": 1,
        "finalize_branch": 1, "update_status": 1,
    }  # fmt: skip
    assert good.notes and "aborted" in good.notes[0]
    assert len([call async for call in good.calls()]) == 7
    with pytest.raises(RecordInputError, match="follows the end"):
        await plan_of_lines("x", pieces(written(*WHOLE, MESSAGE)), again=True)


async def test_a_preview_takes_only_so_many_of_one_operation() -> None:
    many = [MESSAGE | {"id": f"m{number}"} for number in range(50)]
    plan = await plan_of_lines("x", pieces(written(SESSION, BRANCH, *many, END), 64), again=True)
    assert plan.counts is not None and plan.counts["persist_live_message"] == 50
    shown = [call.operation async for call in plan.calls(most=3)]
    assert shown.count("persist_live_message") == 3 and shown[-1] == "update_status"


def test_a_run_that_stops_halfway_can_be_ended() -> None:
    recording = Recording("x")
    assert recording.ending("aborted", "why") == ()
    for number, line in enumerate((SESSION, BRANCH), 1):
        recording.calls(read_line(json.dumps(line).encode(), number, "x"))
    ends = recording.ending("cancelled", "interrupted")
    assert [call.operation for call in ends] == ["finalize_branch", "update_status"]
    assert ends[-1].named["reason_code"] == "run.cancelled.sigint"


@pytest.mark.parametrize(
    ("line", "says", "expected"),
    [
        (STATUS | {"reason_code": "run.paused.operater"}, "reason_code of a status", "run.paused.operator"),
        (END | {"reason_code": "made.up"}, "reason_code of an end", "a known reason code"),
        (STATUS | {"source": "nobody"}, "source of a status", "admin, agent, executor, system"),
        (MESSAGE | {"embedding": [1e300]}, "embedding of a message", "numbers of 32 bits"),
    ],
)
def test_what_no_store_would_take_is_told_with_its_line(line: Any, says: str, expected: str) -> None:
    error = refused(json.dumps(line).encode())
    assert says in error.message and expected in str(error.expected)


@pytest.mark.parametrize(
    ("lines", "number", "what"),
    [
        ([SESSION, BRANCH, MESSAGE, MESSAGE], 4, "message"),
        ([SESSION, BRANCH, BRANCH], 3, "branch"),
        ([SESSION | {"progression_id": "p"}, BRANCH | {"progression_id": "p"}], 2, "progression"),
        ([SESSION, BRANCH | {"system": {"id": "m", "role": "system", "content": 1}}, MESSAGE], 3, "message"),
    ],
)
async def test_an_id_is_told_once(lines: list[Any], number: int, what: str) -> None:
    """A second message of an id would be written over the first."""
    with pytest.raises(RecordInputError) as caught:
        await calls_of(*lines)
    assert caught.value.where == f"run.jsonl, line {number}"
    assert caught.value.message == f"A {what} of this id was told already."
    assert caught.value.observed is not None and "told in line" in caught.value.observed


def test_what_ends_a_run_is_known_to_the_store() -> None:
    assert set(END_REASONS) == TERMINAL["session"] and set(END_REASONS.values()) <= REASON_CODES


def test_every_field_is_told_in_the_help() -> None:
    told = " ".join(" ".join(shape_lines()).split())
    for kind in KINDS.values():
        assert all(f"{field.name} (" in told for field in kind.fields), kind.name
    assert max(map(len, shape_lines())) < 120
