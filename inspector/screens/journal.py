"""Journal: every action on a managed store and every refusal, newest first, filtered and exported."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult

from inspector import formats, safe
from inspector.actions import journal_query
from inspector.actions.journal import journal_files
from inspector.actions.journal_query import JournalQuery
from inspector.actions.journal_source import JournalSource, journal_source
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.messages import Loaded
from inspector.screens.journal_entry import entry_screen
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.grid import Grid

__all__ = ["JournalPlace"]

WIDE = 100
"""Columns from which the file's name stands beside the position."""


class JournalPlace(Place):
    NAME = "journal"
    AUTO_FOCUS = "#journal"
    ABOUT = PlaceHelp(
        "What this user wrote into managed stores, and what was refused: the newest first, whatever store is "
        "open. Enter shows all of one entry. The filter line takes words and fields: action: outcome: store: "
        "lineage: profile: owner: run: code: since: until:.",
        signs=(
            ("done", "carried out to its end"),
            ("refused", "at a step of the gate, or by the store; the entry says what was committed"),
            ("interrupted", "somebody stopped it"),
            ("failed", "a fault of this program"),
            ("tried", "a dry run: it would have been let in"),
            ("begun, no end", "this program was killed while it wrote"),
            ("?", "a line that is no entry, or not a whole one"),
        ),
        words=("profile", "owner", "lineage"),
    )

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._line = target or ""
        self._query = JournalQuery()
        self._file = ""

    def compose_body(self) -> ComposeResult:
        bar = FilterBar(
            journal_query.completion,
            placeholder="outcome:refused  action:probe  since:2d  words",
            id="filter",
        )
        bar.display = bool(self._line)
        yield bar
        yield Grid(
            id="journal",
            null="·",
            empty="The journal is empty.",
            hint="0 Actions writes it, and record does.",
        )

    @property
    def grid(self) -> Grid:
        return self.query_one("#journal", Grid)

    @property
    def bar(self) -> FilterBar:
        return self.query_one("#filter", FilterBar)

    # -- loading -----------------------------------------------------------------------------------------

    def load(self) -> None:
        if self._line and not self.bar.text:
            self.bar.set_text(self._line)
        self._query = journal_query.parse(self._line)
        self._read()

    def action_refresh(self) -> None:
        self.reload()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """It is no store's: whatever was appended meanwhile is read whenever it is seen again."""
        self.mark_stale()
        super().on_screen_resume(event)

    def _read(self) -> None:
        query = self._query

        async def work() -> tuple[JournalQuery, JournalSource, str]:
            files = journal_files()
            # Its end tells where it is; the whole of it stands on the page of an action that has ended.
            file = "/".join(("…", *files[-1].parts[-2:])) if files else "no journal yet"
            return query, await journal_source(query), file

        self.loads.start("journal", work)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        query, source, self._file = message.value
        grid = self.grid
        if query.narrows:
            grid.empty = ("No entry fits the filter.", "esc takes the filter away")
        else:
            grid.empty = ("Nothing was written yet, and nothing refused.", "0 Actions is where that is done")
        before = grid.source
        grid.show(source, keep_place=isinstance(before, JournalSource) and before.query == query)

    def on_resize(self, event: events.Resize) -> None:
        """The foot has room for the journal's own file, or not."""
        if self.grid.source is not None:
            self.call_after_refresh(self._tell)

    # -- the filter --------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        self.bar.enter()

    @on(FilterBar.Changed)
    def _narrow(self, message: FilterBar.Changed) -> None:
        self._line = message.text
        query = journal_query.parse(message.text)
        self.bar.say(query.problems[0] if query.problems else "")
        self.refresh_shell()
        if query != self._query:
            self._query = query
            self._read()

    @on(FilterBar.Left)
    def _left(self) -> None:
        self.bar.display = bool(self._line)
        self.grid.focus()

    def close_layer(self) -> bool:
        if self.bar.input.has_focus:
            self._left()
            return True
        if self.bar.text:
            self.bar.clear()
            self.bar.display = False
            self.grid.focus()
            return True
        return False

    # -- the list ----------------------------------------------------------------------------------------

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        source = self.grid.source
        if isinstance(source, JournalSource):
            self.run_worker(self._entry(source, message.key), group="entry", exclusive=True)

    async def _entry(self, source: JournalSource, key: tuple[object, ...]) -> None:
        found = await source.entry(key)
        if found is not None and self.is_current:
            self.app.push_screen(entry_screen(found))

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "entry")

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.refused(message.error)

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        words = self.grid.words + (" that fit" if self._query.narrows else "")
        file = f"{safe.text(self._file)}  " if self.size.width >= WIDE else ""
        self.set_status(line((file, "quiet"), (words, "quiet")))

    def crumbs(self) -> list[tuple[str, str | None]]:
        return [("Journal", "journal"), *([(f"/{self._line}", None)] if self._line else [])]

    # -- taking away -------------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        narrowed = f", {self._line}" if self._line else ""
        count = formats.several(self.grid.row_count, "entry", "entries")
        return Exportable(
            f"the journal, newest first{narrowed}: {count}", "journal", rows=source, of_store=False
        )
