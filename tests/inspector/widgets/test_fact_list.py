"""Facts in lines: phrases stay whole where they fit, and go on in the column they began in."""

from __future__ import annotations

import pytest

from inspector.typeset.lines import line
from inspector.widgets.fact_list import LABEL, Fact, laid_out

OPENS = Fact("opens", (line(("✓ ", "ok"), "read-only (settled)"), line("✓ natively"), line("? by a profile")))

BROKEN = ("(settled)", "✓ natively", "? by a", "profile")


def told(facts: list[Fact], room: int) -> list[str]:
    return ["".join(run.text for run in each).rstrip() for each in laid_out(facts, room)]


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (80, ["opens    ✓ read-only (settled)  ✓ natively  ? by a profile"]),
        (50, ["opens    ✓ read-only (settled)  ✓ natively", "         ? by a profile"]),
        (30, ["opens    ✓ read-only (settled)", "         ✓ natively", "         ? by a profile"]),
        (20, ["opens    ✓ read-only", *(" " * LABEL + word for word in BROKEN)]),
    ],
)
def test_a_phrase_that_does_not_fit_goes_on_in_its_column(room: int, lines: list[str]) -> None:
    assert told([OPENS], room) == lines


def test_a_fact_without_a_label_begins_at_the_edge() -> None:
    assert told([Fact("", (line("a store"), line("4 MB"))), OPENS], 60)[0] == "a store  4 MB"


@pytest.mark.parametrize("room", range(1, 60))
def test_no_line_is_longer_than_its_room_where_there_is_any(room: int) -> None:
    lines = told([OPENS, Fact("files", (line("a-long-name-without-a-blank.db 4 MB"),))], room)
    assert all(len(each) <= max(room, LABEL + 1) for each in lines)
