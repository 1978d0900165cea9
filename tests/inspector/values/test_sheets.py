"""The four ways a value is laid out; only what is asked for is worked out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.typeset.lines import Line, line_width
from inspector.values import document
from inspector.values.hex_sheet import HexSheet
from inspector.values.json_sheet import BATCH, JsonSheet
from inspector.values.markdown_sheet import MarkdownSheet
from inspector.values.sheet import Sheet
from inspector.values.text_sheet import ENTRY, TextSheet


def plain(line: Line) -> str:
    return "".join(run.text for run in line)


def everything(sheet: Sheet, width: int = 60) -> list[str]:
    return [plain(line) for at in range(sheet.count) for line in sheet.lines(at, width)]


def tree(value: object) -> JsonSheet:
    found = document.read(value if isinstance(value, str) else json.dumps(value))
    assert not isinstance(found, document.Broken)
    return JsonSheet(found)


# -- text ----------------------------------------------------------------------------------------------


def test_a_text_keeps_its_lines_and_shows_what_acts() -> None:
    sheet = TextSheet("one\r\ntwo \x1b[31m\n\nfour")
    assert everything(sheet) == ["one", "two ␛[31m", "", "four"]
    assert sheet.says == "4 lines"
    assert TextSheet("x", cut=True).says == "1+ lines"


def test_a_very_long_line_is_worked_out_only_where_it_is_in_sight() -> None:
    sheet = TextSheet("x" * 50_000_000)
    assert sheet.count == 50_000_000 // ENTRY
    assert len(sheet.lines(9_000, 80)) == ENTRY // 80
    assert sheet.entry_at(9_000 * ENTRY + 5) == 9_000


def test_without_wrapping_a_line_is_one_line_and_can_be_moved_sideways() -> None:
    sheet = TextSheet("abcdefghij" * 30, wrapped=False)
    assert everything(sheet, 12) == ["abcdefghija…"]
    sheet.skipped = 3
    assert everything(sheet, 12) == ["defghijabcd…"]


def test_finding_in_a_text_crosses_the_cut_of_a_long_line_and_ignores_case() -> None:
    text = "A" * (ENTRY - 2) + "NEEdle" + "b" * 100 + "\nneedle"
    assert TextSheet(text).find("needle") == [0, 2]
    assert TextSheet(text).find("") == []
    assert TextSheet(text).find("absent") == []


@given(st.text(max_size=200), st.integers(min_value=1, max_value=50), st.booleans())
@settings(max_examples=80, deadline=None)
def test_no_line_of_a_text_is_wider_than_asked(text: str, width: int, wrapped: bool) -> None:
    sheet = TextSheet(text, wrapped=wrapped)
    for at in range(sheet.count):
        for line in sheet.lines(at, width):
            assert line_width(line) <= max(width, 2), line  # a wide character needs two cells


# -- bytes ---------------------------------------------------------------------------------------------


def test_bytes_are_shown_with_their_place_and_letters() -> None:
    sheet = HexSheet(b"\x00A\x7f\x80 text that goes on")
    assert everything(sheet, 80)[0].split("  ")[0] == "0000"
    assert everything(sheet, 80)[0].endswith("·A·· text that g")
    assert sheet.says == "22 bytes"
    assert HexSheet(b"ab", size=9_000).says == "the first 2 of 9,000 bytes"
    assert everything(HexSheet(b""), 80)[0].startswith("0000")


@pytest.mark.parametrize("width", [10, 25, 40, 80, 200])
def test_every_byte_is_there_at_any_width(width: int) -> None:
    data = bytes(range(256))
    sheet = HexSheet(data)
    shown = [line for at in range(sheet.count) for line in sheet.lines(at, width)]
    digits = "".join(run.text for line in shown for run in line if run.role == "code")
    assert bytes.fromhex(digits) == data
    assert all(line_width(line) <= max(width, 16) for line in shown)


def test_finding_bytes_by_letters_and_by_digits() -> None:
    sheet = HexSheet(bytes(64) + b"needle" + bytes(64) + b"\xde\xad")
    assert sheet.find("needle") == [4]
    assert sheet.find("0xdead") == [8]
    assert sheet.find("0xzz") == []


# -- JSON ----------------------------------------------------------------------------------------------


def test_a_small_document_is_open_and_a_large_one_opens_where_asked() -> None:
    assert everything(tree({"a": [1, {"b": None}], "c": "text"})) == [
        "▾ {",
        "  ▾ a: [",
        "      0  1",
        "    ▾ 1  {",
        "        b: null",
        '    c: "text"',
    ]
    large = tree({"list": list(range(2_000))})
    assert large.count == 2
    large.toggle(1)
    assert large.count == 2 + BATCH + 1
    assert everything(large)[-1].strip() == "… 1,500 more, enter shows some"
    large.toggle(large.count - 1)
    assert large.count == 2 + 2 * BATCH + 1
    large.toggle(1)
    assert large.count == 2


def test_duplicates_and_odd_words_stand_out() -> None:
    shown = "\n".join(everything(tree('{"status": "passed", "status": "failed", "x": NaN}')))
    assert shown.count("▲ twice") == 2
    assert "▲ NaN, which JSON does not have" in shown


def test_paths_are_what_query_tools_take() -> None:
    sheet = tree({"a": [{"b c": {'say "x"': 1}}]})
    assert [row.path for row in sheet.rows] == [
        "$", "$.a", "$.a[0]", '$.a[0]["b c"]', '$.a[0]["b c"]["say \\"x\\""]',
    ]  # fmt: skip


def test_a_long_text_opens_under_its_key() -> None:
    sheet = tree({"long": "word " * 100})
    assert len(sheet.lines(1, 40)) == 1
    sheet.toggle(1)
    assert len(sheet.lines(1, 40)) > 10
    assert all(line_width(line) <= 40 for line in sheet.lines(1, 40))


def test_everything_below_opens_and_closes_with_its_parent() -> None:
    sheet = tree([[[[[[1]]]]], "x" * 3, {"k": list(range(300))}])
    sheet.close(0)
    assert sheet.count == 1
    sheet.open_below(0)
    assert any(row.node == "1" for row in sheet.rows)
    deepest = max(range(sheet.count), key=lambda at: sheet.rows[at].depth)
    assert sheet.parent_of(deepest) is not None
    assert sheet.parent_of(0) is None


def test_finding_looks_at_keys_and_values_in_sight() -> None:
    sheet = tree({"Alpha": "beta", "n": 12})
    assert sheet.find("alp") == [1]
    assert sheet.find("BETA") == [1]
    assert sheet.find("12") == [2]


# -- Markdown --------------------------------------------------------------------------------------------


def test_markdown_is_set_for_the_width() -> None:
    sheet = MarkdownSheet("# Title\n\n" + "word " * 60)
    wide = sheet.count
    sheet.set_width(20)
    assert sheet.count > wide
    assert "Title" in "".join(everything(sheet, 20))
    assert sheet.find("title")
    assert sheet.says == "Markdown, 3 lines"
