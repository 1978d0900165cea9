"""The one door: what comes out of it is visible, one line, contained, and cut where it says so."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector import safe

NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\u00ad]")
HOSTILE = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Mn")),
        st.sampled_from("\t\n\r\x1b[]()אب漢👩\u200d\ufe0f\u0301"),
    ),
    max_size=80,
)
ANYTHING = st.one_of(
    HOSTILE, st.binary(max_size=90), st.integers(), st.floats(), st.none(), st.booleans(), st.builds(object)
)


def test_plain_text_is_left_alone() -> None:
    assert safe.text("plain text, [b]markup[/b], ünï, 漢字") == "plain text, [b]markup[/b], ünï, 漢字"


@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        ("\x1b]52;c;aGFja2Vk\x07", "␛]52;c;aGFja2Vk␇"),
        ("a\x00b\x7fc", "a␀b␡c"),
        ("\x9b31m", "�31m"),
        ("pay\u202etxt.exe", "pay\\u202etxt.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("bom\ufeff", "bom\\ufeff"),
        ("soft\u00adhyphen", "soft\\u00adhyphen"),
        ("a\u2028b", "a\\u2028b"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud83d alone", "\\ud83d alone"),
        ("one\r\ntwo\nthree\rfour", "one⏎two⏎three␍four"),
        ("a\tb", "a   b"),
        ("漢\tb", "漢  b"),
        ("hidden\ufe00\ufe01\ufe02", "hidden\ufe00�"),
    ],
)
def test_what_would_act_or_hide_is_shown_as_a_mark(stored: str, seen: str) -> None:
    assert safe.text(stored) == seen


@pytest.mark.parametrize(
    "readable",
    [
        "👩‍👩‍👧 family",
        "👍🏽",
        "❤️",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # the flag of England
        "e\u0301",
        "葛\U000e0100",
        "नमस्ते",
        "ภาษาไทย",
    ],
)
def test_real_writing_stays_as_it_is(readable: str) -> None:
    assert safe.text(readable) == readable


@pytest.mark.parametrize("written", ["שלום עולם 12", "مرحبا بالعالم", "می\u200cخواهم"])
def test_right_to_left_writing_stays_readable_and_keeps_its_direction_to_itself(written: str) -> None:
    seen = safe.text(written)
    assert seen == f"\u200e{written}\u200e"
    assert safe.width(seen) == safe.width(written.replace("\u200c", ""))


def test_a_neighbour_of_hebrew_begins_at_a_strong_left_to_right_mark_even_when_clipped() -> None:
    seen = safe.clip(safe.text("שלום עולם שלום עולם"), 8)
    assert seen.endswith("…\u200e")
    assert safe.width(seen) <= 8


def test_each_line_of_a_long_text_contains_its_own_direction() -> None:
    assert safe.lines("plain\nשלום\nplain") == "plain\n\u200eשלום\u200e\nplain"


def test_a_joiner_inside_indic_writing_does_not_upset_widths() -> None:
    seen = safe.text("ශ්\u200dරී")
    assert "\u200d" not in seen
    assert safe.width(seen) == sum(map(cell_len, seen))


def test_marks_piled_on_one_letter_are_limited() -> None:
    piled = "z" + "\u0301" * 300 + "algo"
    assert safe.text(piled) == "z" + "\u0301" * safe.COMBINING_LIMIT + "�algo"


def test_a_mark_that_would_hang_on_the_column_to_the_left_gets_a_circle_of_its_own() -> None:
    assert safe.text("\u0301acute") == "◌\u0301acute"
    assert safe.lines("a\n\u0301b") == "a\n◌\u0301b"


def test_tabs_end_at_stops_in_every_line() -> None:
    assert safe.lines("a\tb\n漢字\tc") == "a   b\n漢字    c"


def test_cut_text_says_so() -> None:
    assert safe.shown("x" * 10, limit=10) == ("x" * 10, False)
    assert safe.shown("x" * 11, limit=10) == ("x" * 10 + "…", True)
    assert safe.lines("line\n" * 10, limit=9) == "line\nline…"


def test_fifty_megabytes_are_not_looked_through_for_one_line() -> None:
    huge = "x\x1b" * 25_000_000
    assert safe.text(huge, limit=4) == "x␛x␛…"


def test_anything_with_a_broken_str_is_still_shown() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert safe.text(Broken()) == "Broken (cannot be shown: RuntimeError)"
    assert safe.text(ValueError("bad \x1b[31m")) == "bad ␛[31m"
    assert safe.text({"a": "\x1b", "ü": 1}) == '{"a": "\\u001b", "ü": 1}'


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_no_control_or_hidden_character_passes(stored: str) -> None:
    for seen in (safe.text(stored), safe.lines(stored).replace("\n", ""), safe.cell(stored)):
        assert not NOT_SHOWN.search(seen), ascii(seen)


@given(ANYTHING, st.integers(min_value=-1, max_value=60), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_fitted_cell_is_exactly_as_wide_as_asked(value: object, cells: int, right: bool) -> None:
    seen = safe.fit(safe.cell(value), cells, right=right)
    assert cell_len(seen) == max(0, cells), ascii(seen)
    assert cell_len(safe.clip(safe.cell(value), cells)) <= max(0, cells)


@given(HOSTILE)
@settings(max_examples=150, deadline=None)
def test_content_is_the_visible_text_and_nothing_is_markup(stored: str) -> None:
    assert safe.content(f"[b]{stored}[/b][@click=app.quit]").plain == safe.text(
        f"[b]{stored}[/b][@click=app.quit]"
    )


def test_every_control_and_format_character_that_draws_nothing_is_marked() -> None:
    # Arabic signs that enclose or precede numbers are format characters too, and are drawn.
    drawn = {0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x600, 0x606)}
    for code in range(0x110000):
        if (
            unicodedata.category(character := chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            and code not in drawn
        ):
            assert character not in safe.text(f"a{character}b"), hex(code)


def test_the_clipboard_gets_the_stored_text_and_never_a_surrogate() -> None:
    assert safe.exact("a\x1b[31m\tb\r\n") == "a\x1b[31m\tb\r\n"
    assert safe.exact("caf\udce9") == "caf�"
    assert safe.exact("\ud83d\ude00") == "😀"
    assert safe.exact(b"\x00\xff") == "00ff"
    safe.exact("\ud800").encode("utf-8")


def test_the_door_opens_without_textual_or_sqlalchemy() -> None:
    program = (
        "import sys; from inspector import safe; safe.text('\\x1b漢'); safe.cell(b'x'); safe.fit('é', 9);"
        "print([n for n in ('textual', 'sqlalchemy', 'rich.console') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_our_own_signs_take_one_cell() -> None:
    from rich.cells import cell_len

    assert all(cell_len(sign) == 1 for sign in safe._ONE_CELL)
    assert safe.width("✓ opens … ▲") == 11 and safe.width("✓ 潮") == 4
