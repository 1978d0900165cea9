"""`explain`: the refusal pages on the command line, and the way to them from a refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.reports.explanations import codes, page


def test_a_page_by_code_and_by_type(command: Any) -> None:
    by_code, by_type = command("explain", "foreign-lineage"), command("explain", "ForeignLineageError")
    assert by_code.status == by_type.status == 0 and by_code.out == by_type.out and by_code.err == ""
    for words in ("what it means", "why there is such a rule", "what to do", "what not to do"):
        assert words in by_code.out
    assert by_code.out.startswith("✗ Another application manages this store  (foreign-lineage)\n")


def test_the_page_as_json(command: Any) -> None:
    done = command("explain", "schema-too-new", "--json")
    found = page("schema-too-new")
    assert done.status == 0 and found is not None
    assert set(done.json) == {"format", "tool", "version", "page"}
    assert done.json["page"]["code"] == "schema-too-new" and done.json["page"]["do"] == found.do
    assert done.json["page"]["not"] == found.avoid


def test_all_of_them_are_listed(command: Any) -> None:
    listed = command("explain")
    assert listed.status == 0 and all(code in listed.out for code in codes())
    rows = command("explain", "--json").json
    assert [row["code"] for row in rows["rows"]] == list(codes()) and rows["complete"] is True


def test_a_code_that_is_none_is_said_with_those_it_may_be(command: Any) -> None:
    done = command("explain", "lineage")
    assert done.status == 2 and done.out == "" and "foreign-lineage" in done.err
    hostile = command("explain", "\x1b]0;x\x07")
    assert hostile.status == 2 and "\x1b" not in hostile.err
    assert command("explain", "x", "--json").json["refusal"]["code"] == "usage"


@pytest.mark.parametrize("code", ["not-a-database"])
def test_a_refusal_leads_to_its_page(command: Any, tmp_path: Path, code: str) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database at all\n" * 30)
    assert f"store-inspector explain {code}" in command("tables", path).err
