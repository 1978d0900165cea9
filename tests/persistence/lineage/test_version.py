"""Every value a version row may hold falls into exactly one class (ADR-0128 D7, DECISIONS 9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence.lineage.version import Value, VersionKind, classify

K = VersionKind


@pytest.mark.adr("0128-D7-06", "0128-D7-07", "0128-D7-08")
@pytest.mark.parametrize(
    ("value", "kind", "above"),
    [
        ("4", K.EQUAL, False),
        ("1", K.LOWER, False),
        ("3", K.LOWER, False),
        ("5", K.HIGHER, True),
        ("9" * 30, K.HIGHER, True),
        ("9" * 5000, K.HIGHER, True),  # longer than Python makes into a number
        ("0", K.ZERO, False),
        ("00", K.ZERO, False),
        ("-0", K.ZERO, False),
        ("004", K.PADDED, False),
        ("005", K.PADDED, True),
        (" 4 ", K.SPACED, False),
        ("\t5", K.SPACED, True),
        ("4\n", K.SPACED, False),
        ("\u00a05", K.SPACED, True),
        ("   ", K.SPACED, False),
        ("", K.EMPTY, False),
        ("four", K.NOT_WHOLE, False),
        ("4.0", K.NOT_WHOLE, False),
        ("5.0", K.NOT_WHOLE, True),
        ("5.5", K.NOT_WHOLE, False),
        ("5e0", K.NOT_WHOLE, True),
        ("1e400", K.NOT_WHOLE, True),
        ("nan", K.NOT_WHOLE, False),
        ("inf", K.NOT_WHOLE, False),
        ("5 6", K.NOT_WHOLE, False),
        ("1__0", K.NOT_WHOLE, False),
        ("5\0x", K.NOT_WHOLE, True),  # what reads C strings sees 5
        ("-1", K.NEGATIVE, False),
        ("-9", K.NEGATIVE, False),
        ("+5", K.ODDLY_WRITTEN, True),
        ("+4", K.ODDLY_WRITTEN, False),
        ("1_0", K.ODDLY_WRITTEN, True),
        ("\u0665", K.ODDLY_WRITTEN, True),
        ("\uff14", K.ODDLY_WRITTEN, False),
        ("0x10", K.ODDLY_WRITTEN, True),
        ("0b1", K.ODDLY_WRITTEN, False),
        (b"4", K.NOT_TEXT, False),
        (b"5", K.NOT_TEXT, True),
        (b"\xff", K.NOT_TEXT, False),
        (3, K.NOT_TEXT, False),
        (7, K.NOT_TEXT, True),
        (3.0, K.NOT_TEXT, False),
        (7.0, K.NOT_TEXT, True),
        (7.5, K.NOT_TEXT, False),
        (float("inf"), K.NOT_TEXT, False),
    ],
)
def test_each_spelling_has_its_class(value: Value, kind: VersionKind, above: bool) -> None:
    found = classify((value,))
    assert (found.kind, found.above) == (kind, above)
    assert found.plain == (kind in (K.LOWER, K.EQUAL, K.HIGHER))
    assert found.shown == value
    assert found.words


def test_no_row_is_missing_and_several_are_several() -> None:
    assert classify(()).kind is K.MISSING
    assert classify(()).shown is None
    assert classify(()).words == "missing"
    assert classify(("4", "4")).kind is K.SEVERAL
    assert classify(("4", "9")).above
    assert not classify(("4", "3")).above


@given(st.one_of(st.text(max_size=30), st.binary(max_size=30), st.integers(), st.floats()))
def test_nothing_a_row_can_hold_is_plain_but_what_a_release_writes(value: Value) -> None:
    found = classify((value,))
    if found.plain:
        assert isinstance(value, str) and value.isascii() and value.isdigit() and value[0] != "0"
        assert (int(value) > 4) == (found.kind is K.HIGHER) == found.above
    assert "\n" not in found.words


@given(st.integers(min_value=-20, max_value=20), st.sampled_from(["{}", " {}", "{}\n", "+{}", "{}.0", "0{}"]))
def test_what_python_reads_as_a_number_above_ours_is_never_missed(number: int, form: str) -> None:
    text = form.format(number)
    try:
        read = int(text)
    except ValueError:
        return
    assert classify((text,)).above == (read > 4)
