"""The parts of the windowed table that need no screen: pages, columns, cells, the jump."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector import formats, safe
from inspector.widgets.grid_cells import fitted, painted
from inspector.widgets.grid_columns import GAP, GUTTER, ColumnPlan
from inspector.widgets.grid_jump import target_row
from inspector.widgets.grid_windows import PAGE, Pages, pending
from persistence.records import ABSENT, PENDING, Column, ColumnKind, Preview, Row, Unreadable, Window
from tests.inspector.widgets.sources import PEOPLE, READ, people

NOW = 1_795_953_600.0


def window(first: int, count: int) -> Window:
    return Window(first, tuple(Row((at,), (at,)) for at in range(first, first + count)), READ)


# -- pages ---------------------------------------------------------------------------------------------


def test_what_is_missing_is_asked_for_in_whole_pages_and_only_once() -> None:
    pages = Pages()
    assert pages.missing(5, 40) == (0, 2 * PAGE)
    pages.put(window(0, 2 * PAGE), 0, 2 * PAGE)
    assert pages.missing(5, 40) is None
    assert pages.missing(5, 2 * PAGE) == (2 * PAGE, PAGE)
    assert pages.row(40) == Row((40,), (40,))


def test_a_bounded_number_of_rows_is_held_and_the_longest_unseen_goes_first() -> None:
    pages = Pages(kept=4)
    for page in range(4):
        pages.put(window(page * PAGE, PAGE), page * PAGE, PAGE)
    pages.missing(0, 1)  # seen again
    pages.put(window(50 * PAGE, PAGE), 50 * PAGE, PAGE)
    assert len(pages) == 4 * PAGE
    assert pages.row(0) is not None
    assert pages.row(PAGE) is None


def test_rows_that_are_gone_are_not_asked_for_again() -> None:
    pages = Pages()
    pages.put(window(0, 10), 0, 2 * PAGE)
    assert pages.missing(0, 2 * PAGE - 1) is None
    assert pages.read(PAGE)
    assert pages.row(PAGE) is None


def test_what_could_not_be_read_is_asked_for_again_only_when_forgiven() -> None:
    pages = Pages()
    pages.fail(0, PAGE)
    assert pages.failed(3)
    assert pages.missing(0, PAGE - 1) is None
    pages.forgive()
    assert pages.missing(0, PAGE - 1) == (0, PAGE)


def test_completed_cells_go_only_to_the_row_they_belong_to() -> None:
    pages = Pages()
    held = Window(0, (Row((1,), (PENDING,)), Row((2,), (PENDING,))), READ)
    assert pending(held)
    pages.put(held, 0, PAGE)
    pages.fill(Window(0, (Row((1,), ("one",)), Row((9,), ("nine",))), READ))
    assert pages.row(0) == Row((1,), ("one",))
    assert pages.row(1) == Row((2,), (PENDING,))


# -- columns -------------------------------------------------------------------------------------------


def measured(available: int, columns: tuple[Column, ...] = PEOPLE, count: int = 30) -> ColumnPlan:
    plan = ColumnPlan(columns)
    plan.available = available
    rows = [Row((row[0],), row) for row in people(count)]
    plan.measure(rows, lambda row, index: painted(row.cells[index], columns[index]))
    return plan


def test_text_takes_the_room_that_is_left_and_ids_do_not() -> None:
    with formats.at_time(NOW):
        plan = measured(120)
    assert plan.width <= 120
    widths = {PEOPLE[place.index].name: place.width for place in plan.placed}
    assert widths["name"] > 45
    assert widths["id"] == 13


def test_text_gives_way_before_the_table_scrolls_sideways() -> None:
    with formats.at_time(NOW):
        plan = measured(80)
        assert plan.width <= 80
        assert measured(50).width > 50


def test_numbers_stand_right_and_their_header_too() -> None:
    with formats.at_time(NOW):
        plan = measured(120)
    assert dict(zip((c.name for c in PEOPLE), plan.right, strict=True)) == {
        "id": False,
        "status": False,
        "name": False,
        "messages": True,
        "created_at": False,
        "node": False,
    }


def test_a_persons_width_stays_through_a_new_source_of_the_same_columns() -> None:
    with formats.at_time(NOW):
        plan = measured(120)
    plan.choose(PEOPLE[2], 7)
    plan.hide(PEOPLE[0])
    other = ColumnPlan(PEOPLE)
    other.adopt(plan)
    assert [PEOPLE[place.index].name for place in other.placed] == [c.name for c in PEOPLE[1:]]
    assert other.placed[1].width == 7
    assert other.measured


def test_the_last_shown_column_cannot_be_hidden() -> None:
    plan = ColumnPlan(PEOPLE[:2])
    plan.hide(PEOPLE[0])
    plan.hide(PEOPLE[1])
    assert len(plan.placed) == 1
    plan.show_all()
    assert len(plan.placed) == 2


def test_the_first_column_stays_only_when_it_leaves_room_for_others() -> None:
    wide = tuple(Column(f"c{at}", f"c{at}", width=20) for at in range(30))
    plan = ColumnPlan(wide)
    plan.resize(80)
    assert plan.frozen == plan.placed[0].end + GAP
    plan.resize(30)
    assert plan.frozen == 0
    assert ColumnPlan(wide[:1]).frozen == 0


@given(
    st.lists(st.sampled_from(["text", "id", "number", "any", "json", "blob"]), max_size=12),
    st.integers(min_value=0, max_value=300),
)
@settings(max_examples=60, deadline=None)
def test_columns_never_overlap_whatever_the_window(kinds: list[ColumnKind], available: int) -> None:
    columns = tuple(Column(f"c{at}", f"label {at}", kind) for at, kind in enumerate(kinds))
    plan = ColumnPlan(columns)
    plan.available = available
    rows = [Row((at,), tuple("word " * (at * 7 + len(kinds)) for _ in kinds)) for at in range(3)]
    plan.measure(rows, lambda row, index: painted(row.cells[index], columns[index]))
    x = GUTTER
    for place in plan.placed:
        assert place.x == x
        assert place.width >= 1
        x = place.end + GAP


# -- cells ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "cell", "text", "role"),
    [
        ("status", "running", "● running", "live"),
        ("status", "completed_empty", "∅ empty", "quiet"),
        ("status", "timed_out", "⧗ timed out", "notice"),
        ("status", None, "· none", "quiet"),
        ("status", "odd\x1b", "· odd␛", "plain"),
        ("status", 7, "7", "plain"),
        ("time", NOW - 60, "1 min ago", "plain"),
        ("time", -5.0, "before 1970", "plain"),
        ("time", "soon", "soon", "plain"),
        ("time", None, "NULL", "quiet"),
        ("bytes", 9_100, "9.1 kB", "plain"),
        ("duration", 125, "2 min 05 s", "plain"),
        ("money", 0.5, "$0.5000", "plain"),
        ("number", 1_000_000, "1,000,000", "plain"),
        ("number", 10**40, f"{10**40:,}", "plain"),
        ("number", "word", "word", "plain"),
        ("any", 1_000_000, "1000000", "plain"),
        ("any", float("nan"), "NaN", "notice"),
        ("any", ABSENT, "—", "quiet"),
        ("any", Unreadable("torn page"), "✗ not readable: torn page", "refuse"),
        ("blob", b"\x01\x02", "2 B  01 02", "code"),
        ("json", '{"a": 1}', '{"a": 1}', "code"),
        ("text", Preview("head", 5_000_000), "head… (5.0 MB)", "plain"),
    ],
)
def test_a_cell_reads_by_its_column_and_falls_back_to_what_it_is(
    kind: ColumnKind, cell: object, text: str, role: str
) -> None:
    with formats.at_time(NOW):
        what = painted(cell, Column("c", "C", kind))  # type: ignore[arg-type]
    assert (what.text, what.role) == (text, role)


def test_somebodys_own_numbers_have_no_commas() -> None:
    assert painted(1900, Column("year", "year", "number"), grouped=False).text == "1900"
    assert painted(1900, Column("year", "year", "number"), grouped=False).right
    assert painted(None, Column("year", "year", "number"), null="·").text == "·"


def test_exact_times_and_ids_in_the_middle() -> None:
    with formats.at_time(NOW):
        assert painted(NOW, Column("c", "C", "time"), exact_times=True).text == "2026-11-29 12:00:00"
    column = Column("c", "C", "id")
    assert fitted(painted("0123456789abcdef", column), column, 9) == "012345…ef"
    assert safe.width(fitted(painted("漢" * 30, column), column, 9)) == 9


# -- the jump ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "position"),
    [
        ("1", 0),
        ("1,200", 1199),
        ("999999999999999999999", 4999),
        ("0", 0),
        ("50%", 2500),
        ("100%", 4999),
        ("+10", 110),
        ("-1000", 0),
        ("", None),
        ("ten", None),
        ("+5%", None),
    ],
)
def test_where_a_jump_goes(wanted: str, position: int | None) -> None:
    assert target_row(wanted, 100, 5000) == position


def test_a_jump_in_no_rows_goes_nowhere() -> None:
    assert target_row("1", 0, 0) is None
