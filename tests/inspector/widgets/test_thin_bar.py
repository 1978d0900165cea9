"""The scroll bar's line: as long as its share, and at an end only when there is nothing more that way."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from inspector.widgets.thin_bar import ThinBar


def drawn(size: int, rows: float, window: float, position: float) -> str:
    bar = ThinBar.render_bar(size, rows, window, position)
    return "".join(segment.text for segment in bar.segments)


def test_the_line_is_at_an_end_only_at_the_end() -> None:
    assert drawn(10, 100, 10, 0) == "┃         "
    assert drawn(10, 100, 10, 1) == " ┃        "
    assert drawn(10, 100, 10, 89) == "        ┃ "
    assert drawn(10, 100, 10, 90) == "         ┃"
    assert drawn(10, 20, 10, 5) == "  ┃┃┃┃┃   "
    assert drawn(10, 10, 10, 0) == " " * 10


@example(2, 2.2250738585072014e-308, 2.2250738585e-313, 4.0)  # far beyond the end of next to nothing
@given(st.integers(0, 200), st.floats(0, 1e9), st.floats(0, 1e4), st.floats(-10, 1e9))
def test_it_always_fills_its_room(size: int, rows: float, window: float, position: float) -> None:
    assert len(drawn(size, rows, window, position)) == size
