"""The filter line of Runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.run_query import completion, parse


def test_fields_and_words(frozen_clock: float) -> None:
    query = parse("status:failed agent:planner project:x model:y since:2d nightly review")
    assert query.statuses == ("failed",)
    assert (query.agent, query.project, query.model) == ("planner", "x", "y")
    assert query.since == frozen_clock - 2 * 86_400
    assert query.text == "nightly review"
    assert query.problems == ()
    assert query.narrows


@pytest.mark.parametrize(
    ("line", "statuses"),
    [
        ("status:failed,running", ("failed", "running")),
        ("status:failed status:running", ("failed", "running")),
        ("status:empty", ("completed_empty",)),
        ('status:"timed out"', ("timed_out",)),
        ("status:none", (None,)),
        ("STATUS:Failed", ("failed",)),
        ("status:", ()),
    ],
)
def test_statuses_as_people_call_them(line: str, statuses: tuple[str | None, ...]) -> None:
    assert parse(line).statuses == statuses


def test_quotes_keep_blanks_and_make_text_of_a_field() -> None:
    assert parse('project:"my project"').project == "my project"
    assert parse('"status:failed"').text == "status:failed"


@pytest.mark.parametrize("line", ["", "status:", "agent: ", "   "])
def test_nothing_that_narrows(line: str) -> None:
    assert not parse(line).narrows


@pytest.mark.parametrize("line", ["http://example.org/a", "12:30", "a:b"])
def test_what_only_looks_like_a_field_is_text(line: str) -> None:
    assert parse(line).text == line
    assert parse(line).problems == ()


def test_a_field_written_wrongly_is_told_with_the_right_one() -> None:
    query = parse("stauts:failed")
    assert query.problems == ("there is no field stauts; is status meant?",)
    assert not query.narrows


@pytest.mark.parametrize(
    ("value", "seconds"), [("30min", 1800), ("3h", 10_800), ("2d", 172_800), ("1w", 604_800), ("90s", 90)]
)
def test_spans(frozen_clock: float, value: str, seconds: float) -> None:
    assert parse(f"since:{value}").since == frozen_clock - seconds


def test_dates(frozen_clock: float) -> None:
    assert parse("until:2026-03-04").until == 1_772_582_400.0
    assert parse("since:today").since == frozen_clock - 12 * 3600
    assert parse("since:whenever").since is None
    assert "whenever" in parse("since:whenever").problems[0]


@given(st.text(max_size=60))
def test_any_line_means_something(line: str) -> None:
    query = parse(line)
    assert query.text is None or query.text
    completion(line, {"status": ["failed"], "project": ["日誌 a"]})


def test_completion_of_fields_and_of_what_the_store_has() -> None:
    choices = {"status": ["completed", "failed"], "project": ["my project"]}
    assert completion("words sta", choices) == "words status:"
    assert completion("status:f", choices) == "status:failed"
    assert completion("status:completed,f", choices) == "status:completed,failed"
    assert completion("project:m", choices) == 'project:"my project"'
    assert completion("", choices) is None
    assert completion("status:failed", choices) is None
