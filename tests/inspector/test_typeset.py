"""Text, Markdown and JSON as lines: nothing lost, nothing too wide, nothing that acts."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector import safe
from inspector.typeset.json_text import json_lines
from inspector.typeset.lines import Line, Run, fold, line_width, visible, wrap
from inspector.typeset.markdown import markdown_lines

HOSTILE = [
    "[/red] [b]x[/b] [@click=app.quit]press[/]",
    "\x1b[31mred\x1b]52;c;aGk=\x07 \x9b5m \x00 \x7f",
    "\u202eover\u202c \u2066iso\u2069 \u200bzero",
    "اكتب ملخصا قصيرا لجدول المد والجزر",
    "caf\udce9 bytes \udcff",
    "e\u0301" * 40,
    "🚢🏴‍☠️👨‍👩‍👧‍👦 把潮汐表翻译成中文",
    "a\tb\r\nc\rd\u2028e",
    "# " * 50,
    ">" * 80 + " deep",
    "- " * 60 + "x",
    "```\nunclosed [/]\x1b[2J",
    "| a | b |\n|---|---|\n| \x1b | [/] |",
    "![x](javascript:alert) [y](http://e.vil)",
    "&lt;b&gt; &#27;[2J &Tab;",
]


def plain(lines: list[Line]) -> str:
    return "\n".join("".join(run.text for run in line) for line in lines)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("\u200e", ""))


@pytest.mark.parametrize("width", [1, 2, 7, 40, 118])
@pytest.mark.parametrize("text", HOSTILE)
def test_wrapping_loses_nothing_and_keeps_the_width(text: str, width: int) -> None:
    shown = visible(text)
    for cut in (wrap, fold):
        lines = cut([Run(shown, "quiet")], width)
        assert squeezed(plain(lines)) == squeezed(shown)
        widest = max((safe.width(character) for character in shown), default=1)
        assert all(line_width(line) <= max(width, widest) for line in lines)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_lets_nothing_through(text: str) -> None:
    said = plain(markdown_lines(text, 40))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udcff]", said)


@settings(max_examples=60)
@given(st.text(max_size=200), st.integers(8, 120))
def test_any_text_is_markdown(text: str, width: int) -> None:
    lines = markdown_lines(text, width)
    assert lines
    assert all(line_width(line) <= width + 2 for line in lines)


def test_markdown_reads_well() -> None:
    text = "# Title\nfirst\nsecond **bold** `code`\n\n- one\n- two\n\n```py\nx = 1\n```\n"
    lines = markdown_lines(text, 40)
    assert plain(lines).split("\n") == [
        "Title",
        "",
        "first",
        "second bold code",
        "",
        "• one",
        "• two",
        "",
        "│ py",
        "│ x = 1",
    ]
    roles = {run.text: run.role for line in lines for run in line}
    assert roles["Title"] == "heading accent"
    assert roles["bold"] == "bold"
    assert roles["code"] == "code"


def test_html_and_entities_stay_what_they_are() -> None:
    assert plain(markdown_lines("<script>x</script> &lt;b&gt;", 60)) == "<script>x</script> &lt;b&gt;"


def test_a_link_says_where_it_leads_and_leads_nowhere() -> None:
    lines = markdown_lines("[text](http://e.vil/x)", 60)
    assert plain(lines) == "text (http://e.vil/x)"


def test_a_very_long_text_is_not_parsed() -> None:
    lines = markdown_lines("# x\n" * 20_000, 60)
    assert plain(lines[:1]) == "# x"


def test_json_that_fits_is_one_line() -> None:
    assert plain(json_lines({"port": "Ærø", "day": 3, "raw": True, "x": None}, 60)) == (
        '{ port: "Ærø", day: 3, raw: true, x: null }'
    )


def test_json_that_does_not_fit_is_indented() -> None:
    value = {"rows": [{"t": "00:00", "m": 1.5}, {"t": "01:00", "m": 2}], "note": "n" * 30}
    assert plain(json_lines(value, 40)).split("\n") == [
        "{",
        "  rows: [",
        '    { t: "00:00", m: 1.5 },',
        '    { t: "01:00", m: 2 }',
        "  ],",
        f'  note: "{"n" * 30}"',
        "}",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_keys_and_texts_are_made_visible(text: str) -> None:
    said = plain(json_lines({text: [text, {text: text}]}, 50))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udcff]", said)


def test_json_of_any_depth_and_length_ends() -> None:
    deep: object = "end"
    for _ in range(3000):
        deep = [deep]
    assert len(json_lines(deep, 60)) < 200
    assert len(json_lines(list(range(100_000)), 60)) < 300
    assert "more" in plain(json_lines(list(range(100_000)), 60))


def test_json_numbers_keep_their_digits() -> None:
    big = 10**40
    assert str(big) in plain(json_lines({"n": big}, 80))
    assert plain(json_lines(json.loads("[NaN, Infinity]"), 80)) == "[NaN, Infinity]"
