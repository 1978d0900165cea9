"""Where keys stand in a TOML text: every key `tomllib` reads has its line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.profiles.document_lines import KeyPath, line_of, lines_of

TEXT = '''\
# a comment, with [a.header] in it
name = "x" # and = here
"quoted key" = \'\'\'
[not.a.header]
it''s = 1 \'\'\'
dotted.inner.key = 2026-01-01 10:00:00

[tables.sessions]   # one
columns = { id = { type = "TEXT" }, "a\\u0062" = { default = "']}'" } }
insert = [
  "id", # first
  "two",
]
text = """
[x]
a = "b" \\""" ""\\
"""
[[tables.sessions.links]]
to = "a"
[[tables.sessions.links]]
to = "b"
[tables.sessions.links.more]
deep = +inf
[ tables . "with.dot" ]
a = true'''


def paths(value: Any, above: KeyPath = ()) -> Iterator[KeyPath]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        yield (*above, name)
        yield from paths(inner, (*above, name))


def test_every_key_has_its_line() -> None:
    lines = lines_of(TEXT)
    assert set(lines) == set(paths(tomllib.loads(TEXT)))
    rows = TEXT.split("\n")
    for path, said in {
        ("name",): "name =",
        ("quoted key",): '"quoted key"',
        ("dotted", "inner", "key"): "dotted.inner",
        ("tables", "sessions"): "[tables.sessions]",
        ("tables", "sessions", "columns", "id", "type"): "columns =",
        ("tables", "sessions", "columns", "ab", "default"): "columns =",
        ("tables", "sessions", "insert", 1): '"two"',
        ("tables", "sessions", "links", 0): "[[tables.sessions.links]]",
        ("tables", "sessions", "links", 1, "to"): 'to = "b"',
        ("tables", "sessions", "links", 1, "more", "deep"): "deep",
        ("tables", "with.dot", "a"): "a = true",
    }.items():
        assert said in rows[lines[path] - 1], path


def test_what_has_no_line_of_its_own_has_that_of_what_is_around_it() -> None:
    lines = lines_of("[a]\nb = 1\n")
    assert line_of(lines, ("a", "b")) == 2
    assert line_of(lines, ("a", "missing", "deeper")) == 1
    assert line_of(lines, ("other",)) is None and line_of(lines, ()) is None


def test_what_is_no_toml_ends_it_quietly() -> None:
    assert lines_of("a = 1\nb = ") == {("a",): 1, ("b",): 2}
    assert lines_of("a = 1\n= 2\nc = 3") == {("a",): 1}
    assert lines_of('[x]\n"') == {("x",): 1}


names = st.text("ab.\"'é\\ #=[]", min_size=1, max_size=4)
values = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.text("a\"'\\\n\t\r\x7f\x9f\u2028😀#[]{}=,é", max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(names, values, max_size=4), st.dictionaries(names, values, max_size=3))
def test_no_text_is_read_differently(top: dict[str, Any], table: dict[str, Any]) -> None:
    from persistence.profiles.toml_text import key, value

    text = "".join(f"{key(name)} = {value(inner)}\n" for name, inner in top.items())
    name = "t" + "".join(top)  # one that `top` has not
    text += f"[{key(name)}]\n" + "".join(f"{key(n)} = {value(inner)}\n" for n, inner in table.items())
    read = tomllib.loads(text)
    assert read == {**top, name: table}
    assert set(lines_of(text)) == set(paths(read))
