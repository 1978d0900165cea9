"""SQL as SQLite's tokens: each kind, what the tokenizer cuts otherwise, and what is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.profiles.tokens import KEYWORDS, Untokenized, alike, tokens, unwrapped

TEXTS = {
    "x'00fF'": [("b", "00ff")],
    "X''": [("b", "")],
    '"a ""b"""': [("d", 'a "b"')],
    "[a b]": [("q", "a b")],
    "`a``b`": [("q", "a`b")],
    "a == b": [("w", "a"), ("o", "="), ("w", "b")],
    "a <> b": [("w", "a"), ("o", "!="), ("w", "b")],
    "a != b": [("w", "a"), ("o", "!="), ("w", "b")],
    "a->'$'": [("w", "a"), ("o", "->"), ("s", "$")],
    "a->>'$'": [("w", "a"), ("o", "->>"), ("s", "$")],
    "a<<1>>2": [("w", "a"), ("o", "<<"), ("n", "1"), ("o", ">>"), ("n", "2")],
    "a||b": [("w", "a"), ("o", "||"), ("w", "b")],
    "~~1": [("o", "~"), ("o", "~"), ("n", "1")],
    "a<-1": [("w", "a"), ("o", "<"), ("o", "-"), ("n", "1")],
    "1e5": [("n", "1e5")],
    "1.5E-3": [("n", "1.5e-3")],
    ".5": [("n", ".5")],
    "5.": [("n", "5.")],
    "0x1F": [("n", "0x1f")],
    "1_000": [("n", "1_000")],
    "1 _000": [("n", "1"), ("w", "_000")],
    "'it''s'": [("s", "it's")],
    "'a\\'": [("s", "a\\")],
    "'{# x #}'": [("s", "{# x #}")],
    "a -- b\n c": [("w", "a"), ("w", "c")],
    "a--b": [("w", "a")],
    "a/* /* */b": [("w", "a"), ("w", "b")],
    "a/*+ hint */b": [("w", "a"), ("w", "b")],
    "GROUP /* */ BY": [("w", "group"), ("w", "by")],
    "Übung": [("w", "Übung")],
    "ÜBUNG": [("w", "Übung")],
    "NEW.owner_id": [("w", "new"), ("o", "."), ("w", "owner_id")],
    "a\t\n\f\r b": [("w", "a"), ("w", "b")],
    "": [],
    "replace into m values (1); show x": [
        ("w", "replace"), ("w", "into"), ("w", "m"), ("w", "values"), ("o", "("), ("n", "1"), ("o", ")"),
        ("o", ";"), ("w", "show"), ("w", "x"),
    ],
}  # fmt: skip

REFUSED = (
    "?1", "a = ?", ":a", "@a", "$a", "#1", "a !b", "12abc", "0xZZ", "x'abc'", "n'abc'", "[a]]b]",
    "'open",
    '"open', "`open", "a /* open", "{# x #}", "{{ x }}", "a\\b",
    "a\xa0b", "a\x0bb", "a\u3000b", "\ufeffa", "a\x00b", "a^b",
    "a::b", "'a'\ufeff",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_sqlite(text: str) -> None:
    assert [(token.kind, token.text) for token in tokens(text)] == TEXTS[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(Untokenized):
        tokens(text)


def test_a_text_longer_than_a_statement_may_be_is_refused() -> None:
    with pytest.raises(Untokenized, match="1000001 characters"):
        tokens("a" * 1_000_001)


def test_a_token_knows_where_it_stands() -> None:
    text = "a /* é */ + 'b''c'"
    assert [text[token.start : token.end] for token in tokens(text)] == ["a", "+", "'b''c'"]


SAME = (
    ("a IS NULL", "A is null"),
    ("name = 'x'", "\"name\" == 'x'"),
    ("[user] > 1", "user > 1"),
    ('"user" > 1', "`User` > 1"),
    ("((a))", "a"),
    ("key = 1", '"key" = 1'),
)
DIFFERENT = (
    ("a = 'x'", "a = 'X'"),
    ("a", "'a'"),
    ('a = "x"', "a = 'x'"),
    ('a = "x"', 'a = "X"'),
    ("null", '"null"'),
    ("true", "[true]"),
    ("31", "x'31'"),
    ("0x31", "x'31'"),
    ("a < b", "a <= b"),
    ("(a) + (b)", "a) + (b"),
    ("Ü", "ü"),
)


@pytest.mark.parametrize(("left", "right"), SAME)
def test_what_means_the_same_is_alike(left: str, right: str) -> None:
    assert alike(unwrapped(tokens(left)), unwrapped(tokens(right)))
    assert alike(unwrapped(tokens(right)), unwrapped(tokens(left)))


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_what_may_mean_something_else_is_not_alike(left: str, right: str) -> None:
    assert not alike(unwrapped(tokens(left)), unwrapped(tokens(right)))


def test_two_texts_in_double_quotes_are_names_where_there_are_such_names() -> None:
    left, right = tokens('"Name"'), tokens('"NAME"')
    assert not alike(left, right)
    assert alike(left, right, frozenset(("name",)))


def test_every_word_sqlite_reserves_counts_as_a_keyword() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for word in KEYWORDS:
            assert word == word.lower()
        reserved = "select from where table index create null and or not in is case when then else"
        for word in reserved.split():
            with pytest.raises(sqlite3.Error):
                connection.execute(f"CREATE TABLE t ({word})")
    missing = set(reserved.split()) - KEYWORDS
    assert missing == {"table"}, "a name after TABLE stands where no expression does"


_PARTS = st.sampled_from(
    [
        "a", "B1", "_x", "é", "1", "1.5", ".5", "0x1F", "1e3", "'s'", "''", "'it''s'", '"q"', "[b r]", "`t`",
        "x'0a'", "+", "-", "*", "/", "%", "||", "<", "<=", "<>", "!=", "=", "==", ">", ">=", "<<", ">>", "&",
        "|", "~", "->", "->>", "(", ")", ",", ".", ";",
    ]
)  # fmt: skip
_GAPS = st.sampled_from([" ", "\n", "\t ", "/* c */", " -- c\n", " /* ' */ "])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_PARTS, _GAPS, _GAPS), max_size=12))
def test_spacing_and_comments_never_matter(parts: list[tuple[str, str, str]]) -> None:
    left = "".join(part + gap for part, gap, _ in parts)
    right = "".join(gap + part for part, _, gap in parts)
    assert alike(tokens(left), tokens(right))
    single = [token for part, _, _ in parts for token in tokens(part)]
    assert [(token.kind, token.text) for token in tokens(left)] == [(t.kind, t.text) for t in single]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_tokens_or_refused(text: str) -> None:
    try:
        found = tokens(text)
    except Untokenized:
        return
    assert all(token.text is not None and token.end > token.start for token in found)
