"""Shows one sheet: a text, a JSON tree, bytes or Markdown; only the lines in sight are ever made."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding

from inspector import safe
from inspector.keys import bind
from inspector.typeset.lines import Line, Run
from inspector.values.json_sheet import JsonSheet
from inspector.values.markdown_sheet import MarkdownSheet
from inspector.values.sheet import Sheet
from inspector.values.text_sheet import TextSheet
from inspector.widgets.tall_list import TallList

__all__ = ["ValueView"]

KEPT = 2_000  # entries whose lines are kept
SIDE = 16  # characters a step sideways


class ValueView(TallList):
    """`show` a sheet; `find` and `next_found` move through what was searched for."""

    TYPICAL = 1

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("value.wrap", "w", "wrap", "wrap", "Wrap long lines, or cut them at the edge", show=False),
        bind("value.left", "left,h", "side(-1)", "left", "To the left; in a tree: close, or to the parent",
             show=False),
        bind("value.right", "right,l", "side(1)", "right", "To the right; in a tree: open", show=False),
        bind("value.fold", "enter", "fold", "open", "Open or close a part of the tree", show=False),
        bind("value.open_below", "asterisk", "open_below", "open all", "Open everything below", show=False),
    ]  # fmt: skip

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.sheet: Sheet | None = None
        self.needle = ""
        self.found: list[int] = []
        self._laid_out: OrderedDict[int, Sequence[Line]] = OrderedDict()

    def show(self, sheet: Sheet) -> None:
        """Shows a sheet from its beginning."""
        self.sheet = sheet
        self.needle, self.found = "", []
        self.set_class(isinstance(sheet, TextSheet | MarkdownSheet), "-reading")
        self.redraw(keep=False)

    def redraw(self, *, keep: bool = True) -> None:
        """The sheet changed: what was laid out of it no longer holds."""
        self._laid_out.clear()
        sheet = self.sheet
        if isinstance(sheet, MarkdownSheet):
            sheet.set_width(self.room)
        self.set_count(0 if sheet is None else sheet.count, keep=keep)
        self.post_message(self.Moved(self))

    def restyle(self) -> None:
        self._laid_out.clear()
        if isinstance(self.sheet, MarkdownSheet):
            self.sheet.set_width(self.room)
            self.count = self.sheet.count

    def lines_of(self, index: int) -> Sequence[Line] | None:
        if self.sheet is None:
            return None
        lines = self._laid_out.get(index)
        if lines is None:
            lines = self.sheet.lines(index, self.room)
            if self.needle:
                lines = [_marked(line, self.needle) for line in lines]
            self._laid_out[index] = lines
            while len(self._laid_out) > KEPT:
                self._laid_out.popitem(last=False)
        return lines

    # -- finding -----------------------------------------------------------------------------------

    def mark(self, needle: str, found: list[int]) -> None:
        """Marks a searched text, found in these entries, and goes to the first from here on."""
        self.needle, self.found = needle, found
        self._laid_out.clear()
        self.settle()
        if found:
            self.go_to(next((at for at in found if at >= self.cursor), found[0]))

    def next_found(self, step: int) -> bool:
        """To the next (the one before); around the end. False when nothing was found."""
        if not self.found:
            return False
        if step > 0:
            target = next((at for at in self.found if at > self.cursor), self.found[0])
        else:
            target = next((at for at in reversed(self.found) if at < self.cursor), self.found[-1])
        self.go_to(target)
        return True

    # -- keys ---------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        tree = isinstance(self.sheet, JsonSheet)
        if action in ("fold", "open_below"):
            return tree
        if action == "open":
            return False
        if action == "wrap":
            return isinstance(self.sheet, TextSheet)
        return True

    def action_wrap(self) -> None:
        if isinstance(self.sheet, TextSheet):
            self.sheet.wrapped = not self.sheet.wrapped
            self.sheet.skipped = 0
            self.redraw()

    def action_fold(self) -> None:
        if isinstance(self.sheet, JsonSheet) and self.count:
            self.sheet.toggle(self.cursor)
            self._tree_changed()

    def action_open_below(self) -> None:
        if isinstance(self.sheet, JsonSheet) and self.count:
            self.sheet.open_below(self.cursor)
            self._tree_changed()

    def action_side(self, step: int) -> None:
        sheet = self.sheet
        if isinstance(sheet, TextSheet) and not sheet.wrapped:
            sheet.skipped = max(0, sheet.skipped + step * SIDE)
            self.redraw()
        elif isinstance(sheet, JsonSheet) and self.count:
            row = sheet.rows[self.cursor]
            if step > 0 and not row.open:
                sheet.toggle(self.cursor)
            elif step < 0 and row.open:
                sheet.close(self.cursor)
            elif step < 0:
                parent = sheet.parent_of(self.cursor)
                if parent is not None:
                    self.go_to(parent)
            self._tree_changed()

    def _tree_changed(self) -> None:
        if self.needle and self.sheet is not None:
            self.found = self.sheet.find(self.needle)
        self.redraw()


def _marked(line: Line, needle: str) -> Line:
    """The line with what was searched for standing out."""
    wanted = safe.text(needle).casefold()
    out: list[Run] = []
    for run in line:
        folded = run.text.casefold()
        if not wanted or wanted not in folded or len(folded) != len(run.text):
            out.append(run)
            continue
        start = 0
        while (at := folded.find(wanted, start)) >= 0:
            if at > start:
                out.append(Run(run.text[start:at], run.role))
            out.append(Run(run.text[at : at + len(wanted)], "found"))
            start = at + len(wanted)
        if start < len(run.text):
            out.append(Run(run.text[start:], run.role))
    return tuple(out)
