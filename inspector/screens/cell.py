"""One value of the store, whole: as text, as a JSON tree, in hexadecimal, as Markdown.

    self.app.push_screen(CellScreen("content", held, kind=column.kind, whole=read_it))

What is held of the value (its head) is shown at once. The whole of it is read by itself up to a megabyte;
a larger one waits to be asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.loader import Loader
from inspector.messages import Loaded, LoadFailed
from inspector.screens.layer import Layer, keys_hint
from inspector.typeset.lines import line
from inspector.values import document
from inspector.values.hex_sheet import HexSheet
from inspector.values.json_sheet import JsonSheet
from inspector.values.markdown_sheet import LONGEST as MARKDOWN_LONGEST
from inspector.values.markdown_sheet import MarkdownSheet
from inspector.values.sheet import Sheet
from inspector.values.text_sheet import TextSheet
from inspector.widgets.pieces import Piece, PieceLine
from inspector.widgets.tall_list import TallList
from inspector.widgets.value_view import ValueView
from persistence.records import Cell, ColumnKind, Preview

if TYPE_CHECKING:
    from inspector.app import InspectorApp

__all__ = ["CellScreen"]

ASKS = 1_000_000
"""Bytes; a larger value is read whole only when a person asks for it."""
VIEWS = {"text": "text", "json": "JSON", "markdown": "Markdown", "hex": "hex"}


class CellScreen(Layer[None]):
    """`name` says what it is (a column's name); `whole` reads all of it and may raise StoreError."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("cell.find", "slash,ctrl+f", "find", "find", "Find text in the value"),
        bind("cell.next", "n", "found(1)", "next", "The next place it was found", show=False),
        bind("cell.before", "N", "found(-1)", "before", "The place before", show=False),
        bind("cell.view", "v", "view", "view", "Text, JSON, Markdown, hexadecimal"),
        bind("cell.all", "a", "all", "all of it", "Read all of a large value"),
        bind("cell.copy", "y", "copy", "copy", "Copy the value, whole and exact"),
        bind("cell.copy_part", "Y", "copy_part", "copy part", "Copy the part of the tree the cursor is on",
             show=False),
        bind("cell.copy_path", "p", "copy_path", "copy path", "Copy where in the tree this is", show=False),
        bind("cell.save", "e", "save", "save", "Write the value to a file, byte for byte"),
    ]  # fmt: skip

    def __init__(
        self,
        name: str,
        held: Cell,
        *,
        kind: ColumnKind = "any",
        whole: Callable[[], Awaitable[Cell]] | None = None,
    ) -> None:
        super().__init__(id="cell-screen")
        self._label = safe.text(name, limit=120)
        self._held = held
        self._kind = kind
        self._whole = whole
        self._loads = Loader(self)
        self._view = ""
        self._broken: document.Broken | None = None
        self._document: document.Node = None
        self._said: tuple[str, str] | None = None
        self.heading = Content.styled(self._label, ".heading")
        self.hint = keys_hint(("/", "find"), ("v", "view"), ("y", "copy"), ("e", "save"), ("esc", "close"))

    def compose_layer(self) -> ComposeResult:
        yield PieceLine(id="cell-line")
        yield ValueView(id="value")
        find = Input(placeholder="find", id="cell-find")
        find.display = False
        yield find

    @property
    def value_view(self) -> ValueView:
        return self.query_one("#value", ValueView)

    def on_mount(self) -> None:
        self.value_view.focus()
        self._take(self._held)
        if isinstance(self._held, Preview) and self._whole is not None and self._held.size <= ASKS:
            self.action_all()

    # -- the value -----------------------------------------------------------------------------------

    def _take(self, value: Cell) -> None:
        """Shows what is known of the value, in the view that fits it."""
        self._held, self._document, self._broken = value, None, None
        body = _body(value)
        if isinstance(body, bytes):
            self._show("hex")
            return
        self._show("text")
        looks = body.lstrip()[:1]
        if isinstance(value, str) and (self._kind == "json" or looks in ("{", "[")):
            self._loads.start("document", lambda: asyncio.to_thread(document.read, body))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self._loads.takes(message):
            return
        if message.what == "whole":
            self._said = None
            self._take(message.value)
        elif message.what == "document":
            self._document_read(message.value)
        elif message.what == "find":
            needle, found = message.value
            self.value_view.mark(needle, found)
            self._tell()

    def _document_read(self, found: document.Node | document.Broken) -> None:
        if not isinstance(found, document.Broken):
            self._document = found
            self._show("json")
            return
        self._broken = found
        sheet = self.value_view.sheet
        if self._kind == "json" and isinstance(sheet, TextSheet):
            self.value_view.go_to(sheet.entry_at(found.position))
        self._tell()

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self._loads.takes(message):
            self._said = f"✗ {safe.text(message.error.message, limit=200)}", "refuse"
            self._tell()

    def action_all(self) -> None:
        if self._whole is not None and isinstance(self._held, Preview):
            self._said = "reading all of it …", "quiet"
            self._tell()
            self._loads.start("whole", self._whole)

    # -- views -----------------------------------------------------------------------------------------

    @property
    def _views(self) -> list[str]:
        body = _body(self._held)
        if isinstance(body, bytes):
            return ["hex", "text"]
        views = ["text", "hex"]
        if self._document is not None:
            views.insert(0, "json")
        if len(body) <= MARKDOWN_LONGEST and isinstance(self._held, str):
            views.insert(-1, "markdown")
        return views

    def action_view(self, view: str = "") -> None:
        """The next view of those there are, or the one asked for."""
        views = self._views
        at = views.index(self._view) if self._view in views else -1
        self._show(view if view in views else views[(at + 1) % len(views)])

    def _show(self, view: str) -> None:
        self._view = view
        self.value_view.show(self._sheet(view))
        self._tell()

    def _sheet(self, view: str) -> Sheet:
        body = _body(self._held)
        cut = isinstance(self._held, Preview)
        if view == "json":
            return JsonSheet(self._document)
        if view == "hex":
            data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogateescape")
            return HexSheet(data, size=self._held.size if isinstance(self._held, Preview) else None)
        text = body.decode("utf-8", "surrogateescape") if isinstance(body, bytes) else body
        return MarkdownSheet(text) if view == "markdown" else TextSheet(text, cut=cut)

    @on(TallList.Moved)
    def _tell(self) -> None:
        """The line over the value: its views, what it is, and what there is to know."""
        if not self.is_mounted:
            return
        pieces = []
        for view in self._views:
            words = line((f" {VIEWS[view]} ", "here" if view == self._view else "quiet"))
            pieces.append(Piece(words, f"screen.view('{view}')", weight=9, gap=0))
        sheet = self.value_view.sheet
        if sheet is not None:
            pieces.append(Piece(line((sheet.says, "quiet")), weight=5))
        pieces += [Piece(line(note), weight=7) for note in self._notes()]
        self.query_one("#cell-line", PieceLine).show(pieces)
        self.refresh_bindings()

    def _notes(self) -> Iterator[tuple[str, str]]:
        """What there is to know besides, with its role."""
        held, view = self._held, self.value_view
        if self._said is not None:
            yield self._said
        elif isinstance(held, Preview):
            more = ", a reads all" if self._whole is not None else ""
            yield f"▲ the first part of {formats.size(held.size)}{more}", "notice"
        if self._broken is not None and self._kind == "json":
            at = self._broken
            yield f"✗ not JSON: {at.why}, line {at.line}, column {at.column}", "refuse"
        if view.needle:
            at_hit = view.found.index(view.cursor) + 1 if view.cursor in view.found else 0
            said = f"{at_hit} of {formats.count(len(view.found))}" if view.found else "not found"
            yield f" {safe.clip(safe.text(view.needle), 20)}: {said} ", "found" if view.found else "notice"
        if self._view == "json" and isinstance(view.sheet, JsonSheet) and view.count:
            yield safe.clip(safe.text(view.sheet.rows[view.cursor].path), 60), "code"

    # -- finding -----------------------------------------------------------------------------------------

    def action_find(self) -> None:
        find = self.query_one("#cell-find", Input)
        find.display = True
        find.focus()

    @on(Input.Submitted, "#cell-find")
    def _find(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave_find()
        sheet, needle = self.value_view.sheet, event.value
        if sheet is None or not needle:
            self.value_view.mark("", [])
            self._tell()
        elif isinstance(sheet, JsonSheet):  # its rows change under a thread's hands
            self.value_view.mark(needle, sheet.find(needle))
            self._tell()
        else:

            async def work() -> tuple[str, list[int]]:
                return needle, await asyncio.to_thread(sheet.find, needle)

            self._loads.start("find", work)

    def _leave_find(self) -> None:
        self.query_one("#cell-find", Input).display = False
        self.value_view.focus()

    def action_found(self, step: int) -> None:
        if not self.value_view.next_found(step):
            self.action_find()

    def action_close(self) -> None:
        if self.query_one("#cell-find", Input).display:
            self._leave_find()
        elif self._loads.cancel("whole"):
            self._said = None
            self._tell()
        else:
            self._loads.cancel_all()
            self.dismiss(None)

    # -- taking it away ------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("copy_part", "copy_path"):
            return self._view == "json"
        if action == "all":
            return self._whole is not None and isinstance(self._held, Preview)
        return True

    @property
    def _inspector(self) -> InspectorApp:
        return cast("InspectorApp", self.app)

    @property
    def _part(self) -> str:
        return " (its first part)" if isinstance(self._held, Preview) else ""

    def action_copy(self) -> None:
        as_hex = ", as hexadecimal" if isinstance(_body(self._held), bytes) else ""
        self._inspector.clip(Copy(f"{self._label}{self._part}{as_hex}", safe.exact(self._held)))

    def action_copy_part(self) -> None:
        sheet = self.value_view.sheet
        if isinstance(sheet, JsonSheet):
            row = sheet.rows[self.value_view.cursor]
            try:
                text = document.written(row.node)
            except RecursionError:
                self.app.notify("too deep to be copied; y copies the whole value", markup=False)
                return
            self._inspector.clip(Copy(safe.text(row.path, limit=80), text, ".json"))

    def action_copy_path(self) -> None:
        sheet = self.value_view.sheet
        if isinstance(sheet, JsonSheet):
            self._inspector.clip(Copy("the path", sheet.rows[self.value_view.cursor].path))

    def action_save(self) -> None:
        """Byte for byte: what was no UTF-8 passes the writer as surrogates and comes out as it was."""
        body = _body(self._held)
        text = body.decode("utf-8", "surrogateescape") if isinstance(body, bytes) else body

        async def pieces() -> AsyncIterator[str]:
            for start in range(0, len(text), 1 << 20):
                yield text[start : start + (1 << 20)]

        what = f"{self._label}{self._part}, byte for byte"
        self._inspector.export(Exportable(what, self._label, texts={"text": pieces}))


def _body(value: Cell) -> str | bytes:
    """What can be shown of a value: a text or bytes."""
    match value:
        case str() | bytes():
            return value
        case Preview():
            return value.head
        case _:
            return safe.cell(value)
