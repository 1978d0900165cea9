"""`journal`: what was done and refused, filtered, in every form, and one action whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.actions.journal import Entry, Journal, Phase


@pytest.fixture
def told(own_places: Path) -> Journal:
    journal = Journal()
    common = {
        "store": "managed.db",
        "lineage": "acme-desk",
        "profile": "acme-desk-fresh-run@1",
        "owner": "kim",
    }
    refusal = {
        "type": "StoreError",
        "code": "id-taken",
        "message": "taken \x1b[2J",
        "committed": ["message x2"],
    }
    begun = Entry("copy-run", "begun", id="aa11", when=1_000.0, operations={"insert_message": 3}, **common)
    journal.append(begun)
    journal.append(Entry("copy-run", "refused", id="aa11", when=1_001.0, committed=(Phase("message", 2),),
                         refusal=refusal, note="No session was made.", **common))  # fmt: skip
    journal.append(Entry("probe", "done", id="bb22", when=2_000.0, run="r1", seconds=0.5, **common))
    journal.append(Entry("record", "begun", id="bb33", when=3_000.0, **common))
    return journal


def test_the_newest_comes_first_and_an_action_is_one_row(command: Any, told: Journal) -> None:
    done = command("journal", "--json")
    assert done.status == 0 and done.json["complete"] is True and done.json["next"] is None
    assert "store" not in done.json
    assert [(row["action"], row["outcome"], row["code"]) for row in done.json["rows"]] == [
        ("record", "begun, no end was recorded", None), ("probe", "done", None),
        ("copy-run", "refused", "id-taken"),
    ]  # fmt: skip
    assert done.json["rows"][2]["committed"] == "message x2"


def test_it_is_filtered_paged_and_exported(command: Any, told: Journal) -> None:
    asked = command("journal", "outcome:refused", "owner:kim", "--json")
    assert [row["id"] for row in asked.json["rows"]] == ["aa11"]
    first = command("journal", "--limit", "2", "--json").json
    assert first["complete"] is False and len(first["rows"]) == 2
    rest = command("journal", "--after", first["next"], "--json").json
    assert [row["id"] for row in rest["rows"]] == ["aa11"]
    assert command("journal", "--csv").out.splitlines()[0].startswith("when,action,outcome,store,")
    assert command("journal", "--markdown").out.startswith("| when | action |")
    assert len(command("journal", "--jsonl").out.splitlines()) == 3
    odd = command("journal", "outcme:refused")
    assert odd.status == 0 and "is outcome meant?" in odd.err


def test_text_is_for_reading(command: Any, told: Journal) -> None:
    done = command("journal")
    assert done.status == 0 and "\x1b" not in done.out and "taken ␛[2J" in done.out
    assert "journal.jsonl: 3 actions" in done.err


def test_one_action_is_told_whole(command: Any, told: Journal) -> None:
    done = command("journal", "--entry", "aa")
    assert done.status == 0 and "\x1b" not in done.out
    assert "copy-run  begun" in done.out and "copy-run  refused" in done.out and "message x2" in done.out
    assert "No session was made." in done.out
    as_json = command("journal", "--entry", "aa11", "--json").json
    assert [row["event"] for row in as_json["rows"]] == ["begun", "refused"]
    assert as_json["rows"][1]["committed"] == [{"transaction": "message", "count": 2}]
    assert as_json["rows"][1]["refusal"]["code"] == "id-taken"
    assert command("journal", "--entry", "bb", "--json").json["refusal"]["code"] == "ambiguous-entry"
    assert command("journal", "--entry", "zz", "--json").json["refusal"]["code"] == "no-such-entry"
    assert command("journal", "--entry", "aa", "--csv").status == 2


def test_a_journal_that_is_not_there_is_empty_and_not_made(command: Any, own_places: Path) -> None:
    done = command("journal", "--json")
    assert done.status == 0 and done.json["rows"] == [] and not (own_places / "state").exists()
    assert "no journal yet: 0 actions" in command("journal").err


def test_a_torn_line_is_a_row_that_says_so(command: Any, told: Journal) -> None:
    with told.path.open("ab") as file:
        file.write(b'{"action":"rec')
    row = command("journal", "--json").json["rows"][0]
    assert row["outcome"] == {"unreadable": "not a whole line of the journal", "raw": '{"action":"rec'}
