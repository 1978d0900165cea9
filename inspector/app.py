"""The application: it wires the places, the store and the keys together and does no work of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input, TextArea

import themes
from inspector import safe, settings
from inspector.colourless import colourless
from inspector.messages import (
    GoTo,
    Loaded,
    LoadFailed,
    StoreMoved,
    StoreOpened,
    StoreRead,
    StoreRefused,
)
from inspector.navigation import Address
from inspector.navigator import Navigator
from inspector.opened import OpenedStore
from inspector.screens import place_info
from inspector.screens.place import Place
from inspector.store_session import StoreSession
from inspector.terminal import TerminalWatch
from persistence.errors import StoreError
from persistence.location import StoreLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.command import Provider
    from textual.filter import LineFilter

    from inspector.clipboard import Copy
    from inspector.exporting import Exportable
    from inspector.passage import Asked

__all__ = ["InspectorApp", "run"]


def _place_commands() -> type[Provider]:
    from inspector.commands import PlaceCommands

    return PlaceCommands


def _action_commands() -> type[Provider]:
    from inspector.commands import ActionCommands

    return ActionCommands


def _store_commands() -> type[Provider]:
    from inspector.commands import StoreCommands

    return StoreCommands


class InspectorApp(App[None]):
    """`location`: what to open (a StoreLocation, or text for `locate`); None starts at Open.

    `start_place` and `target` say where to begin once the store is open; an address text such as
    `run/ID/timeline` is taken as well. `gallery`: the directory of a demo, whose stores Open shows.
    `allow_writes`: actions may write, through their gate; every place goes on reading as before.
    """

    TITLE = "Store Inspector"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+backslash"  # ours is ctrl+p and `:` (inspector.keys), without priority
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, system=True, id="app.quit_now"),
        Binding("ctrl+c", "help_quit", "Quit", show=False, system=True, id="app.interrupt"),
    ]
    COMMANDS: ClassVar[set[Any]] = {_place_commands, _action_commands, _store_commands}
    NOTIFICATION_TIMEOUT = 6

    def __init__(
        self,
        location: StoreLocation | str | None = None,
        *,
        start_place: str | None = None,
        target: str | None = None,
        config: settings.Settings | None = None,
        gallery: Path | None = None,
        allow_writes: bool = False,
    ) -> None:
        self.CSS_PATH = list(themes.style_sheets())  # type: ignore[misc]
        super().__init__()
        self.config = config or settings.load()
        self.gallery = gallery
        self.fault: Exception | None = None
        self.writes_armed = allow_writes
        self.session = StoreSession(self)
        self.places = Navigator(self)
        self._store = location
        if start_place is None:
            start_place = "runs" if location is not None else "open"
        self._start = Address.parse(start_place) if target is None else Address(start_place, target)
        for theme in themes.load():
            self.register_theme(theme)
        self._take_theme()

    # -- starting and stopping --------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.role_defaults(self._other_theme())

    def get_line_filters(self) -> Sequence[LineFilter]:
        return colourless(super().get_line_filters(), terminals=self.native_ansi_color)

    def _other_theme(self) -> Theme | None:
        name = getattr(self, "theme", None)
        return None if name is None or name in themes.names() else self.available_themes.get(name)

    def _take_theme(self) -> None:
        wanted = self.config.theme
        if self.no_color and self.config.origins.get("theme") == "default":
            wanted = themes.NO_COLOR
        if wanted in self.available_themes:
            self.theme = wanted
        else:
            self.theme = themes.DEFAULT
            self._theme_notice = f"there is no theme {wanted}; this is {themes.DEFAULT}"

    _theme_notice: str | None = None
    terminal_watch: TerminalWatch | None = None

    async def on_mount(self) -> None:
        """The first place is painted at once; what it shows comes when the store is open."""
        self.set_keymap(dict(self.config.keymap))
        info = place_info(self._start.place)
        if info is None or (info.needs_store and self._store is None):
            self._start = Address("open")
        await self.push_screen(self.places.first(self._start))
        for notice in (*self.config.notices, *([self._theme_notice] if self._theme_notice else [])):
            self.notify(safe.text(notice), severity="warning", markup=False)
        if not self.is_headless:
            self.terminal_watch = TerminalWatch(asyncio.get_running_loop(), self.exit)
            self.terminal_watch.start()  # until `run` is over: what is written last may block too
        if self._store is not None:
            self.open_store(self._store)

    async def on_unmount(self) -> None:
        await self.session.close()

    def _handle_exception(self, error: Exception) -> None:
        """Our fault: leave at once, say so on a page of its own (`run`), and never with a traceback."""
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        if self.fault is None:
            self.fault = error
        self._close_messages_no_wait()

    # -- the store ----------------------------------------------------------------------------------------

    @property
    def location(self) -> StoreLocation | None:
        return self.session.location

    @property
    def opened(self) -> OpenedStore | None:
        return self.session.opened

    @property
    def tables(self) -> frozenset[str] | None:
        """The names of the store's tables; None while they are not known."""
        return self.session.tables

    @property
    def refusal(self) -> StoreError | None:
        return self.session.refusal

    def open_store(self, store: StoreLocation | str, *, asked: Asked | None = None) -> None:
        """Opens another store in place of the one that is open; `asked`: to bring an action to its gate."""
        if not self.session.may_open():
            return
        if self.location is not None:
            self._start = Address("runs" if asked is None else "actions")
        self.session.open(store)
        if asked is not None:
            self.session.begin(asked)
        self.refresh_shell()

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.session.loaded(message):
            return
        place = self.place
        if place is not None and place.NAME in self.places.missing:
            self.go(Address("overview"))  # a store of another kind: what it is comes first
        elif place is not None:
            place.facts_arrived()
        self.refresh_shell()

    @on(LoadFailed)
    def _load_failed(self, message: LoadFailed) -> None:
        error = self.session.failed(message)
        if error is not None:
            self.notify(safe.text(error.message), severity="error", markup=False)

    @on(StoreOpened)
    def _store_opened(self, message: StoreOpened) -> None:
        self.session.opened_now(message.opened)
        self._begin(self._start if self._start.place != "open" else Address("runs"))

    @on(StoreRefused)
    def _store_refused(self, message: StoreRefused) -> None:
        self.session.refused_now(message.error)
        self._begin(Address("refused"))

    def _begin(self, address: Address) -> None:
        """Shows a place after an opening; the one the shell was painted with is used as it is."""
        current = self.place
        waiting = current is not None and current.address().key == address.key and not current.loaded
        if not waiting:
            self.places.forget()
            self.go(address)
        if (place := self.place) is not None:
            place.reload()
        self.refresh_shell()

    @on(StoreMoved)
    def _store_moved(self) -> None:
        if self.session.follows:
            self.refresh_store()
        else:
            self.refresh_shell()

    @on(StoreRead)
    def _store_read(self) -> None:
        self.refresh_shell()

    def refresh_store(self) -> None:
        """Reads again what is shown; other places do so when they are next seen."""
        if self.opened is None:
            wanted = self.location or self._store
            if wanted is not None:
                self.session.open(wanted)
                self.refresh_shell()
            return
        self.session.follower.caught_up()
        self.session.load_facts()
        for place in self.places.others:
            place.mark_stale()
        if self.place is not None:
            self.place.reload()

    @property
    def busy(self) -> bool:
        """Whether what is shown is still being loaded."""
        place = self.place
        return self.session.loads.running() or (place is not None and place.loads.running())

    # -- places ---------------------------------------------------------------------------------------------

    @property
    def place(self) -> Place | None:
        """The place that is shown, under whatever lies over it."""
        return self.places.current

    def go(self, address: Address) -> None:
        """Shows what an address names."""
        self.places.go(address)

    @on(GoTo)
    def _go_to(self, message: GoTo) -> None:
        self.go(message.address)

    def refresh_shell(self) -> None:
        place = self.place
        if place is not None:
            place.refresh_shell()

    # -- actions ------------------------------------------------------------------------------------------

    def action_place(self, name: str) -> None:
        self.go(Address(name))

    def action_go(self, address: str) -> None:
        self.go(Address.parse(address))

    def action_previous(self) -> None:
        if not self.places.travel(-1):
            self.notify("nothing further back", markup=False)

    def action_next(self) -> None:
        if not self.places.travel(1):
            self.notify("nothing further ahead", markup=False)

    def action_open(self) -> None:
        if place_info("open") is not None:
            self.go(Address("open"))

    def action_follow(self) -> None:
        follower = self.session.follower
        follower.on = not follower.on
        self.notify("following the store" if follower.on else "not following the store", markup=False)
        if follower.on and follower.moved:
            self.refresh_store()
        self.refresh_shell()

    def action_themes(self) -> None:
        from inspector.screens.themes import ThemeChooser

        self.push_screen(ThemeChooser())

    def action_help(self) -> None:
        from inspector.screens.help import HelpScreen

        place = self.place
        if place is not None:
            self.push_screen(HelpScreen(place))

    def action_notices(self) -> None:
        from inspector.screens.notices import NoticesScreen

        self.push_screen(NoticesScreen(self.session.notices))

    async def action_quit(self) -> None:
        if self.session.may_leave():
            self.exit()

    def clip(self, copy: Copy | None) -> None:
        """Sends a copy to the terminal's clipboard; what is too big for one is offered as a file."""
        if copy is None:
            self.notify("there is nothing to copy here", markup=False)
        elif copy.fits:
            self.copy_to_clipboard(copy.exact)
            self.notify(safe.lines(copy.said()), title="copied", markup=False)
        else:
            from inspector.screens.export import ExportScreen

            self.push_screen(ExportScreen.of_copy(copy, self.location))

    def export(self, what: Exportable | None) -> None:
        from inspector.screens.export import ExportScreen

        if what is None:
            self.notify("there is nothing to export here", markup=False)
        else:
            self.push_screen(ExportScreen(what, self.location))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """None of Textual's own: the palette is ours (inspector.commands)."""
        return ()

    def get_key_display(self, binding: Binding) -> str:
        from inspector import keys

        return keys.display(binding)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Nothing blinks: a cursor that stands still is seen as well."""
        if isinstance(event.widget, Input | TextArea):
            event.widget.cursor_blink = False


def run(
    location: StoreLocation | str | None = None,
    *,
    start_place: str | None = None,
    target: str | None = None,
    config: settings.Settings | None = None,
    gallery: Path | None = None,
    allow_writes: bool = False,
) -> int:
    """Runs the application in this terminal; the exit code of DESIGN 2: 0, 1 when it was our fault, and that
    of the refusal when what was to be opened last did not open."""
    app = InspectorApp(
        location,
        start_place=start_place,
        target=target,
        config=config,
        gallery=gallery,
        allow_writes=allow_writes,
    )
    app.run(mouse=app.config.mouse)
    if app.terminal_watch is not None:
        app.terminal_watch.stop()
    if app.fault is not None:
        from inspector.fault import show_fault

        show_fault(app.fault, no_color=app.no_color)
        return 1
    if app.session.refusal is not None and app.session.opened is None:
        return app.session.refusal.exit_status
    return app.return_code or 0
