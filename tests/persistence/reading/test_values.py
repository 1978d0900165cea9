"""The one decoder: native values in, `Unreadable` where passing on would change something, never an error."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence.reading.values import decode_embedding, decode_json, readable
from persistence.records import Unreadable

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_text_and_decoded_read_the_same(value: Any) -> None:
    text = json.dumps(value)
    assert decode_json(text) == value
    assert decode_json(text.encode()) == value
    if not isinstance(value, str):  # a text is taken for JSON text: that is what the column holds
        assert decode_json(value) == value


@given(st.text(st.characters(), max_size=30) | st.binary(max_size=30) | st.floats() | st.integers())
def test_nothing_a_cell_can_hold_raises(value: Any) -> None:
    decode_json(value)
    readable(value)
    decode_embedding(readable(value))


@pytest.mark.parametrize("value", [None, "null", " null ", b"null"])
def test_both_absences_read_as_absent(value: Any) -> None:
    assert decode_json(value) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1,2]x", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ('"\x00"', "not JSON"),
        ("NaN", "NaN is no JSON value"),
        ('{"a": [Infinity]}', "Infinity is no JSON value"),
        ("-Infinity", "-Infinity is no JSON value"),
        ("1e400", "past what a float can hold"),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', "'c' twice"),
        ("9223372036854775808", "does not fit 64 bits"),
        ("-9223372036854775809", "does not fit 64 bits"),
        ("1" * 5000, "does not fit 64 bits"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (math.nan, "no JSON value"),
        (2**63, "does not fit 64 bits"),
    ],
)
def test_what_cannot_be_read_says_why_and_keeps_what_is_there(text: Any, why: str) -> None:
    found = decode_json(text)
    assert isinstance(found, Unreadable)
    assert why in found.why
    assert found.raw == (text if isinstance(text, str) else repr(text))
    assert len(found.why) < 200


def test_the_widest_integers_pass() -> None:
    assert decode_json("[9223372036854775807, -9223372036854775808]") == [2**63 - 1, -(2**63)]


def test_bytes_that_are_not_utf8_keep_their_place() -> None:
    assert decode_json(b'{"a": "x\xff"}') == {"a": "x\udcff"}
    assert decode_json('{"a": "x\udcff"}') == {"a": "x\udcff"}
    found = decode_json(b"\xff\xfe{")
    assert isinstance(found, Unreadable) and found.raw == b"\xff\xfe{"


def test_lone_surrogates_of_json_are_kept() -> None:
    assert decode_json('"\\ud800"') == "\ud800"


def test_scalars() -> None:
    assert readable(memoryview(b"ab")) == b"ab"
    assert readable(True) == 1 and not isinstance(readable(True), bool)
    assert readable(1.5) == 1.5
    assert readable(2**70) == 2**70
    found = readable(complex(1, 2))
    assert found == "(1+2j)"


def test_embeddings() -> None:
    assert decode_embedding(struct.pack("<3f", 0.25, -1.5, 3.0)) == [0.25, -1.5, 3.0]
    assert decode_embedding(b"") == []
    assert decode_embedding(b"abc") == b"abc"
    assert decode_embedding(None) is None
    assert decode_embedding("text") == "text"
