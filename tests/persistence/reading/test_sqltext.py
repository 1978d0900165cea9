"""The small reader of CREATE statements: structure only, best effort, never an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence.reading.sqltext import index_predicate, table_text, tokens, unquote


@given(st.text(st.sampled_from("()'\"`[],;-/*\n aACHECK x1:?"), max_size=60))
def test_no_text_is_an_error(text: str) -> None:
    found = list(tokens(text))
    assert all(text[token.start : token.end] == token.text for token in found)
    table_text(text)
    index_predicate(text)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (None, ()),
        ("CREATE TABLE t (a)", ()),
        ("CREATE TABLE t (a check(a>1))", ("a>1",)),
        ("CREATE TABLE t (a, CONSTRAINT \"check\" CHECK (a IN ('(', ')')))", ("a IN ('(', ')')",)),
        ("CREATE TABLE t (a DEFAULT 'CHECK (x)', b /* CHECK (y) */)", ()),
        ('CREATE TABLE t ("CHECK" TEXT, b CHECK ((b) > (1)))', ("(b) > (1)",)),
        ("CREATE TABLE t (a CHECK (a", ()),
    ],
)
def test_checks(sql: str | None, expected: tuple[str, ...]) -> None:
    assert table_text(sql).checks == expected


def test_columns() -> None:
    found = table_text(
        "CREATE TABLE t (a TEXT COLLATE NOCASE, [b c] AS (a || ')') VIRTUAL, "
        'd NUMERIC(10, 2), PRIMARY KEY (a), "check" INT)'
    ).columns
    assert set(found) == {"a", "b c", "d", "check"}
    assert found["a"].collation == "NOCASE"
    assert found["b c"].generated == "a || ')'"
    assert table_text("CREATE TABLE t AS SELECT 1").columns == {}


def test_a_text_of_any_length_is_read() -> None:
    wide = ", ".join(f"column_{number} INT CHECK (column_{number} > 0)" for number in range(1000))
    found = table_text(f"CREATE TABLE t ({wide})")
    assert len(found.columns) == len(found.checks) == 1000


def test_predicates_and_names() -> None:
    assert index_predicate("CREATE INDEX i ON t (a) WHERE a IS NOT NULL;") == "a IS NOT NULL"
    assert index_predicate("CREATE INDEX i ON t (a)") is None
    assert index_predicate(None) is None
    assert [unquote(name) for name in ('"a""b"', "`a``b`", "[a b]", "'a'", "plain")] == [
        'a"b',
        "a`b",
        "a b",
        "a",
        "plain",
    ]
