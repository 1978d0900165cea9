"""What every place is built on: the shell's lines around a body, loading, layers, copying, exporting.

A place is a Textual screen. A subclass says what it shows:

    class TablesPlace(Place):
        NAME = "tables"                                    # as registered in `inspector.screens.PLACES`
        ABOUT = PlaceHelp("What every table of the store holds.", (("a key", "what it does here"),))

        def compose_body(self): ...                        # the widgets between the two rules
        def load(self): self.loads.start("catalogue", self.db.catalogue)
        @on(Loaded)                                        # inspector.messages
        def _loaded(self, message): if self.loads.takes(message): ...

`load` is called once the store is open, again for `r`, and when a followed store has moved: it must keep
cursor and scroll. Loads answer with `Loaded` or `LoadFailed`; the base class shows a failure in a panel
over the body. A place may define `action_filter`, `copied`, `copied_row` and `exported`: their keys are
offered exactly then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container

from inspector import keys
from inspector.loader import Loader
from inspector.messages import GoTo, LoadFailed, PlaceChanged
from inspector.navigation import Address
from inspector.roles import ROLES
from inspector.screens import PLACES, place_info
from inspector.screens.styled_once import StyledOnce
from inspector.typeset.lines import Line
from inspector.widgets import thin_bar as _thin_bar  # noqa: F401 (sets the scroll bars)
from inspector.widgets.failure import FailurePanel
from inspector.widgets.shell import Card, KeyLine, NoticeLine, PlacesLine, Rule, StatusLine, StoreLine

if TYPE_CHECKING:
    from inspector.app import InspectorApp
    from inspector.clipboard import Copy
    from inspector.exporting import Exportable
    from inspector.opened import OpenedStore
    from persistence.errors import StoreError
    from persistence.statedb import StateDB

__all__ = ["Place", "PlaceHelp"]


@dataclass(frozen=True, slots=True)
class PlaceHelp:
    """What a place is, in a sentence or two; what its signs mean; the glossary's words it uses."""

    says: str
    signs: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()


