"""Choosing where the rows of an action come from, or go to: a store, a run, a file; what is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from inspector import choices, run_query, safe
from inspector.actions.source_run import LEAVE_OUT
from inspector.keys import bind
from inspector.loader import Loader
from inspector.messages import Loaded, LoadFailed
from inspector.passage import Asked
from inspector.screens.admission_choice import MarkList
from inspector.screens.layer import Layer, keys_hint
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.grid import Grid
from inspector.widgets.path_field import PathField
from persistence.errors import LocationError, StoreError
from persistence.location import locate

if TYPE_CHECKING:
    from inspector.app import InspectorApp
    from inspector.choices import Choices
    from inspector.widgets.grid_messages import Failed, Opened
    from persistence.location import StoreLocation
    from persistence.statedb import StateDB

__all__ = ["FileChooser", "LeaveOutChooser", "RunChooser", "StoreChooser"]


class StoreChooser(Layer["StoreLocation"]):
    """The demo's stores, the recent ones, and a field for any other; not the one that is open."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("stores.field", "slash", "field", "field", "To the field", show=False),
        bind("choice.down", "j", "move(1)", "down", "The next one", show=False),
        bind("choice.up", "k", "move(-1)", "up", "The one before", show=False),
    ]
    hint = keys_hint(("enter", "choose"), ("/", "type a name"), ("tab", "complete it"), ("esc", "as it was"))

    def __init__(self, heading: str, but: StoreLocation | None, *, managed: bool = False) -> None:
        """`managed`: what another application manages is offered first."""
        super().__init__()
        self._managed = managed
        self.heading = Content.styled(heading, ".heading")
        self._but = but
        self._loads = Loader(self)
        self._stores: list[str] = []

    def compose_layer(self) -> ComposeResult:
        yield OptionList(id="stores")
        yield PathField(id="store-field")

    def on_mount(self) -> None:
        gallery = cast("InspectorApp", self.app).gallery
        self._loads.start("choices", lambda: asyncio.to_thread(choices.gather, gallery))

    @property
    def listed(self) -> OptionList:
        return self.query_one("#stores", OptionList)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self._loads.takes(message):
            return
        offered = list(_stores(message.value, self._but, self._managed))
        self._stores = [store for store, _ in offered]
        self.listed.add_options([Option(words, id=str(at)) for at, (_, words) in enumerate(offered)])
        self.listed.display = bool(offered)
        if offered:
            self.listed.highlighted = 0
            self.listed.focus()
        else:
            self.action_field()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(self._stores[int(event.option.id or 0)])

    @on(PathField.Chosen)
    def _typed(self, message: PathField.Chosen) -> None:
        self._choose(message.text)

    @on(PathField.Left)
    def _left(self) -> None:
        if self.listed.display:
            self.listed.focus()
        else:
            self.dismiss(None)

    def _choose(self, store: str) -> None:
        try:
            location = locate(store)
        except LocationError as error:
            words = f"{error.message} {error.remedy or ''}"
            said = Content.assemble(("✗ ", ".refuse"), safe.content(words, ".plain"))
            self.query_one("#store-field", PathField).say(said)
            return
        self.dismiss(location)

    def action_field(self) -> None:
        self.query_one("#store-field", PathField).enter()

    def action_move(self, step: int) -> None:
        (self.listed.action_cursor_down if step > 0 else self.listed.action_cursor_up)()


def _stores(found: Choices, but: StoreLocation | None, managed: bool) -> Iterator[tuple[str, Content]]:
    """(name to open it by, words) of each store that is there, once."""
    seen = set() if but is None else {_name_of(but)}
    first = [card for card in found.cards if managed and card.name.startswith("desk")]
    for card in (*first, *found.cards):
        if card.store not in seen:
            seen.add(card.store)
            yield card.store, _words(safe.text(card.title), f"{card.file}  {card.holds}")
    for recent, there in found.recents:
        if there and recent.store not in seen:
            seen.add(recent.store)
            yield recent.store, _words(safe.text(recent.display), recent.kind or "")


def _words(name: str, about: str) -> Content:
    return Content.assemble((name, ".strong"), "  ", safe.content(about, ".quiet"))


def _name_of(location: StoreLocation) -> str | None:
    return location.fspath if location.path is not None else location.url


