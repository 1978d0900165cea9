"""Small charts: nothing that is there is drawn as nothing, and nothing is drawn wider than asked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.typeset.chart import bar, share_bar, spark, spark_words

NUMBERS = st.lists(st.floats(min_value=0, max_value=1e12), max_size=80)


def test_a_spark_line() -> None:
    assert spark([0, 1, 4, 8], 10) == " ▁▄█"
    assert spark([0, 0], 10) == "  "
    assert spark([1, 1, 1, 1, 8], 3) == "▁▂█"
    assert spark([], 10) == ""
    assert spark([1], 0) == ""


def test_its_words() -> None:
    assert spark_words([0, 3, 1]) == "4 in 3 days, at most 3 a day"
    assert spark_words([0]) == "none in 1 day"
    assert spark_words([]) == "nothing"


def test_bars() -> None:
    assert bar(1, 2, 4) == "██"
    assert bar(1, 1_000_000, 4) == "▏"
    assert bar(9, 2, 4) == "████"
    assert bar(0, 2, 4) == ""


@given(NUMBERS, st.integers(min_value=0, max_value=60))
def test_what_is_there_is_drawn(values: list[float], width: int) -> None:
    drawn = spark(values, width)
    assert len(drawn) <= width
    if width and any(value > 0 for value in values):
        assert drawn.strip()
    cells = share_bar(values, width)
    assert len(cells) == len(values)
    if width and sum(values) > 0:
        assert sum(cells) == width
