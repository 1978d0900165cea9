"""Two texts beside each other: which words are marked, and how they stand in little room."""

from __future__ import annotations

import pytest

from inspector.typeset.lines import Line, line_width
from inspector.typeset.sides import sides


def marked(lines: list[Line], role: str) -> list[str]:
    return [run.text.strip() for row in lines for run in row if run.role.startswith(f"{role} bold")]


def whole(lines: list[Line], role: str) -> list[str]:
    return [run.text.strip() for row in lines for run in row if run.role == role]


def plain(lines: list[Line]) -> list[str]:
    return ["".join(run.text for run in row).rstrip() for row in lines]


def test_the_words_that_differ_are_marked_on_both_sides() -> None:
    lines = sides("kind IN ('live', 'desk', 'mail')", "kind IN ('live', 'fax', 'mail')", 100)
    assert marked(lines, "ok") == ["'desk',"] and marked(lines, "refuse") == ["'fax',"]
    assert plain(lines)[0].startswith("expected ") and " │ observed" in plain(lines)[0]


def test_nothing_stands_for_nothing() -> None:
    lines = sides(None, "priority TEXT", 80)
    assert "nothing" in plain(lines)[1] and whole(lines, "refuse") == ["priority TEXT"]
    assert whole(sides("wal", None, 80), "ok") == ["wal"]
    assert whole(sides("", "wal", 80), "refuse") == ["wal"]


def test_what_has_nothing_in_common_has_its_role_whole_and_no_marks() -> None:
    lines = sides("wal", "delete", 80)
    assert whole(lines, "ok") == ["wal"] and whole(lines, "refuse") == ["delete"]
    assert not marked(lines, "ok") and not marked(lines, "refuse")


def test_the_same_text_is_not_marked() -> None:
    lines = sides("(a, b)", "(a, b)", 80)
    assert not marked(lines, "ok") and not marked(lines, "refuse") and "(a, b)" in plain(lines)[1]


def test_lines_stand_beside_those_they_became() -> None:
    lines = plain(sides("one\ntwo\nthree", "one\ntwo and more\nthree\nfour", 80))
    assert [row.split("│")[0].strip() for row in lines[1:]] == ["one", "two", "three", ""]
    assert [row.split("│")[1].strip() for row in lines[1:]] == ["one", "two and more", "three", "four"]


@pytest.mark.parametrize("room", [1, 8, 20, 50, 51, 80, 200])
def test_no_line_is_wider_than_the_room(room: int) -> None:
    lines = sides("CHECK (kind IN ('live', '日誌', 'desk'))", "CHECK (kind IN ('live', '🚢'))\x1b[31m", room)
    assert all(line_width(row) <= max(room, 2) for row in lines)
    assert not any("\x1b" in row for row in plain(lines))


def test_in_little_room_one_stands_under_the_other() -> None:
    rows = plain(sides("wal", "delete", 40))
    assert rows == ["expected", "wal", "observed", "delete"]


def test_very_long_texts_are_cut() -> None:
    rows = sides("x " * 50_000, "y " * 50_000, 100)
    assert len(rows) < 400
