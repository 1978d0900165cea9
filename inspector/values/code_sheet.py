"""An authored text with its parts set off (headings, keys, strings); plain where that would take too long.

The text is made visible first and highlighted then, so that a highlighter never sees a control character and
nothing it answers is taken for anything but a stretch of that text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.highlight import HighlightTheme, highlight

from inspector import formats, safe
from inspector.typeset.lines import Line, Run, fold, prefixed, visible, wrap
from inspector.values.sheet import FINDS

__all__ = ["LONGEST", "CodeSheet", "language_of"]

LONGEST = 100_000
"""Characters of a text that is highlighted."""
_ENDINGS = {
    "md": "markdown", "markdown": "markdown", "yaml": "yaml", "yml": "yaml", "json": "json", "toml": "toml",
    "py": "python",
}  # fmt: skip


class _Roles(HighlightTheme):
    """Pygments' kinds of token to roles of ours; the style of a span is then a role, never a colour."""

    STYLES: dict[Any, str] = {  # noqa: RUF012 (as its base class has it)
        ("Comment",): "quiet",
        ("Keyword",): "accent",
        ("Keyword", "Constant"): "json-word",
        ("Literal", "Number"): "json-number",
        ("Literal", "String"): "code",
        ("Literal", "Scalar"): "code",
        ("Name", "Tag"): "accent",
        ("Name", "Attribute"): "accent",
        ("Name", "Function"): "strong",
        ("Generic", "Heading"): "strong",
        ("Generic", "Subheading"): "strong",
        ("Generic", "Strong"): "bold",
        ("Generic", "Emph"): "em",
        ("Punctuation",): "quiet",
    }


def language_of(path: object, kind: object) -> str:
    """What a definition is written in: its path's ending says so, otherwise its kind does."""
    ending = path.rpartition(".")[2].lower() if isinstance(path, str) else ""
    return _ENDINGS.get(ending, "yaml" if kind == "playbook" else "markdown")


class CodeSheet:
    """See `Sheet`. Building one highlights: do it on a thread."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.plain = len(text) > LONGEST
        shown = visible(text, limit=len(text) + 1)
        self._lines = shown.split("\n")
        if len(self._lines) > 1 and not self._lines[-1]:
            self._lines.pop()
        self._runs = None if self.plain else _highlighted(shown, language)
        self._gutter = len(str(len(self._lines)))

    @property
    def count(self) -> int:
        return len(self._lines)

    @property
    def says(self) -> str:
        return formats.several(len(self._lines), "line")

    def lines(self, index: int, width: int) -> Sequence[Line]:
        room = max(4, width - self._gutter - 2)
        text = self._lines[index]
        runs = self._runs[index] if self._runs is not None and index < len(self._runs) else (Run(text),)
        cut = wrap if " " in text[:200] else fold
        number = Run(f"{index + 1:>{self._gutter}}  ", "quiet")
        return prefixed(Run(" " * (self._gutter + 2)), cut(runs, room) or [()], first=number)

    def find(self, needle: str) -> list[int]:
        wanted = safe.text(needle).casefold()
        found = [at for at, line in enumerate(self._lines) if wanted and wanted in line.casefold()]
        return found[:FINDS]


def _highlighted(shown: str, language: str) -> list[Line]:
    out: list[Line] = []
    body = shown
    if language == "markdown" and shown.startswith("---\n") and (end := shown.find("\n---", 4)) > 0:
        # The settings before a text are YAML, which Markdown would take for rules and headings.
        end = shown.find("\n", end + 1)
        end = len(shown) if end < 0 else end
        out, body = _lines_of(shown[:end], "yaml"), shown[end + 1 :]
    return out + _lines_of(body, language)


def _lines_of(text: str, language: str) -> list[Line]:
    found = highlight(text, language=language, theme=_Roles)
    lines = text.split("\n")
    roles: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    at = 0
    for start, end, style in found.spans:
        if not isinstance(style, str) or style.startswith("$"):
            continue
        while at + 1 < len(lines) and starts[at + 1] <= start:
            at += 1
        place = at
        while place < len(lines) and starts[place] < end:
            first, last = max(start, starts[place]), min(end, starts[place] + len(lines[place]))
            if last > first:
                roles[place].append((first - starts[place], last - starts[place], style))
            place += 1
    return [_runs_of(line, spans) for line, spans in zip(lines, roles, strict=True)]


def _runs_of(line: str, spans: list[tuple[int, int, str]]) -> Line:
    out: list[Run] = []
    at = 0
    for start, end, role in spans:
        if start > at:
            out.append(Run(line[at:start], "plain"))
        out.append(Run(line[start:end], role))
        at = end
    if at < len(line) or not out:
        out.append(Run(line[at:], "plain"))
    return tuple(out)
