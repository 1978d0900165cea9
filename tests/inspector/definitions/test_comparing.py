"""Comparing: lines lined up, words marked, the unified form that tools take, and its bounds."""

from __future__ import annotations

import difflib
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.comparing import Comparison, NotCompared, compare, unified
from inspector.values.code_sheet import LONGEST, CodeSheet
from inspector.values.diff_sheet import DiffSheet

TEXTS = st.lists(st.sampled_from(["", "a", "b c", "b d", "  b c", "long line of words"]), max_size=12)


@given(old=TEXTS, new=TEXTS)
@settings(max_examples=120, deadline=None)
def test_both_texts_can_be_put_together_again(old: list[str], new: list[str]) -> None:
    found = compare("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    assert isinstance(found, Comparison)
    assert [line.old for line in found.lines if line.old_number is not None] == old
    assert [line.new for line in found.lines if line.new_number is not None] == new
    assert [n for line in found.lines if (n := line.new_number)] == list(range(1, len(new) + 1))
    assert found.same == (old == new)
    for line in found.lines:
        assert line.sort != "same" or line.old == line.new


def test_the_words_that_differ_are_marked() -> None:
    found = compare("the tide of one port\n", "the tide of both ports\n")
    assert isinstance(found, Comparison)
    (line,) = found.lines
    assert [line.old[a:b] for a, b in line.old_marks] == ["one", "port"]
    assert [line.new[a:b] for a, b in line.new_marks] == ["both", "ports"]


def test_unified_is_what_everybody_writes() -> None:
    old = [f"line {n}" for n in range(40)]
    new = [*old[:3], "other", *old[4:30], "more", *old[30:]]
    found = compare("\n".join(old), "\n".join(new))
    assert isinstance(found, Comparison)
    assert list(unified(found, "a", "b")) == list(difflib.unified_diff(old, new, "a", "b", lineterm=""))


def test_line_ends_alone_are_no_changed_lines() -> None:
    found = compare("a\r\nb\r\n", "a\nb")
    assert isinstance(found, Comparison) and found.same and found.endings


def test_too_much_is_refused_with_sizes_and_given_up_when_told() -> None:
    long = compare("x" * 3_000_000, "y")
    assert isinstance(long, NotCompared) and "MB" in long.why and "too large" in long.why
    many = compare("x\n" * 30_000, "y")
    assert isinstance(many, NotCompared) and "30,001 lines" in many.why
    told = compare("a\nb\n", "c\nd\n", cancelled=lambda: True)
    assert isinstance(told, NotCompared) and "too different" in told.why


def test_a_slow_comparison_is_given_up() -> None:
    chance = random.Random(1)
    words = [[str(chance.randrange(900)) for _ in range(9_000)] for _ in range(2)]
    found = compare("\n".join(words[0]), "\n".join(words[1]), seconds=0.05)
    assert isinstance(found, NotCompared) and "9,000 lines" in found.why


def test_sheets_show_only_what_is_safe() -> None:
    evil = "a \x1b[31m\u202ex\n"
    found = compare(evil, evil + "b\x07\n")
    assert isinstance(found, Comparison)
    for sheet in (DiffSheet(found, beside=True), DiffSheet(found, beside=False), CodeSheet(evil, "yaml")):
        for at in range(sheet.count):
            for line in sheet.lines(at, 40):
                assert all(run.text.isprintable() for run in line)
    assert DiffSheet(found, beside=False).find("B") == [1]


def test_settings_before_a_text_are_yaml_and_a_long_text_is_plain() -> None:
    sheet = CodeSheet("---\nname: x\n---\n# Head\n", "markdown")
    assert [run.role for run in sheet.lines(1, 40)[0]][1] == "accent"
    assert sheet.lines(3, 40)[0][1].role == "strong"
    long = CodeSheet("# x\n" * (LONGEST // 2), "markdown")
    assert long.plain and long.lines(0, 40)[0][1].text == "# x"
