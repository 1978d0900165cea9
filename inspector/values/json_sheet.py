"""A JSON document as a tree that opens as far as a person opens it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from inspector import formats, safe
from inspector.typeset.json_text import json_run
from inspector.typeset.lines import Line, Run, fold, line_width, visible, wrap
from inspector.values.document import Node, Number, Object, Odd
from inspector.values.sheet import FINDS

__all__ = ["JsonSheet", "TreeRow"]

BATCH = 500  # members that come at once
OPENED = 200  # rows opened at the start
DEEP = 60  # levels drawn with their indent
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(slots=True)
class TreeRow:
    """A node in sight: `key` is its name, its place in a list, or None for the document.

    `rest` is set on the row that stands for members not shown yet: where they begin.
    """

    node: Node
    key: str | int | None
    depth: int
    parent: TreeRow | None
    twice: bool = False  # its object has this key more than once
    open: bool = False
    rest: int | None = None

    @property
    def opens(self) -> bool:
        return isinstance(self.node, list) and bool(self.node)

    @property
    def path(self) -> str:
        """`$.a[3]["b c"]`, as tools that query JSON take it."""
        steps: list[str] = []
        row: TreeRow | None = self
        while row is not None and row.key is not None:
            if isinstance(row.key, int):
                steps.append(f"[{row.key}]")
            elif _NAME.match(row.key):
                steps.append(f".{row.key}")
            else:
                quoted = row.key.replace("\\", "\\\\").replace('"', '\\"')
                steps.append(f'["{quoted}"]')
            row = row.parent
        return "$" + "".join(reversed(steps))


class JsonSheet:
    """The rows in sight of one document, the document itself first."""

    def __init__(self, document: Node) -> None:
        self.document = document
        self.rows: list[TreeRow] = [TreeRow(document, None, 0, None)]
        self._said = _says(document)
        self._open_first()

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def says(self) -> str:
        return self._said

    def _open_first(self) -> None:
        """Opens from the top, level by level, while it stays a page or two."""
        waiting = [self.rows[0]]
        while waiting:
            row = waiting.pop(0)
            size = len(row.node) if isinstance(row.node, list) else 0
            if row.opens and (len(self.rows) + min(size, BATCH) <= OPENED or row.parent is None):
                at = self.rows.index(row)
                self.open(at)
                waiting += self.rows[at + 1 : at + 1 + min(size, BATCH)]

    # -- opening and closing -----------------------------------------------------------------------

    def toggle(self, index: int) -> None:
        """Opens or closes a row: a list, an object, a long text, or the row of members not shown yet."""
        row = self.rows[index]
        if row.rest is not None:
            assert row.parent is not None
            self.rows[index : index + 1] = _members(row.parent, row.rest)
        elif row.open:
            self.close(index)
        else:
            self.open(index)

    def open(self, index: int) -> None:
        row = self.rows[index]
        if not row.open and row.rest is None:
            row.open = True
            if row.opens:
                self.rows[index + 1 : index + 1] = _members(row, 0)

    def close(self, index: int) -> None:
        row = self.rows[index]
        if row.open:
            row.open = False
            last = index + 1
            while last < len(self.rows) and self.rows[last].depth > row.depth:
                last += 1
            del self.rows[index + 1 : last]

    def open_below(self, index: int) -> None:
        """Opens everything under a row, as far as `FINDS` rows."""
        depth, at = self.rows[index].depth, index
        while at < len(self.rows) and (at == index or self.rows[at].depth > depth):
            if self.rows[at].opens and len(self.rows) < FINDS:
                self.open(at)
            at += 1

    def parent_of(self, index: int) -> int | None:
        parent = self.rows[index].parent
        return None if parent is None else self.rows.index(parent)

    # -- drawing --------------------------------------------------------------------------------------

    def lines(self, index: int, width: int) -> Sequence[Line]:
        row = self.rows[index]
        indent = Run("  " * min(row.depth, DEEP, max(0, width // 4)))
        if row.rest is not None:
            assert row.parent is not None
            left = len(row.parent.node) - row.rest if isinstance(row.parent.node, list) else 0
            return [(indent, Run(f"  … {formats.count(left)} more, enter shows some", "quiet"))]
        head: list[Run] = [indent, Run(("▾ " if row.open else "▸ ") if row.opens else "  ", "quiet")]
        if isinstance(row.key, int):
            head.append(Run(f"{row.key}  ", "quiet"))
        elif row.key is not None:
            head += [Run(safe.text(row.key, limit=200), "json-key"), Run(": ", "quiet")]
        if row.twice:
            head.append(Run("▲ twice ", "notice"))
        if row.open and isinstance(row.node, str) and not isinstance(row.node, Number | Odd):
            return _whole(head, row.node, width)
        value = _brief(row.node, row.open)
        room = max(1, width - line_width(head))
        return [(*head, *(Run(safe.clip(run.text, room), run.role) for run in value))]

    def find(self, needle: str) -> list[int]:
        """Rows in sight that have it in their key or value."""
        wanted = needle.casefold()
        found: list[int] = []
        for index, row in enumerate(self.rows):
            key = "" if row.key is None else str(row.key)
            value = row.node if isinstance(row.node, str) else ""
            if wanted and (wanted in key.casefold() or wanted in value.casefold()):
                found.append(index)
                if len(found) >= FINDS:
                    break
        return found


def _members(row: TreeRow, first: int) -> list[TreeRow]:
    node = row.node
    if isinstance(node, Object):
        twice = node.duplicates()
        out = [
            TreeRow(value, key, row.depth + 1, row, twice=key in twice)
            for key, value in node[first : first + BATCH]
        ]
    elif isinstance(node, list):
        out = [
            TreeRow(value, first + at, row.depth + 1, row)
            for at, value in enumerate(node[first : first + BATCH])
        ]
    else:
        return []
    if first + BATCH < len(node):
        out.append(TreeRow(None, None, row.depth + 1, row, rest=first + BATCH))
    return out


def _brief(node: Node, opened: bool) -> list[Run]:
    match node:
        case Object():
            words = formats.several(len(node), "member")
            return [Run("{ }" if not node else "{" if opened else f"{{ {words} }}", "quiet")]
        case list():
            words = formats.several(len(node), "item")
            return [Run("[ ]" if not node else "[" if opened else f"[ {words} ]", "quiet")]
        case Odd():
            return [Run(f"▲ {node}, which JSON does not have", "notice")]
        case Number():
            return [Run(safe.text(node), "json-number")]
        case _:
            return [json_run(node)]


def _whole(head: list[Run], text: str, width: int) -> list[Line]:
    """A text opened: all of it, under its key."""
    indent = Run(" " * min(line_width(head[:2]) + 2, max(0, width // 2)))
    room = max(4, width - line_width([indent]))
    shown = visible(text, limit=20_000)
    cut = wrap if " " in shown[:200] else fold
    return [tuple(head), *((indent, *line) for line in cut([Run(shown, "json-text")], room))]


def _says(document: Node) -> str:
    match document:
        case Object():
            return f"JSON, {formats.several(len(document), 'member')}"
        case list():
            return f"JSON, {formats.several(len(document), 'item')}"
        case _:
            return "JSON, one value"
