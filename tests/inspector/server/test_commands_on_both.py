"""Every command answers the same on a PostgreSQL store as on a SQLite file with the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.demo.ids import uuid
from tests.inspector.cli.conftest import Command, Done, command
from tests.inspector.server.conftest import Twins

__all__ = ["command"]

FERRY = uuid("session", "ferry")


def both(command: Command, twins: Twins, *words: str) -> tuple[Done, Done]:
    said = []
    for store in (twins.file, twins.url):
        done = command(words[0], store, *words[1:])
        assert twins.secret not in done.out + done.err
        said.append(done)
    return said[0], said[1]


def answer(done: Done) -> Any:
    """What a command answered, but for the store it tells of."""
    told = done.json
    told.pop("store", None)
    return done.status, told


LISTS: tuple[str, ...] = (
    "runs --limit 0",
    *(f"runs --order {name} {way} --limit 0" for name, way in (
        ("name", ""), ("name", "--descending"), ("agent_name", "--descending"), ("input_tokens", ""),
        ("status", ""), ("length", ""), ("length", "--descending"), ("messages", ""))),
    "runs status:failed,timed_out since:20d",
    "runs --agent pilot",
    "runs zeta", "runs ZETA", "runs ä", "runs Ä", "runs a_b%c", "runs 日",
    "progression --limit 90",
    f"progression {uuid('progression', 'ferry', 'all')}",
    "progression p-odd-003",
    "artifacts --limit 0",
    *(f"artifacts --key {key}" for key in ("invocation", "session", "both", "none")),
    f"artifacts {FERRY}",
    "definitions",
    "definitions tidekeeper",
    "definitions tidekeeper --version 2",
    "definitions tidekeeper --diff 1 4",
    "definitions tidekeeper --diff 4 file",
    f"run {FERRY} --limit 0",
    f"run {FERRY[:8]} --limit 3",
    "run odd-002",
    "tables messages --limit 0",
    "tables sessions --order name --limit 0",
    "tables sessions --where model=model-3",
)  # fmt: skip


@pytest.mark.adr("0055-D1-01")
@pytest.mark.parametrize("words", LISTS)
def test_the_same_answer(command: Command, twins: Twins, words: str) -> None:
    ours, theirs = both(command, twins, *words.split(), "--json")
    assert answer(theirs) == answer(ours)
    assert ours.status == 0


def test_pages_follow_each_other_alike(command: Command, twins: Twins) -> None:
    """A page's cursor may be another text; what comes behind it is the same, and all of it comes."""
    for words in (
        ["runs", "--order", "agent_name"],
        ["tables", "sessions", "--order", "model"],
        ["tables", "progressions"],
    ):
        walked = []
        for store in (twins.file, twins.url):
            rows: list[Any] = []
            after: list[str] = []
            while True:
                page = command(words[0], store, *words[1:], "--limit", "150", *after, "--json").json
                rows += page["rows"]
                if page["complete"]:
                    break
                after = ["--after", page["next"]]
            walked.append(rows)
        assert walked[0] == walked[1] and len(walked[0]) > 300


def test_tables_and_their_rows_are_counted_alike(command: Command, twins: Twins) -> None:
    ours, theirs = both(command, twins, "tables", "--count", "--json")
    shown = ("name", "kind", "group", "columns", "primary_key", "rows")
    told = [
        [
            {name: row[name] for name in shown} | {"links": set((row["foreign_keys"] or "").split(", "))}
            for row in done.json["rows"]
        ]
        for done in (ours, theirs)
    ]
    assert told[0] == told[1] and len(told[0]) == 32


def test_expected_files_are_observed_alike(command: Command, twins: Twins) -> None:
    ours, theirs = both(command, twins, "artifacts", FERRY, "--verify", "--json")
    told = []
    for done in (ours, theirs):
        found = answer(done)[1]
        found["verification"]["now"].pop("checked_at")
        told.append(found)
    assert told[0] == told[1] and told[0]["rows"]


@pytest.mark.parametrize(
    "words",
    ["run nobody", "progression nobody", "definitions nobody", "tables nothing", "artifacts nobody --verify",
     "runs since:soon", "tables sessions --order nothing", "definitions tidekeeper --version 99"],
)  # fmt: skip
def test_what_is_not_there_is_refused_alike(command: Command, twins: Twins, words: str) -> None:
    ours, theirs = both(command, twins, *words.split(), "--json")
    assert ours.status == theirs.status != 0
    if ours.out:
        told = [done.json["refusal"] for done in (ours, theirs)]
        assert told[0]["code"] == told[1]["code"]


def test_doctor_says_whose_it_is(command: Command, twins: Twins) -> None:
    ours, theirs = both(command, twins, "doctor", "--json")
    assert ours.status == theirs.status == 0
    assert theirs.json["lineage"] == ours.json["lineage"]
    assert theirs.json["schema_meta"] == ours.json["schema_meta"]
    assert theirs.json["verdicts"]["native"]["opens"] is True
    assert theirs.json["store"]["backend"] == "postgresql" and theirs.json["files"] == []
