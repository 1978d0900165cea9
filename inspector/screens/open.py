"""Open: what was opened before, the default store, the demo, and a field for any other name."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from inspector import choices, formats, recents, safe
from inspector.choices import Choices, Named
from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.messages import Loaded
from inspector.screens.place import Place, PlaceHelp
from inspector.widgets.path_field import PathField
from persistence.errors import LocationError
from persistence.location import locate

if TYPE_CHECKING:
    from inspector.demo.gallery import Card
    from inspector.recents import Recent
    from persistence.location import StoreLocation

__all__ = ["OpenPlace"]

DEMO = "demo"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line to choose. `store` opens it; None: a heading, or the demo (`id`)."""

    words: Content
    store: str | None = None
    id: str | None = None
    there: bool = True
    story: str = ""  # what of its words did not fit
    look: str = ""


class _StoreList(OptionList, inherit_bindings=False):
    """The stores to choose from, with the keys every list of ours has."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("list.open", "enter", "select", "open", "Open the store under the cursor"),
        bind("list.up", "up,k", "cursor_up", "up", "The one above", show=False),
        bind("list.down", "down,j", "cursor_down", "down", "The next one", show=False),
        bind("list.page_up", "pageup,ctrl+b", "page_up", "page up", "A page up", show=False),
        bind("list.page_down", "pagedown,space", "page_down", "page down", "A page down", show=False),
        bind("list.first", "g,home", "first", "first", "The first one", show=False),
        bind("list.last", "G,end", "last", "last", "The last one", show=False),
    ]


class OpenPlace(Place):
    NAME = "open"
    ABOUT = PlaceHelp(
        "Choose a store. Whatever is opened here is only read. Typing a path, pasting one or dropping a file "
        "on the window goes into the field; tab completes. Stores on servers are written "
        "postgresql://user@host/database.",
        (
            ("dimmed", "the store is not there any more; x forgets it"),
            ("✓", "it opened, and would natively as well"),
            ("▲", "it could be read, and a native open would be refused"),
            ("✗", "it did not open"),
        ),
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("open.path", "slash,tilde", "path", "path", "Type the name of a store"),
        bind("open.forget", "x,delete", "forget", "forget", "Forget this recent store; the store stays"),
    ]
    AUTO_FOCUS = ""

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._choices: Choices | None = None
        self._entries: dict[str, _Entry] = {}
        self._wanted: StoreLocation | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(Content.styled("open a store", ".heading"), id="open-title")
        yield PathField(id="path-field")
        yield _StoreList(id="open-list")
        yield Static(id="open-look")

    def load(self) -> None:
        gallery = self.inspector.gallery
        self.loads.start("choices", lambda: asyncio.to_thread(choices.gather, gallery))

    def on_loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        if message.what == "choices":
            first = self._choices is None
            self._choices = message.value
            self._draw()
            if first or self.focused is None:
                self._focus_first()
        elif message.what == "look":
            self._looked(message.value)
        elif message.what == "demo":
            self.inspector.gallery = message.value
            self.load()

    def _focus_first(self) -> None:
        listed = self.query_one("#open-list", OptionList)
        chosen = self._choices
        if chosen is not None and (chosen.cards or chosen.recents):
            listed.focus()
        else:
            self.query_one("#path-field", PathField).enter()

    # -- drawing ---------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if self._choices is None or not self.is_mounted:
            return
        listed = self.query_one("#open-list", OptionList)
        width = max(30, listed.scrollable_content_region.width - 2)
        before = self._chosen()
        at = before.id if before is not None else None
        self._entries = {}
        options: list[Option] = []
        for entry in _entries(self._choices, width):
            key = str(len(options))
            self._entries[key] = entry
            options.append(Option(entry.words, id=key, disabled=entry.id is None))
        listed.clear_options()
        listed.add_options(options)
        ids = [entry.id for entry in self._entries.values()]
        wanted = ids.index(at) if at in ids and at is not None else None
        listed.highlighted = wanted if wanted is not None else _first(ids)

    def _chosen(self) -> _Entry | None:
        listed = self.query_one("#open-list", OptionList)
        if listed.highlighted is None or listed.highlighted >= listed.option_count:
            return None
        option = listed.get_option_at_index(listed.highlighted)
        return self._entries.get(option.id or "")

    # -- choosing --------------------------------------------------------------------------------------------

    @on(OptionList.OptionHighlighted, "#open-list")
    def _highlighted(self) -> None:
        """What to look at in the demo's store under the cursor, and of its story what the list cut off."""
        entry = self._chosen()
        look, story = (entry.look, entry.story) if entry is not None else ("", "")
        said = self.query_one("#open-look", Static)
        said.display = bool(look)
        if look:
            words = Content.assemble(("what to look at  ", ".quiet"), safe.content(look, ".plain"))
            said.update(Content.assemble(safe.content(story, ".quiet"), "\n", words) if story else words)

    @on(OptionList.OptionSelected, "#open-list")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        entry = self._chosen()
        if entry is None:
            return
        if entry.id == DEMO:
            self._build_demo()
        elif entry.store is not None:
            self._open(entry.store)

    @on(PathField.Chosen)
    def _typed(self, message: PathField.Chosen) -> None:
        self._open(message.text)

    @on(PathField.Left)
    def _left_field(self) -> None:
        self.query_one("#open-list", OptionList).focus()

    def _open(self, store: str) -> None:
        field = self.query_one("#path-field", PathField)
        try:
            location = locate(store)
        except LocationError as error:
            words = f"{error.message} {error.remedy or ''}"
            field.say(Content.assemble(("✗ ", ".refuse"), safe.content(words, ".plain")))
            return
        path = location.path
        if path is None:
            self.inspector.open_store(location)
            return
        self._wanted = location
        self.loads.start("look", lambda: asyncio.to_thread(os.path.lexists, path))

    def _looked(self, there: bool) -> None:
        wanted = self._wanted
        if wanted is None:
            return
        if there:
            self.inspector.open_store(wanted)
            return
        told = safe.content(wanted.display, ".plain")
        words = Content.assemble(("✗ ", ".refuse"), ("there is no such file: ", ".quiet"), told)
        self.query_one("#path-field", PathField).say(words)

    def _build_demo(self) -> None:
        from inspector.demo.session import gallery

        def build() -> Path:
            demo = gallery()
            built = demo.__enter__()
            # It lasts as long as this program does, and is taken away with it.
            atexit.register(demo.__exit__, None, None, None)
            return built.folder

        field = self.query_one("#path-field", PathField)
        field.say(Content.styled("building the demo …", ".quiet"))
        if not self.loads.running("demo"):
            self.loads.start("demo", lambda: asyncio.to_thread(build))

    def action_forget(self) -> None:
        entry = self._chosen()
        if entry is not None and entry.store is not None and (entry.id or "").startswith("recent"):
            recents.forget(entry.store)
            self.load()

    def action_path(self) -> None:
        self.query_one("#path-field", PathField).enter()

    def on_paste(self, event: events.Paste) -> None:
        """A file dropped on the window, or a path pasted, wherever the cursor is."""
        event.stop()
        self.query_one("#path-field", PathField).enter(event.text)

    async def copied(self) -> Copy | None:
        entry = self._chosen()
        return Copy("the store's name", safe.exact(entry.store)) if entry and entry.store else None


