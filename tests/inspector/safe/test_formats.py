"""Times, sizes and counts as a person reads them; nothing a store holds makes one raise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import formats

NOON = 1_772_625_600.0  # 2026-03-04 12:00 UTC


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (NOON, "now"),
        (NOON - 12.9, "12 s ago"),
        (NOON - 61, "1 min ago"),
        (NOON - 3 * 3600, "3 h ago"),
        (NOON - 29 * 86_400, "29 d ago"),
        (NOON - 30 * 86_400, "2026-02-02"),
        (NOON + 300, "in 5 min"),
        (0, "1970-01-01"),
        (-1, "before 1970"),
        (-62_135_596_801, "before 1970"),  # one second before the year 1
        (1e30, "after 9999"),
        (float("inf"), "after 9999"),
        (float("-inf"), "before 1970"),
        (float("nan"), "not a time"),
        pytest.param(10**400, "after 9999", id="huge"),
        (None, "not a time"),
        (True, "not a time"),
        ("soon", "not a time"),
        ("2026-03-04T11:00:00+00:00", "1 h ago"),
        ("2026-03-04 11:59:00", "1 min ago"),
        ("0000-00-00 00:00:00", "not a time"),
    ],
)
def test_relative_times(then: object, said: str) -> None:
    with formats.at_time(NOON):
        assert formats.relative_time(then) == said


def test_exact_times_have_their_zone_and_milliseconds() -> None:
    with formats.at_time(NOON):
        assert formats.exact_time(NOON) == "2026-03-04 12:00:00 +00:00"
        assert formats.exact_time(NOON + 0.25, zone=False) == "2026-03-04 12:00:00.250"
        assert formats.exact_time(-5) == "before 1970 (-5.0)"
        assert formats.clock(NOON) == "12:00:00"
        assert formats.day(datetime(2026, 3, 4, tzinfo=UTC)) == "2026-03-04"
    with formats.at_time(NOON, timezone(timedelta(hours=-3, minutes=-30))):
        assert formats.exact_time(NOON) == "2026-03-04 08:30:00 -03:30"


def test_the_edges_of_the_calendar_are_stepped_over_in_no_zone() -> None:
    for hours in (-14, 14):
        with formats.at_time(NOON, timezone(timedelta(hours=hours))):
            assert formats.exact_time(0)[:4] in ("1969", "1970")
            assert formats.exact_time(formats.CALENDAR_END - 0.0001)[:4] == "9999"


def test_the_clock_is_put_back() -> None:
    with formats.at_time(5.0):
        assert formats.now() == 5.0
    assert formats.now() > 1e9


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (0, "0 ms"),
        (0.48, "480 ms"),
        (12.54, "12.5 s"),
        (59.97, "1 min 00 s"),
        (125, "2 min 05 s"),
        (7_920, "2 h 12 min"),
        (277_200, "3 d 5 h"),
        (-3, "-3.0 s"),
        (1e30, "over 100 years"),
        (float("nan"), "not a duration"),
        (None, "not a duration"),
    ],
)
def test_durations(span: object, said: str) -> None:
    assert formats.duration(span) == said


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_960, "10 kB"),
        (743_000_000, "743 MB"),
        (999_600, "1.0 MB"),
        (10**400, "1,000,000,000,000,000 PB"),
        (-2_000, "-2.0 kB"),
        (float("nan"), "not a size"),
        ("x", "not a size"),
    ],
)
def test_sizes(octets: object, said: str) -> None:
    assert formats.size(octets) == said


def test_counts_say_when_they_are_not_complete() -> None:
    assert formats.count(1_000_000) == "1,000,000"
    assert formats.count(10_000, complete=False) == "10,000+"
    assert formats.several(1, "row") == "1 row"
    assert formats.several(1, "row", complete=False) == "1+ rows"
    assert formats.several(2, "branch", "branches") == "2 branches"
    assert formats.count(10**5000) == "a huge number"


def test_shares_do_not_round_to_nothing_or_all() -> None:
    assert formats.percent(1, 1_000_000) == "< 1 %"
    assert formats.percent(999_999, 1_000_000) == "99 %"
    assert formats.percent(40, 100) == "40 %"
    assert formats.percent(0, 0) == "0 %"


def test_ids_are_shortened_in_the_middle() -> None:
    assert formats.short_id("0f3c21aa77bb49ab4", 12) == "0f3c21aa…ab4"
    assert formats.short_id("short", 12) == "short"
    assert [len(formats.short_id("x" * 40, cells)) for cells in range(9)] == list(range(9))


def test_costs() -> None:
    assert formats.money(0.0123) == "$0.0123"
    assert formats.money(12.5) == "$12.50"
    assert formats.money(1e30) == "$1e+30"
    assert formats.money(float("nan")) == "not a cost"


ANYTHING = st.one_of(
    st.floats(),
    st.integers(),
    st.text(max_size=40),
    st.none(),
    st.booleans(),
    st.binary(max_size=9),
    st.datetimes(),
)


@given(ANYTHING)
def test_nothing_raises(value: object) -> None:
    for write in (
        formats.relative_time,
        formats.exact_time,
        formats.clock,
        formats.day,
        formats.duration,
        formats.size,
        formats.money,
    ):
        assert isinstance(write(value), str)
