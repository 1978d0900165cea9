"""One definition: its versions, a version's content, what changed between two, and the file at its path."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.comparing import Comparison, NotCompared, unified
from inspector.definition_text import AgainstFile, against_file, changes, content_of, file_words
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded
from inspector.navigation import Address
from inspector.screens.definitions import ABOUT
from inspector.screens.place import Place
from inspector.typeset.lines import Line, line
from inspector.values.code_sheet import CodeSheet, language_of
from inspector.values.diff_sheet import DiffSheet
from inspector.values.sheet import Sheet
from inspector.values.text_sheet import TextSheet
from inspector.widgets.pieces import Piece, PieceLine
from inspector.widgets.tall_list import TallList
from inspector.widgets.value_view import ValueView
from inspector.widgets.version_list import VersionList
from persistence.errors import StoreError

if TYPE_CHECKING:
    from persistence.reading.page import Page
    from persistence.statedb import StateDB

__all__ = ["VIEWS", "DefinitionPlace"]

VIEWS = (("content", "content"), ("changes", "changes"), ("file", "file now"))
WIDE = 100
"""Columns from which two texts stand side by side unless asked otherwise."""
SIGNS = {"same": ("✓", "ok"), "differs": ("▲", "notice"), "gone": ("✗", "refuse")}


@dataclass(frozen=True, slots=True)
class Shown:
    """One version with its content ready to be read."""

    row: Mapping[str, Any]
    sheet: CodeSheet


async def _highlighted(db: StateDB, kind: str, name: str, version: int | None) -> Shown | None:
    """A version (None: the newest) with its content highlighted; None when it is not stored."""
    row = await db.get_definition(kind, name, version=version)
    if row is None:
        return None
    sheet = await asyncio.to_thread(CodeSheet, content_of(row), language_of(row.get("path"), row.get("kind")))
    return Shown(row, sheet)


class DefinitionPlace(Place):
    NAME = "definitions"
    AUTO_FOCUS = "#versions"
    ABOUT = ABOUT
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("definition.view", "v", "next_view", "view",
             "The content, what changed since another version, the file at its path now"),
        bind("definition.mark", "m", "mark", "mark", "Compare the others with the version under the cursor"),
        bind("definition.columns", "u", "columns", "columns", "One column or two for a comparison"),
        bind("definition.side", "tab", "side", "other side", "From the versions to the text and back",
             show=False),
    ]  # fmt: skip

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.kind, _, self.name_ = (target or "").partition("/")
        self.view = VIEWS[0][0]
        self.beside: bool | None = None  # None: as the width allows
        self._shown: Shown | None = None
        self._changes: tuple[Any, Any, Comparison | NotCompared | None] | None = None
        self._file: AgainstFile | None = None
        self._looked_at: Any = None  # the version that is shown or on its way

    def compose_body(self) -> ComposeResult:
        with Container(id="definition"):
            yield VersionList(id="versions")
            with Vertical(id="definition-text"):
                yield PieceLine(id="definition-line")
                yield PieceLine(id="definition-said")
                yield ValueView(id="definition-value")

    @property
    def versions(self) -> VersionList:
        return self.query_one("#versions", VersionList)

    @property
    def value(self) -> ValueView:
        return self.query_one("#definition-value", ValueView)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        self.loads.start("versions", lambda: self.db.list_definition_versions(self.kind, self.name_))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        match message.what:
            case "versions":
                self._take_versions(message.value)
            case "content":
                self._shown = message.value
            case "changes":
                self._changes = message.value
            case "file":
                self._file = message.value
        if message.what != "versions":
            self._draw()

    def _take_versions(self, page: Page) -> None:
        if not page:
            self.refused(
                StoreError(
                    "There is no such definition in this store.",
                    code="no-such-definition",
                    where=self.inspector.location.display if self.inspector.location else None,
                    observed=self.target,
                    remedy="Definitions (7) lists those there are.",
                )
            )
            return
        self.versions.show(page)
        self._load_view()

    def _load_view(self) -> None:
        """Has loaded what the current view shows of the version under the cursor."""
        number = self._looked_at = self.versions.number
        kind, name, db = self.kind, self.name_, self.db
        self.loads.cancel("content")
        self.loads.cancel("changes")
        self.loads.cancel("file")
        if number is None:
            return
        if self.view == "content":
            self.loads.start("content", lambda: _highlighted(db, kind, name, number))
        elif self.view == "file":
            self.loads.start("file", lambda: against_file(db, kind, name, number))
        elif (other := self.other) is None:
            self._changes = None
        else:
            old, new = sorted((other, number))
            self.loads.start("changes", lambda: changes(db, kind, name, old, new))
        self._draw()

    @property
    def other(self) -> Any:
        """The version the one under the cursor is compared with: the marked one, else the one before it."""
        number, numbers = self.versions.number, self.versions.numbers
        if self.versions.marked in numbers and self.versions.marked != number:
            return self.versions.marked
        at = numbers.index(number) if number in numbers else -1
        return numbers[at + 1] if 0 <= at < len(numbers) - 1 else None

    # -- what is shown -------------------------------------------------------------------------------

    def _draw(self) -> None:
        sheet, said = self._sheet()
        waiting = any(self.loads.running(what) for what, _ in VIEWS)
        if not waiting:
            self.value.show(sheet)
        pieces = [
            Piece(line((f" {title} ", "here" if name == self.view else "quiet")), f"screen.view('{name}')",
                  weight=0 if name == self.view else 6, gap=0)
            for name, title in VIEWS
        ]  # fmt: skip
        number = self.versions.number
        pieces.append(Piece(line((f"v{safe.cell(number)}", "strong")), weight=5))
        row = self._shown.row if self._shown is not None else None
        if row is not None and row.get("version") == number:
            path = safe.clip(safe.text(row.get("path")), 60)
            pieces.append(Piece(line((path, "code")), tip="the path it was saved with", weight=2))
        self.query_one("#definition-line", PieceLine).show(pieces)
        words = line(("reading …", "quiet")) if waiting else said
        self.query_one("#definition-said", PieceLine).show([Piece(words, weight=0)])
        status = f"{formats.several(len(self.versions.versions), 'version')}"
        self.set_status(line((status, "quiet")))
        self.refresh_shell()
        self.refresh_bindings()

    def _sheet(self) -> tuple[Sheet, Line]:
        """What stands in the text, and the line above it."""
        nothing = TextSheet("")
        if self.view == "content":
            if self._shown is None:
                return nothing, line(("this version is not stored any more", "notice"))
            row = self._shown.row
            plain = "; too long to be highlighted" if self._shown.sheet.plain else ""
            when = formats.exact_time(row.get("created_at"))
            return self._shown.sheet, line((f"saved {when}, {self._shown.sheet.says}{plain}", "quiet"))
        if self.view == "file":
            return self._file_sheet()
        if self._changes is None:
            return nothing, line(("there is no version before this one; m marks another to compare", "quiet"))
        before, after, found = self._changes
        if before is None or after is None:
            return nothing, line(("one of the versions is not stored any more", "notice"))
        names = f"v{safe.cell(before.get('version'))} → v{safe.cell(after.get('version'))}"
        return self._compared(found, line((f"{names}  ", "strong")))

    def _file_sheet(self) -> tuple[Sheet, Line]:
        found = self._file
        if found is None:
            return TextSheet(""), line(("this version is not stored any more", "notice"))
        sign, role = SIGNS.get(found.word, ("?", "notice"))
        head = line((f"{sign} {found.word}  ", role), (f"{file_words(found)}  ", "quiet"))
        if found.found is None:
            return TextSheet(""), head
        return self._compared(found.found, head)

    def _compared(self, found: Comparison | NotCompared | None, head: Line) -> tuple[Sheet, Line]:
        if isinstance(found, NotCompared):
            return TextSheet(""), (*head, *line((f"▲ {found.why}", "notice")))
        if found is None or (found.same and not found.endings):
            return TextSheet(""), (*head, *line(("the same", "ok")))
        if found.endings:
            return TextSheet(""), (*head, *line(("the same but for how lines end", "notice")))
        sheet = DiffSheet(found, beside=self._beside)
        return sheet, (*head, *line((sheet.says, "quiet")))

    @property
    def _beside(self) -> bool:
        return self.size.width >= WIDE if self.beside is None else self.beside

    def on_resize(self, event: events.Resize) -> None:
        if self.beside is None and isinstance(sheet := self.value.sheet, DiffSheet):
            wanted = event.size.width >= WIDE
            if sheet.beside != wanted:
                self.value.show(DiffSheet(sheet.found, beside=wanted))

    @on(TallList.Moved, "#versions")
    def _version_moved(self) -> None:
        if self.versions.number != self._looked_at:
            self._load_view()

    @on(TallList.Opened, "#versions")
    def _version_opened(self) -> None:
        self.value.focus()

    # -- the keys ----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "columns":
            return self.view != "content"
        return super().check_action(action, parameters)

    def show_view(self, view: str | None) -> None:
        if view in dict(VIEWS) and view != self.view:
            self.view = view
            if self.is_mounted and self.loaded:
                self._load_view()

    def action_view(self, view: str) -> None:
        self.show_view(view)
        self.inspector.places.history.replace(self.address())

    def action_next_view(self) -> None:
        names = [name for name, _ in VIEWS]
        self.action_view(names[(names.index(self.view) + 1) % len(names)])

    def action_mark(self) -> None:
        """The version under the cursor, or none when it was marked already."""
        number = self.versions.number
        self.versions.mark(None if number == self.versions.marked else number)
        if self.view == "changes":
            self._load_view()

    def action_columns(self) -> None:
        self.beside = not self._beside
        self._draw()

    def action_side(self) -> None:
        (self.value if self.versions.has_focus else self.versions).focus()

    def close_layer(self) -> bool:
        if self.value.has_focus:
            self.versions.focus()
            return True
        self.go(self.NAME)
        return True

    # -- what the shell asks -----------------------------------------------------------------------------

    def address(self) -> Address:
        return Address(self.NAME, self.target, self.view)

    def crumbs(self) -> list[tuple[str, str | None]]:
        title = dict(VIEWS)[self.view]
        name = safe.clip(safe.text(self.name_), 40)
        return [("Definitions", "definitions"), (f"{safe.text(self.kind)} {name}", None), (title, None)]

    def _text(self) -> tuple[str, str] | None:
        """What is shown, as a text, and in words what it is."""
        if self.view == "content":
            if self._shown is None:
                return None
            number = safe.cell(self._shown.row.get("version"))
            return content_of(self._shown.row), f"version {number} of {safe.text(self.name_, limit=60)}"
        if self.view == "file":
            against = self._file
            if against is None or not isinstance(against.found, Comparison):
                return None
            old, new, found = f"version {safe.cell(against.row.get('version'))}", "file", against.found
        else:
            if self._changes is None:
                return None
            before, after, compared = self._changes
            if before is None or after is None or not isinstance(compared, Comparison):
                return None
            old, new = (f"version {safe.cell(row.get('version'))}" for row in (before, after))
            found = compared
        return "".join(f"{each}\n" for each in unified(found, old, new)), f"what changed from {old} to {new}"

    async def copied(self) -> Copy | None:
        told = self._text()
        return None if told is None else Copy(told[1], told[0])

    def exported(self) -> Exportable | None:
        told = self._text()
        if told is None:
            return None
        text, what = told

        async def pieces() -> AsyncIterator[str]:
            yield text

        return Exportable(what, f"{self.kind}-{self.name_}", texts={"text": pieces})