class RunChooser(Layer[Asked]):
    """The runs of the store one is taken from, newest first, narrowed as in Runs."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("place.filter", "slash", "filter", "filter", "Narrow the runs down"),
    ]
    hint = keys_hint(("enter", "take this run"), ("/", "filter"), ("esc", "as it was"))

    def __init__(self, source: StoreLocation) -> None:
        super().__init__()
        self.heading = Content.assemble(
            ("which run of ", ".heading"), safe.content(source.name, ".heading"), ("?", ".heading")
        )
        self._source = source
        self._loads = Loader(self)
        self._db: StateDB | None = None

    def compose_layer(self) -> ComposeResult:
        bar = FilterBar(
            lambda text: run_query.completion(text, {}),
            placeholder="words  status:failed  since:2d",
            id="run-filter",
        )
        bar.display = False
        yield bar
        yield Grid(id="run-list", null="·", empty="There are no runs in it.", hint="esc goes back")
        yield Static(Content(""), id="run-said")

    @property
    def grid(self) -> Grid:
        return self.query_one("#run-list", Grid)

    def on_mount(self) -> None:
        self.grid.focus()
        self._loads.start("open", self._open)

    async def _open(self) -> StateDB:
        from inspector.opened import open_store

        return (await open_store(self._source)).db

    async def on_unmount(self) -> None:
        if self._db is not None:
            self.app.run_worker(self._db.close(), name="close", exit_on_error=False)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if self._loads.takes(message):
            self._db = message.value
            self._show(run_query.RunQuery())

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self._loads.takes(message):
            self._say(message.error)

    @on(Grid.Failed)
    def _not_read(self, message: Failed) -> None:
        self._say(message.error)

    def _say(self, error: StoreError) -> None:
        said = Content.assemble(("✗ ", ".refuse"), safe.content(error.message, ".plain"))
        self.query_one("#run-said", Static).update(said)

    def _show(self, query: run_query.RunQuery) -> None:
        if self._db is not None:
            self.grid.show(self._db.runs(query.filter({}), None), keep_place=False)

    def action_filter(self) -> None:
        self.query_one(FilterBar).enter()

    @on(FilterBar.Changed)
    def _narrow(self, message: FilterBar.Changed) -> None:
        query = run_query.parse(message.text)
        self.query_one(FilterBar).say(query.problems[0] if query.problems else "")
        self._show(query)

    @on(FilterBar.Left)
    def _left(self) -> None:
        bar = self.query_one(FilterBar)
        bar.display = bool(bar.text)
        self.grid.focus()

    @on(Grid.Opened)
    def _chosen(self, message: Opened) -> None:
        row, source = self.grid.row, self.grid.source
        names = [column.name for column in source.columns] if source is not None else []
        told = dict(zip(names, row.cells, strict=False)) if row is not None else {}
        name = told.get("name")
        about = name if isinstance(name, str) and name.strip() else None
        self.dismiss(Asked("copy-run", self._source, str(message.key[-1]), about))


class FileChooser(Layer[str]):
    """The file a run is told in."""

    heading = Content.styled("which file?", ".heading")
    hint = keys_hint(("enter", "take this file"), ("tab", "complete"), ("esc", "as it was"))

    def compose_layer(self) -> ComposeResult:
        said = "One JSON object a line: session, branch, message, signal, status, end. See `record --help`."
        yield Static(Content.styled(said, ".quiet"), id="file-says")
        yield PathField("a file of JSON lines", id="file-field")

    def on_mount(self) -> None:
        self.query_one(PathField).enter()

    @on(PathField.Chosen)
    def _typed(self, message: PathField.Chosen) -> None:
        import os

        self.dismiss(os.path.expanduser(message.text))  # noqa: PTH111 (a name as a person writes it)

    @on(PathField.Left)
    def _left(self) -> None:
        self.dismiss(None)


class LeaveOutChooser(Layer["tuple[str, ...]"]):
    """What of the source may be left out of the copy; nothing is unless it is marked."""

    heading = Content.styled("go on without", ".heading")
    hint = keys_hint(("space", "mark"), ("enter", "leave the marked out"), ("esc", "as it was"))

    def __init__(self, marked: tuple[str, ...]) -> None:
        super().__init__()
        self._marked = set(marked)

    def compose_layer(self) -> ComposeResult:
        yield MarkList(*(Option(self._words(word)) for word in LEAVE_OUT), id="stores")

    def on_mount(self) -> None:
        listed = self.query_one(MarkList)
        listed.highlighted = 0
        listed.focus()

    def _words(self, word: str) -> Content:
        sign = ("✓ ", ".ok") if word in self._marked else ("· ", ".quiet")
        return Content.assemble(sign, (f"{word:<12}", ".strong"), (LEAVE_OUT[word], ".quiet"))

    def _draw(self) -> None:
        for at, word in enumerate(LEAVE_OUT):
            self.query_one(MarkList).replace_option_prompt_at_index(at, self._words(word))

    @on(OptionList.OptionSelected)
    def _mark(self, event: OptionList.OptionSelected) -> None:
        self._marked ^= {list(LEAVE_OUT)[event.option_index]}
        self._draw()

    def action_mark_all(self) -> None:
        self._marked = set() if self._marked == set(LEAVE_OUT) else set(LEAVE_OUT)
        self._draw()

    def action_keep(self) -> None:
        self.dismiss(tuple(word for word in LEAVE_OUT if word in self._marked))