class Place(StyledOnce[None]):
    """A place of the application. `target` is what of it is shown: a run's id, a table's name."""

    NAME: ClassVar[str] = ""
    ABOUT: ClassVar[PlaceHelp] = PlaceHelp("")
    AUTO_FOCUS = "#body *"
    COMPONENT_CLASSES: ClassVar[set[str]] = set(ROLES)
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        *keys.PLACE,
        *(
            keys.bind(
                f"go.{info.name}",
                info.key or info.letter,
                f"app.place({info.name!r})",
                info.title,
                info.says,
                show=False,
            )
            for info in PLACES
            if info.key or info.letter
        ),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (41, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (13, "-low"), (32, "-tall")]  # noqa: RUF012

    def __init__(self, target: str | None = None) -> None:
        super().__init__(classes="place")
        self.target = target
        self.loads = Loader(self)
        self._status: Line = ()
        self.loaded = False  # whether `load` was ever called
        self._stale = True  # something to load when it is next seen

    # -- what a subclass defines -------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """The widgets between the rules."""
        yield from ()

    def load(self) -> None:
        """Starts loading what is shown; called when the store is open, for `r`, and when it moved."""

    def crumbs(self) -> Sequence[tuple[str, str | None]]:
        """(words, address or None) from the place down to what is shown."""
        info = place_info(self.NAME)
        return [(info.title if info else self.NAME, None)]

    def address(self) -> Address:
        """Where this is, with the view that is open."""
        return Address(self.NAME, self.target)

    def facts_arrived(self) -> None:
        """The store's facts are known now (`self.opened.facts`)."""

    def show_view(self, view: str | None) -> None:
        """Opens one of the place's views, named by an address."""

    def close_layer(self) -> bool:
        """Closes the topmost layer of the place (filter, detail); False when there is none."""
        return False

    async def copied(self) -> Copy | None:
        """What `y` copies: the cell or message the cursor is on."""
        return None

    async def copied_row(self) -> Copy | None:
        """What `Y` copies."""
        return None

    def exported(self) -> Exportable | None:
        """What `e` writes: exactly what is shown, filter and order honoured."""
        return None

    # -- what a place uses ---------------------------------------------------------------------------

    @property
    def inspector(self) -> InspectorApp:
        return cast("InspectorApp", self.app)

    @property
    def opened(self) -> OpenedStore | None:
        return self.inspector.opened

    @property
    def db(self) -> StateDB:
        """The open store; only after `load` was called for the first time."""
        opened = self.inspector.opened
        if opened is None:
            raise RuntimeError("the store is not open yet")
        return opened.db

    def go(self, place: str, target: str | None = None, view: str | None = None) -> None:
        self.post_message(GoTo(Address(place, target, view)))

    def set_status(self, status: Line) -> None:
        """The right end of the line above the keys: position, extent, what is still loading."""
        if status != self._status:
            self._status = status
            self.refresh_shell()

    def refused(self, error: StoreError) -> None:
        """Shows why something could not be read, over the body."""
        if self.is_mounted:
            self.query_one("#failure", FailurePanel).show_error(error)

    # -- the shell -------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield StoreLine(id="store-line")
        yield PlacesLine(id="places-line")
        yield Rule(classes="top")
        yield NoticeLine(id="notice-line")
        with Container(id="body"):
            yield from self.compose_body()
            yield FailurePanel(id="failure")
        yield Rule(classes="bottom")
        yield StatusLine(id="status-line")
        yield KeyLine(id="key-line")
        yield Card(id="card")

    def on_mount(self) -> None:
        self.refresh_shell()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        self.refresh_shell()
        self.call_after_refresh(self.query_one("#key-line", KeyLine).update_keys)
        if self._stale:
            self.reload()

    def mark_stale(self) -> None:
        """The store moved while another place was shown: load again when this one is next seen."""
        self._stale = True

    def reload(self) -> None:
        """Loads when the store is open; otherwise the opening calls it."""
        if self.is_mounted and (self.inspector.opened is not None or not self._needs_store):
            self._stale, self.loaded = False, True
            self.query_one("#failure", FailurePanel).hide()
            self.load()

    @property
    def _needs_store(self) -> bool:
        info = place_info(self.NAME)
        return info is None or info.needs_store

    def refresh_shell(self) -> None:
        """Draws the lines around the body from what is known now."""
        if not self.is_mounted or not self.query("#card"):
            return
        app = self.inspector
        self.query_one("#store-line", StoreLine).show_store(
            app.location,
            app.opened,
            following=app.session.follower.on,
            stale=app.session.follower.moved,
            state=app.session.state_words,
            writes=app.session.writes_word,
        )
        info = place_info(self.NAME)
        current = info.parent or info.name if info else self.NAME
        self.query_one("#places-line", PlacesLine).show_places(
            app.places.numbered, current, app.places.missing
        )
        self.query_one("#notice-line", NoticeLine).show_notices(app.session.notices)
        self.query_one("#status-line", StatusLine).show_status(self.crumbs(), self._status)
        self.set_class(app.writes_armed, "-writes")

    @on(PlaceChanged)
    def _changed(self, message: PlaceChanged) -> None:
        message.stop()
        self.refresh_shell()
        self.refresh_bindings()

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self.loads.takes(message):
            self.refused(message.error)
            self.refresh_shell()

    # -- the keys ----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        offered = {
            "filter": "action_filter",
            "copy": "copied",
            "copy_row": "copied_row",
            "export": "exported",
        }.get(action)
        if offered is not None:
            return getattr(type(self), offered, None) is not getattr(Place, offered, None)
        if action == "refresh":
            return type(self).load is not Place.load
        if action == "explain":
            return self.refusal_shown is not None
        if action == "notices":
            return bool(self.inspector.session.notices)
        return True

    @property
    def refusal_shown(self) -> StoreError | None:
        """The refusal that is on the screen, if one is."""
        return self.query_one("#failure", FailurePanel).error if self.query("#failure") else None

    def action_explain(self) -> None:
        from inspector.screens.page import PageScreen

        if (error := self.refusal_shown) is not None:
            self.app.push_screen(PageScreen(error.code, error))

    def action_notices(self) -> None:
        self.inspector.action_notices()

    def action_refresh(self) -> None:
        self.inspector.refresh_store()

    def action_copy(self) -> None:
        self.run_worker(self._copy(self.copied), group="copy", exclusive=True)

    def action_copy_row(self) -> None:
        self.run_worker(self._copy(self.copied_row), group="copy", exclusive=True)

    async def _copy(self, make: Any) -> None:
        from persistence.errors import StoreError

        try:
            copy = await make()
        except StoreError as error:
            self.refused(error)
            return
        self.inspector.clip(copy)

    def action_export(self) -> None:
        self.inspector.export(self.exported())

    def action_close(self) -> None:
        failure = self.query_one("#failure", FailurePanel)
        if failure.display:
            failure.hide()
        elif not self.close_layer():
            self.inspector.places.up()
        self.refresh_shell()
