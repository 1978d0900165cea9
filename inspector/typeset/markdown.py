"""Markdown for reading in a terminal: headings, lists, quotes, code, tables; nothing in it is a link.

Line breaks are kept as they were written (people and models mean them). HTML is text. What a parser makes of
stored text is only ever words with roles.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from inspector.typeset.lines import Line, Run, fold, line_width, prefixed, visible, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["markdown_lines"]

LONGEST = 60_000
"""Characters that are parsed; a longer text is shown as it is (a parser takes a second a megabyte)."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("entity")


def markdown_lines(text: str, width: int) -> list[Line]:
    """The text as lines of at most `width` cells."""
    shown = visible(text)
    if len(shown) > LONGEST:
        return wrap([Run(shown)], width)
    blocks = _Blocks(max(8, width))
    blocks.read(_parser().parse(shown))
    return blocks.lines or [()]


class _Blocks:
    """Reads a token stream into lines; a stack of containers says what stands before each line."""

    def __init__(self, width: int) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._prefix: list[Run] = []
        self._marker: Run | None = None  # replaces the last prefix on the next line
        self._counters: list[int | None] = []
        self._tight = 0
        self._heading = 0
        self._rows: list[list[list[Run]]] | None = None

    def read(self, tokens: list[Token]) -> None:
        for token in tokens:
            handler = getattr(self, f"_{token.type}", None)
            if handler is not None:
                handler(token)

    # -- containers ------------------------------------------------------------------------------------

    def _blockquote_open(self, _token: Token) -> None:
        self._gap()
        self._prefix.append(Run("▌ ", "quiet"))

    def _blockquote_close(self, _token: Token) -> None:
        self._prefix.pop()

    def _bullet_list_open(self, _token: Token) -> None:
        self._open_list(None)

    def _ordered_list_open(self, token: Token) -> None:
        start = token.attrs.get("start", 1)
        self._open_list(int(start))

    def _open_list(self, start: int | None) -> None:
        if not self._counters:
            self._gap()
        self._counters.append(start)

    def _close_list(self, _token: Token) -> None:
        self._counters.pop()

    _bullet_list_close = _ordered_list_close = _close_list

    def _list_item_open(self, _token: Token) -> None:
        count = self._counters[-1]
        bullet = "•" if count is None else f"{count}."
        if count is not None:
            self._counters[-1] = count + 1
        self._prefix.append(Run(" " * (len(bullet) + 1)))
        self._marker = Run(f"{bullet} ", "accent")

    def _list_item_close(self, _token: Token) -> None:
        if self._marker is not None:
            self._put([()])
        self._prefix.pop()

    # -- blocks ------------------------------------------------------------------------------------------

    def _heading_open(self, token: Token) -> None:
        self._gap()
        self._heading = int(token.tag[1:] or 1)

    def _heading_close(self, _token: Token) -> None:
        self._heading = 0

    def _paragraph_open(self, token: Token) -> None:
        if not token.hidden and self._marker is None:
            self._gap()

    def _inline(self, token: Token) -> None:
        role = ("heading accent" if self._heading == 1 else "heading") if self._heading else ""
        runs = _inline_runs(token.children or [], role)
        if self._rows is not None:
            self._rows[-1].append(runs)
            return
        self._put(wrap(runs, self._room))

    def _fence(self, token: Token) -> None:
        self._code(token.content, token.info.strip().split(" ")[0])

    def _code_block(self, token: Token) -> None:
        self._code(token.content, "")

    def _code(self, text: str, language: str) -> None:
        if self._marker is None:
            self._gap()
        bar = Run("│ ", "line")
        lines = fold([Run(text.rstrip("\n"), "code")], max(4, self._room - 2))
        if language:
            lines = [(Run(language, "quiet"),), *lines]
        self._put(prefixed(bar, lines))

    def _html_block(self, token: Token) -> None:
        self._put(wrap([Run(token.content.rstrip("\n"))], self._room))

    def _hr(self, _token: Token) -> None:
        self._gap()
        self._put([(Run("─" * min(self._room, 24), "line"),)])

    # -- tables --------------------------------------------------------------------------------------------

    def _table_open(self, _token: Token) -> None:
        self._gap()
        self._rows = []

    def _tr_open(self, _token: Token) -> None:
        if self._rows is not None:
            self._rows.append([])

    def _table_close(self, _token: Token) -> None:
        rows, self._rows = self._rows or [], None
        columns = max((len(row) for row in rows), default=0)
        widths = [
            max((line_width(row[at]) for row in rows if at < len(row)), default=0) for at in range(columns)
        ]
        if sum(widths) + 3 * (columns - 1) > self._room:
            for row in rows:  # too wide for columns: one line a cell group, nothing cut off
                self._put(
                    wrap([run for cell in row for run in (*cell, Run("  ·  ", "line"))][:-1], self._room)
                )
            return
        for number, row in enumerate(rows):
            line: list[Run] = []
            for at, cell in enumerate(row):
                if at:
                    line.append(Run(" │ ", "line"))
                style = "heading" if number == 0 else ""
                line += [Run(run.text.replace("\n", " "), run.role or style) for run in cell]
                line.append(Run(" " * (widths[at] - line_width(cell))))
            self._put([tuple(line)])
            if number == 0:
                self._put([(Run("─┼─".join("─" * each for each in widths), "line"),)])

    # -- putting --------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        return max(4, self._width - line_width(self._prefix))

    def _gap(self) -> None:
        """An empty line between blocks, unless there is one, or nothing is there yet."""
        if self.lines and line_width(self.lines[-1]) and self.lines[-1] != tuple(self._prefix):
            self.lines.append(tuple(run if run.text.strip() else Run("") for run in self._prefix))

    def _put(self, lines: list[Line]) -> None:
        for line in lines:
            prefix = list(self._prefix)
            if self._marker is not None and prefix:
                prefix[-1], self._marker = self._marker, None
            self.lines.append((*prefix, *line))


def _inline_runs(tokens: list[Token], base: str) -> list[Run]:
    out: list[Run] = []
    roles: list[str] = [base] if base else []
    links: list[tuple[str, int]] = []
    for token in tokens:
        role = " ".join(roles)
        match token.type:
            case "text" | "text_special":
                out.append(Run(token.content, role))
            case "code_inline":
                out.append(Run(token.content, f"{role} code".strip()))
            case "softbreak" | "hardbreak":
                out.append(Run("\n"))
            case "strong_open":
                roles.append("bold")
            case "em_open":
                roles.append("em")
            case "s_open":
                roles.append("struck")
            case "strong_close" | "em_close" | "s_close":
                roles.pop()
            case "link_open":
                roles.append("underlined")
                links.append((str(token.attrs.get("href", "")), len(out)))
            case "link_close":
                roles.pop()
                href, start = links.pop()
                if href and "".join(run.text for run in out[start:]) != href:
                    out.append(Run(f" ({href})", "quiet"))
            case "image":
                out.append(Run(f"image: {token.content or 'without a description'} ", "quiet"))
                out.append(Run(f"({token.attrs.get('src', '')})", "quiet"))
            case _:
                out.append(Run(token.content, role))
    return out
