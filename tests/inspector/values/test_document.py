"""JSON read without losing anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.values import document
from inspector.values.document import Broken, Number, Object, Odd

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


def test_digits_stay_as_they_were_written() -> None:
    text = '{"big": 123456789012345678901234567890, "exact": 1.50, "wide": 1e400}'
    found = document.read(text)
    assert isinstance(found, Object)
    assert [value for _, value in found] == ["123456789012345678901234567890", "1.50", "1e400"]
    assert document.written(found, indent=None) == text


def test_equal_keys_are_all_kept_and_known() -> None:
    found = document.read('{"status": "passed", "status": "failed", "other": 1}')
    assert isinstance(found, Object)
    assert [value for _, value in found] == ["passed", "failed", "1"]
    assert found.duplicates() == {"status"}


def test_words_json_does_not_have_are_kept_apart() -> None:
    found = document.read('[NaN, -Infinity, "NaN"]')
    assert isinstance(found, list)
    assert [type(value) for value in found] == [Odd, Odd, str]
    assert document.written(found, indent=None) == '[NaN, -Infinity, "NaN"]'


@pytest.mark.parametrize(
    ("text", "position"),
    [('{"a": 1, x}', 9), ("", 0), ("[1\n2]", 3), ('{"a" 1}', 5), ("nothing", 0)],
)
def test_a_broken_text_says_where(text: str, position: int) -> None:
    found = document.read(text)
    assert isinstance(found, Broken)
    assert found.position == position
    assert found.why


def test_what_is_nested_without_end_is_a_refusal_and_no_crash() -> None:
    assert isinstance(document.read("[" * 100_000), Broken)
    assert isinstance(document.read("x" * (document.LONGEST + 1)), Broken)


def test_half_a_pair_and_a_whole_one() -> None:
    found = document.read('["\\ud83d\\ude00", "\\ud83d"]')
    assert found == ["😀", "\ud83d"]


@given(JSON)
def test_a_document_comes_out_as_it_went_in(value: Any) -> None:
    for indent in (None, 2):
        text = json.dumps(value, ensure_ascii=False)
        found = document.read(text)
        assert not isinstance(found, Broken)
        assert json.loads(document.written(found, indent=indent)) == value


def test_a_number_is_no_text() -> None:
    assert document.written(Number("5")) == "5"
    assert document.written("5") == '"5"'
