"""The line on which each key of a TOML text stands, for errors that say where.

`tomllib` tells the line of what is no TOML, and nothing of where a value it read came from. This reads the
same text again for its keys alone (https://toml.io/en/v1.0.0), so it is only asked about text `tomllib` took.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress
from typing import TypeAlias

__all__ = ["KeyPath", "line_of", "lines_of"]

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""Keys from the top down; a number is a position in an array, counted from 0."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(r"[^\s,#\]}]+(?:[ \t]\d[^\s,#\]}]*)?")  # a number, a truth value, a date and its time
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ENDS = {
    '"""': re.compile(r'(?:[^"\\]|\\.|"{1,2}(?!"))*?"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']|'{1,2}(?!'))*?'{3,5}", re.DOTALL),
    '"': re.compile(r'(?:[^"\\\n]|\\.)*"'),
    "'": re.compile(r"[^'\n]*'"),
}
_CONTROLS = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}


def lines_of(text: str) -> dict[KeyPath, int]:
    """Every key, table and array element of `text` with the line it begins on, counted from 1.

    Of text that is no TOML the lines up to where it stops making sense.
    """
    scan = _Scan(text)
    with suppress(_Lost, IndexError):
        scan.run()
    return scan.found


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """The line of `path`, or of the nearest that stands around it."""
    for end in range(len(path), 0, -1):
        if (line := lines.get(path[:end])) is not None:
            return line
    return None


class _Lost(Exception):
    """The text is not TOML here."""


class _Scan:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self.found: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}  # arrays of tables: how many there are so far

    def run(self) -> None:
        table: KeyPath = ()
        while self._skip():
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise _Lost
        self._at = match.end()
        return match

    def _skip(self) -> bool:
        """Past blanks, line breaks and comments; whether anything is left."""
        self._take(_BLANK)
        return self._at < len(self._text)

    def _note(self, path: KeyPath, at: int) -> None:
        self.found.setdefault(path, bisect_right(self._breaks, at - 1) + 1)

    def _header(self, brackets: int) -> KeyPath:
        start = self._at
        self._at += brackets
        path: KeyPath = ()
        names = self._key()
        for number, name in enumerate(names):
            path = (*path, name)
            last = number == len(names) - 1
            if last and brackets == 2:
                self._note(path, start)
                count = self._counts.get(path, 0)
                self._counts[path] = count + 1
                path = (*path, count)
            elif path in self._counts:
                path = (*path, self._counts[path] - 1)
            self._note(path, start)
        self._at += brackets
        return path

    def _key(self) -> list[str]:
        """A dotted key; the place is then on what follows it."""
        names = []
        while True:
            self._skip()
            if self._text[self._at] in "\"'":
                names.append(self._string())
            else:
                names.append(self._take(_BARE).group())
            self._skip()
            if self._text[self._at] != ".":
                return names
            self._at += 1

    def _pair(self, table: KeyPath) -> None:
        start = self._at
        path = table
        for name in self._key():
            path = (*path, name)
            self._note(path, start)
        self._at += 1  # the equals sign
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip()
        sign = self._text[self._at]
        if sign == "[":
            self._at += 1
            number = 0
            while self._skip() and self._text[self._at] != "]":
                self._note((*path, number), self._at)
                self._value((*path, number))
                number += 1
                self._comma()
            self._at += 1
        elif sign == "{":
            self._at += 1
            while self._skip() and self._text[self._at] != "}":
                self._pair(path)
                self._comma()
            self._at += 1
        elif sign in "\"'":
            self._string()
        else:
            self._take(_WORD)

    def _comma(self) -> None:
        if self._skip() and self._text[self._at] == ",":
            self._at += 1

    def _string(self) -> str:
        quote = self._text[self._at]
        opening = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        self._at += len(opening)
        inner = self._take(_ENDS[opening]).group()[: -len(opening)]
        return _ESCAPE.sub(_unescaped, inner) if quote == '"' else inner


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return _CONTROLS.get(match[3], match[3])
