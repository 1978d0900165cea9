"""Values of rows: what must not be mistaken for each other looks different."""

from __future__ import annotations

import itertools

import pytest

from inspector import safe
from persistence.records import ABSENT, PENDING, Mark, Preview, Unreadable

DIFFERENT: list[object] = [
    None,
    ABSENT,
    PENDING,
    Mark.CLEARED,
    "",
    "text",
    "NULL",
    "NaN",
    "…",
    "—",
    0,
    float("nan"),
    float("inf"),
    float("-inf"),
    b"",
    b"text",
    Unreadable("malformed page"),
    Preview("text", 5_000_000),
    Preview(b"text", 5_000_000),
    2**70,
    10**5000,
    True,
]


def test_two_different_values_never_look_alike() -> None:
    for one, other in itertools.combinations(map(safe.cell, DIFFERENT), 2):
        assert one != other


@pytest.mark.parametrize(
    ("value", "seen", "role"),
    [
        (None, "NULL", "null"),
        ("NULL", '"NULL"', ""),
        (ABSENT, "—", "absent"),
        (PENDING, "…", "pending"),
        (Unreadable("not \x1b UTF-8"), "✗ not readable: not ␛ UTF-8", "unreadable"),
        (b"\x89PNG", "4 B  89 50 4e 47", "blob"),
        (bytes(1_000), f"1,000 B  {'00 ' * 16}…", "blob"),
        (Preview("head", 50_000_000), "head… (50 MB)", ""),
        (Preview(b"\x00\x01", 2_000_000), "2,000,000 B  00 01 …", "blob"),
        (float("nan"), "NaN", "odd"),
        (float("-inf"), "-Infinity", "odd"),
        (2**64, "18446744073709551616", "number"),
        (0.1, "0.1", "number"),
    ],
)
def test_a_value_says_what_it_is(value: object, seen: str, role: str) -> None:
    assert safe.face(value)[:2] == (seen, role)


def test_a_cut_value_is_known_to_be_cut() -> None:
    assert safe.face("x" * 9, limit=5).cut
    assert safe.face(Preview("x", 9)).cut
    assert safe.face(bytes(17)).cut
    assert not safe.face("x" * 5, limit=5).cut


def test_a_number_longer_than_python_writes_is_shown_in_hexadecimal() -> None:
    assert safe.cell(-(16**5000)).startswith("-0x1000")
