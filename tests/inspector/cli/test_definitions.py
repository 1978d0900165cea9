"""`definitions`: the list, versions, a version's content exactly, what changed, the file now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.inspector.definitions.authored import HOSTILE, SECOND, make_definitions
from tests.persistence.stores import make_store, marks_of, run_sql


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_definitions(tmp_path)


def test_the_newest_of_each_is_listed(command: Any, store: Path) -> None:
    rows = command("definitions", store, "--json").json["rows"]
    assert [(row["name"], row["version"], row["versions"]) for row in rows] == [
        ("clerk", 3, 3), ("evil [b]", 1, 1), ("board", 1, 1), ("twelfths", 7, 1),
    ]  # fmt: skip
    only = command("definitions", store, "--kind", "playbook")
    assert only.status == 0 and "board" in only.out and "clerk" not in only.out


@pytest.mark.adr("0055-D2-18")
def test_versions_come_newest_first(command: Any, store: Path) -> None:
    answer = command("definitions", store, "clerk", "--json").json
    assert (answer["kind"], [row["version"] for row in answer["rows"]]) == ("agent", [3, 2, 1])


@pytest.mark.adr("0055-D2-16")
def test_a_version_is_written_exactly(command: Any, store: Path) -> None:
    assert command("definitions", store, "clerk", "--version", 2).out == SECOND
    evil = command("definitions", store, "evil [b]", "--version", 1)
    assert evil.out == HOSTILE  # a pipe; on a terminal it is made visible
    found = command("definitions", store, "clerk", "--version", 2, "--json").json["definition"]
    assert (found["content"], found["message"]) == (SECOND, "both ports")


def test_what_changed_between_two(command: Any, store: Path) -> None:
    said = command("definitions", store, "clerk", "--diff", 1, 3)
    assert said.status == 0
    assert "-You keep the tide table.\n+You keep the tide tables of both ports.\n" in said.out
    answer = command("definitions", store, "clerk", "--diff", 1, 2, "--json").json
    assert (answer["same"], answer["added"], answer["removed"]) == (False, 1, 1)
    assert answer["lines"][0]["sort"] == "changed"


@pytest.mark.adr("0055-D2-21")
def test_a_version_against_the_file_now(command: Any, store: Path) -> None:
    before = marks_of(store)
    same = command("definitions", store, "clerk", "--diff", 2, "file")
    assert (same.status, same.out) == (0, "") and "the same" in same.err
    other = command("definitions", store, "clerk", "--diff", "file", 3, "--json").json
    assert other["old"]["path"].endswith("clerk.md") and other["added"] == 2
    assert len(command("definitions", store, "clerk", "--json").json["rows"]) == 3
    gone = command("definitions", store, "board", "--diff", 1, "file", "--json")
    assert gone.status == 3 and gone.json["refusal"]["code"] == "no-such-file"
    own = command("definitions", store, "evil [b]", "--diff", 1, "file", "--json")
    assert own.status == 3 and "open store" in own.json["refusal"]["observed"]
    assert marks_of(store) == before


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--version", "1"], 2),
        (["clerk", "--diff", "1", "x"], 2),
        (["clerk", "--diff", "1", "2", "--csv"], 2),
        (["clerk", "--version", "1", "--diff", "1", "2"], 2),
        (["nobody"], 3),
        (["clerk", "--version", "9"], 3),
    ],
)
def test_what_cannot_be_answered(command: Any, store: Path, words: list[str], status: int) -> None:
    assert command("definitions", store, *words).status == status


def test_a_name_of_two_kinds_asks_which(command: Any, store: Path) -> None:
    run_sql(
        store,
        "INSERT INTO definitions SELECT 'x', 'playbook', name, path, content, 1, created_at, NULL "
        "FROM definitions WHERE id = 'd0'",
    )
    assert command("definitions", store, "clerk").status == 2
    assert command("definitions", store, "clerk", "--kind", "playbook").status == 0


def test_a_store_without_the_table_says_so(command: Any, tmp_path: Path) -> None:
    store = make_store(tmp_path / "old.db")
    run_sql(store, "DROP TABLE definitions")
    done = command("definitions", store, "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == "no-such-table"
