"""A message's content taken apart: what it is, how long it is, and how broken it may be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.reading.entries import content_of, searchable
from persistence.reading.idlist import IdList, read_list
from persistence.reading.prefixes import completed
from persistence.records import Preview, TranscriptPart

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def parts(content: Any, head: int | None = None) -> list[TranscriptPart]:
    return list(content_of(json.dumps(content), head).parts)


def test_the_kinds_of_messages() -> None:
    assert parts({"system_message": "You are.", "system_datetime": "2025"}) == [
        TranscriptPart("text", "system", "You are."),
        TranscriptPart("json", "system_datetime", value="2025"),
    ]
    assert parts({"instruction": "Do", "context": [{"a": 1}], "images": [], "guidance": None}) == [
        TranscriptPart("text", "instruction", "Do"),
        TranscriptPart("json", "context", value=[{"a": 1}]),
    ]
    assert parts({"assistant_response": "Done"}) == [TranscriptPart("text", "response", "Done")]
    assert parts({"function": "look", "arguments": {"day": 3}}) == [
        TranscriptPart("call", function="look", value={"day": 3})
    ]
    assert parts({"function": "look", "arguments": {"day": 3}, "output": [1], "id": "x"}) == [
        TranscriptPart("result", function="look", value=[1], arguments={"day": 3}),
        TranscriptPart("json", "id", value="x"),
    ]
    assert parts({"function": "look", "output": None}) == [TranscriptPart("result", function="look")]


def test_contents_of_other_shapes() -> None:
    assert parts(["a", {"x": 1}]) == [TranscriptPart("json", value=["a", {"x": 1}])]
    assert parts("just text") == [TranscriptPart("text", text="just text")]
    assert parts(5) == [TranscriptPart("json", value=5)]
    assert parts({"function": 5, "arguments": 1})[0].kind == "json"
    assert parts({"instruction": {"deep": 1}}) == [TranscriptPart("json", "instruction", value={"deep": 1})]
    assert parts({}) == [] and parts(None) == [] and parts("") == []
    assert content_of(None, None).parts == ()


def test_what_is_not_json_is_shown_with_the_reason() -> None:
    content = content_of('{"cut', 100)
    assert content.raw == '{"cut' and content.value is None
    assert content.problem is not None and content.problem.startswith("not JSON")
    assert content.parts == (TranscriptPart("text", text='{"cut'),)
    assert content_of(b"\xff\x00", None).raw == "\udcff\x00"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"assistant_response": "x", "n": NaN}', "NaN"),
        ('{"assistant_response": "w", "assistant_response": "x"}', "twice"),
        ('{"assistant_response": "x", "n": 123456789012345678901234567890}', "64 bits"),
        ('{"assistant_response": "x", "n": 1e999}', "float"),
    ],
)
def test_odd_json_is_read_all_the_same_and_told(text: str, word: str) -> None:
    content = content_of(text, None)
    assert content.parts[0].text == "x" and content.raw is None
    assert content.problem is not None and word in content.problem


def test_json_nested_too_deeply() -> None:
    content = content_of("[" * 100_000 + "]" * 100_000, 50)
    assert content.problem is not None and content.raw == "[" * 50 and content.truncated


def test_pairs_of_surrogates_and_halves_of_them() -> None:
    assert parts(json.loads('"\\ud83d\\ude00"')) == [TranscriptPart("text", text="😀")]
    half = content_of('"a \\ud800 b"', None)
    assert half.parts[0].text == "a \ud800 b"


def test_long_texts_are_cut() -> None:
    content = content_of(json.dumps({"assistant_response": "x" * 100}), 10)
    assert content.parts == (TranscriptPart("text", "response", "x" * 10, cut=True),) and content.truncated
    assert not content_of(json.dumps({"assistant_response": "x" * 10}), 10).truncated


@given(JSON, st.integers(0, 400))
@settings(max_examples=200, deadline=None)
def test_the_beginning_of_any_json_is_read_as_far_as_it_goes(value: Any, cut: int) -> None:
    text = json.dumps(value)
    assert completed(text) == value
    if isinstance(value, dict | list) and cut:
        found = completed(text[:cut])
        assert isinstance(found, type(value))
        assert len(found) <= len(value)


@given(st.text(max_size=40), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_no_beginning_of_anything_fails(text: str, cut: int) -> None:
    completed(text[:cut])
    content_of(Preview(text[:cut], 10_000), 20)
    content_of(text, 20)


def test_a_message_longer_than_is_read_shows_its_beginning() -> None:
    text = json.dumps({"assistant_response": "word " * 1_000, "after": 1})
    content = content_of(Preview(text[:200], len(text)), 50)
    assert content.parts[0].text == ("word " * 10) and content.truncated
    call = json.dumps({"function": "f", "arguments": {"a": [1, 2, 3], "b": "x" * 500}})
    content = content_of(Preview(call[:60], len(call)), 50)
    assert content.parts[0].function == "f" and content.parts[0].value["a"] == [1, 2, 3]


def test_what_can_be_found_in_a_message() -> None:
    found = searchable(tuple(parts({"function": "look", "arguments": {"hafen": "Ærø"}, "output": "ja"})))
    assert all(word in found for word in ("look", "hafen", "Ærø", "ja"))
    assert "assistant_response" not in searchable(tuple(parts({"assistant_response": "x"})))


def test_a_list_of_ids() -> None:
    ids = IdList(["a", "bb", "a", None, "", {"x": 1}, "bb", "ccc"])
    assert len(ids) == 8
    assert ids.ids(0, 8) == ["a", "bb", "a", "", "", "", "bb", "ccc"]
    assert ids.ids(6, 5) == ["bb", "ccc"] and ids.ids(8, 1) == []
    assert ids.duplicates == {2: 0, 6: 1}
    assert ids.odds == (3, 5) and ids.odd(5) == '{"x": 1}' and ids.odd(4) is None


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        ('["a"]', "list"),
        ("[]", "empty"),
        ("", "not JSON"),
        ("[cut", "not JSON"),
        (None, "not JSON"),
        (5, "not JSON"),
        ('{"a": 1}', "not a list"),
        ('"a"', "not a list"),
        ("null", "not a list"),
        ("[" * 100_000, "not a list"),
        (b'["a"]', "list"),
        (Preview("[", 10**9), "too long"),
    ],
)
def test_what_a_collection_is(cell: Any, state: str) -> None:
    found, ids, why = read_list(cell)
    assert found == state
    assert (why is None) == (state in ("list", "empty"))
    assert bool(len(ids)) == (state == "list")
