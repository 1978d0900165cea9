"""One run from the command line: header, conversation in its order, exact contents, marks."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from .test_answers import CONTROLS

TITLE = "Can the night ferry sail on Thursday?"


@pytest.fixture
def ferry(command: Any, harbour: Path) -> str:
    (row,) = [
        row
        for row in command("runs", harbour, "Thursday", "ferry", "--json").json["rows"]
        if row["name"] == TITLE
    ]
    return str(row["id"])


def test_a_run_in_words(command: Any, harbour: Path, ferry: str) -> None:
    done = command("run", harbour, ferry[:8])
    assert done.status == 0 and done.err == ""
    assert done.out.startswith(f"✓ completed · {TITLE} · agent pilot")
    assert "→ lookup_tide" in done.out and "← lookup_tide" in done.out and "also second opinion" in done.out
    assert (
        done.out.index("#2 user") < done.out.index("#3 assistant") and "12月" in done.out
    ) or "月" in done.out


def test_a_run_as_json(command: Any, harbour: Path, ferry: str) -> None:
    answer = command("run", harbour, ferry, "--json").json
    assert answer["run"]["id"] == ferry and answer["run"]["row"]["agent_name"] == "pilot"
    assert answer["run"]["branches"][0]["row"]["name"] == "main"
    assert answer["run"]["invocation"]["skill"] == "ferry-check" and answer["run"]["counts"]["signals"] == 8
    assert answer["run"]["verification"]["status"] == "passed" and answer["store"]["lineage"] == "lionagi"
    assert [row["position"] for row in answer["rows"]] == list(range(len(answer["rows"])))
    call = answer["rows"][3]["content"]
    assert call["function"] == "lookup_tide" and call["arguments"]["port"] == "Sable Point"
    assert answer["rows"][0]["role"] == "system" and answer["complete"] is True and answer["next"] is None


def test_ids_no_message_has_are_part_of_the_conversation(command: Any, harbour: Path, ferry: str) -> None:
    rows = command("run", harbour, ferry, "--branch", "second opinion", "--json").json["rows"]
    assert [row["state"] for row in rows] == ["there"] * 5 + ["missing"] and "content" not in rows[-1]
    assert "▲ #6" in command("run", harbour, ferry, "--branch", "second").out


def test_going_on_behind_a_limit(command: Any, harbour: Path, ferry: str) -> None:
    whole = command("run", harbour, ferry, "--json").json["rows"]
    seen: list[Any] = []
    cursor = "0"
    while cursor is not None:
        answer = command("run", harbour, ferry, "--json", "--limit", 7, "--after", cursor).json
        assert answer["complete"] is (answer["next"] is None)
        seen += answer["rows"]
        cursor = answer["next"]
    assert seen == whole
    assert "--after 7" in command("run", harbour, ferry, "--limit", 7).err


def test_long_messages_are_shortened_and_said_to_be(command: Any, harbour: Path) -> None:
    (row,) = command("runs", harbour, "unabridged", "--json").json["rows"]
    short, whole = command("run", harbour, row["id"]), command("run", harbour, row["id"], "--whole")
    assert "--whole shows the rest" in short.out and len(short.out) < 5_000
    assert "23:55  visibility" in whole.out and "--whole" not in whole.out


def test_contents_are_passed_on_as_they_are_stored(command: Any, harbour: Path, ferry: str) -> None:
    """Numbers keep their digits and keys their order and number; what is no JSON is there as text."""
    stored: dict[int, str | bytes] = {
        0: '{"n": 0.10000000000000000555, "big": 123456789012345678901234567890, "b": 1, "a": 2}',
        1: '{"e": 1e400, "twice": 1, "twice": 2}',
        2: '{"t": "caf\u00e9 \U0001f981",\n "c": "\\u0000\\u001b"}',
        3: "{broken",
        4: '{"x": NaN}',
        5: b"\xff\x00",
    }
    rows = command("run", harbour, ferry, "--json").json["rows"]
    with sqlite3.connect(harbour) as connection:
        for position, text in stored.items():
            if text is not None:
                connection.execute(
                    "UPDATE messages SET content = ? WHERE id = ?", (text, rows[position]["id"])
                )
        connection.execute(
            "UPDATE messages SET content = CAST(X'FF00' AS BLOB) WHERE id = ?", (rows[5]["id"],)
        )
    connection.close()
    done = command("run", harbour, ferry, "--json")
    assert (
        done.out.isascii()
        and '"n": 0.10000000000000000555, "big": 123456789012345678901234567890' in done.out
    )
    assert '{"e": 1e400, "twice": 1, "twice": 2}' in done.out
    after = json.loads(done.out)["rows"]
    assert after[2]["content"] == {"t": "caf\u00e9 \U0001f981", "c": "\x00\x1b"}
    assert after[3]["content"]["raw"] == "{broken" and after[3]["content"]["unreadable"]
    assert after[4]["content"]["raw"] == '{"x": NaN}'
    assert after[5]["content"] == {"base64": "/wA="}
    text = command("run", harbour, ferry)
    assert text.status == 0 and not CONTROLS.search(text.out)


def test_markdown_holds_together(command: Any, harbour: Path, ferry: str) -> None:
    hostile = "```\n# not a heading\n</details>\x1b[31m\n> > deeper\n" + "`" * 7
    rows = command("run", harbour, ferry, "--json").json["rows"]
    with sqlite3.connect(harbour) as connection:
        content = json.dumps({"assistant_response": hostile, "other": {"code": "`" * 5}})
        connection.execute("UPDATE messages SET content = ? WHERE id = ?", (content, rows[2]["id"]))
    connection.close()
    done = command("run", harbour, ferry, "--markdown")
    assert done.status == 0 and not CONTROLS.search(done.out.replace("\n", ""))
    headings = re.findall(r"^#{1,2} .*$", done.out, re.MULTILINE)
    assert headings[0] == f"# {TITLE}" and len(headings) == len(rows) + 1  # none of them comes from the text
    assert "> # not a heading" in done.out and "\n``````json\n" in done.out


@pytest.mark.parametrize(("words", "code"), [(["nonsense"], "no-such-run"), (["6"], "ambiguous-run")])
def test_a_run_that_is_not_there(command: Any, harbour: Path, words: list[str], code: str) -> None:
    done = command("run", harbour, *words, "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == code


def test_a_branch_that_is_not_there(command: Any, harbour: Path, ferry: str) -> None:
    done = command("run", harbour, ferry, "--branch", "north", "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == "no-such-branch"
    assert "second opinion" in done.json["refusal"]["expected"]


@pytest.mark.parametrize("release", ["0.26.0", "0.28.0", "0.32.0", "0.36.0"])
def test_runs_of_every_release(command: Any, shared_stores: Path, tmp_path: Path, release: str) -> None:
    """Older stores lack tables and columns: what is there is shown, what is not is said."""
    import shutil

    store = shutil.copy(shared_stores / f"lionagi-{release}.db", tmp_path)
    rows = command("runs", store, "--json").json["rows"]
    assert len(rows) == 11
    for row in rows:
        for form in ("--json", "--text", "--markdown"):
            done = command("run", store, row["id"], form)
            assert done.status == 0 and not CONTROLS.search(done.out.replace("\n", ""))
    missing = command("run", store, rows[0]["id"], "--json").json["run"]["missing_tables"]
    assert ("artifacts" in missing) is (release == "0.26.0")