def _first(ids: list[str | None]) -> int | None:
    return next((index for index, name in enumerate(ids) if name is not None), None)


def _entries(found: Choices, width: int) -> Iterator[_Entry]:
    if found.cards:
        yield _heading("the demo gallery")
        for card in found.cards:
            yield _card(card, width)
        yield _blank()
    if found.recents:
        yield _heading("recent")
        for recent, there in found.recents:
            yield _recent(recent, there, width)
        yield _blank()
    named = [name for name in (found.default, found.dotenv) if name is not None]
    if named or not found.cards:
        yield _heading("also")
    for name in named:
        yield _named(name, width)
    if not found.cards:
        words = Content.assemble(
            ("a demo gallery", ".plain"),
            ("  ten stores to try this on, one of them being written, some refused", ".quiet"),
        )
        yield _Entry(words, id=DEMO)


def _heading(words: str) -> _Entry:
    return _Entry(Content.styled(words, ".quiet"))


def _blank() -> _Entry:
    return _Entry(Content(" "))


def _card(card: Card, width: int) -> _Entry:
    live = "● being written   " if card.live else ""
    size = formats.size(card.size) if card.size is not None else ""
    right = Content.assemble((live, ".live"), (f"{card.holds}   {size}", ".quiet"))
    title = Content.styled(safe.text(card.title), ".strong")
    gap = max(2, width - title.cell_length - right.cell_length)
    story = safe.text(card.story)
    shown = safe.clip(story, width - 2)
    words = Content.assemble(title, " " * gap, right, "\n  ", safe.content(shown, ".quiet"))
    cut = story if shown != story else ""
    return _Entry(words, card.store, f"card-{card.name}", story=cut, look=card.look)


def _recent(recent: Recent, there: bool, width: int) -> _Entry:
    wide = width >= 90
    verdict, told_as = _verdict(recent.verdict) if there else ("gone", "")
    plain, quiet = (".plain", ".quiet") if there else (".dimmed", ".dimmed")
    told = told_as or quiet
    columns = [(safe.text(recent.kind or "not known"), 17, False, quiet)]
    if wide:
        size = formats.size(recent.size) if recent.size is not None else ""
        columns.append((size, 8, True, quiet))
    columns.append((safe.text(verdict), 20, False, told))
    if wide:
        columns.append((formats.relative_time(recent.opened), 11, True, quiet))
    room = max(16, width - sum(cells + 2 for _, cells, _, _ in columns))
    name = safe.fit(_shortened(safe.text(recent.display), room), room)
    parts = [(f"  {safe.fit(text, cells, right=right)}", role) for text, cells, right, role in columns]
    return _Entry(Content.assemble((name, plain), *parts), recent.store, f"recent-{recent.store}", there)


def _verdict(word: str) -> tuple[str, str]:
    """What is remembered of the last opening, with its sign, and the role of it ("" for the row's own)."""
    if word == "opens":
        return "✓ opens", ""
    if word.startswith("reads "):
        return f"▲ {word.removeprefix('reads ')}", ".notice"
    return f"✗ {word}", ".refuse"


def _named(name: Named, width: int) -> _Entry:
    from_file = name.by.startswith((".env", ".secrets"))
    label = f"{name.by} here names" if from_file else "the default store"
    if name.by.startswith("$"):
        label = f"{name.by} names"
    shown = _shortened(safe.text(name.location.display), max(16, width - len(label) - 22))
    told = "" if name.there else "  there is none"
    words = Content.assemble(
        (label, ".plain" if name.there else ".dimmed"),
        (f"  {shown}", ".quiet" if name.there else ".dimmed"),
        (told, ".dimmed"),
    )
    location = name.location
    store = location.fspath if location.path is not None else location.url
    return _Entry(words, store, f"named-{name.by}", name.there)


def _shortened(text: str, cells: int) -> str:
    """A path with its end kept, which is what tells stores apart."""
    if safe.width(text) <= cells:
        return text
    tail = text
    while tail and safe.width(tail) > cells - 1:
        tail = tail[1:]
    return f"…{tail}"
