"""A run: what it is, and its views: conversation, timeline, branches, signals, history, artifacts, raw."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded, PlaceChanged
from inspector.navigation import Address
from inspector.screens.place import Place, PlaceHelp
from inspector.screens.run_head import RunHead, ViewTabs, text_of
from inspector.screens.run_pane import RunPane
from persistence.errors import StoreError
from persistence.records import Mark

if TYPE_CHECKING:
    from persistence.location import StoreLocation
    from persistence.records import RunDetail

__all__ = ["VIEWS", "RunPlace"]

VIEWS: tuple[tuple[str, str, str], ...] = (
    ("conversation", "conversation", "inspector.screens.run_conversation:ConversationPane"),
    ("timeline", "timeline", "inspector.screens.run_timeline:TimelinePane"),
    ("branches", "branches", "inspector.screens.run_lists:BranchesPane"),
    ("signals", "signals", "inspector.screens.run_lists:SignalsPane"),
    ("history", "status history", "inspector.screens.run_lists:HistoryPane"),
    ("artifacts", "artifacts", "inspector.screens.run_artifacts:ArtifactsPane"),
    ("raw", "raw", "inspector.screens.run_raw:RawPane"),
)
"""(name in an address, title, pane), in the order of the tabs."""

COUNTS = {"signals": "signals", "history": "transitions", "artifacts": "artifacts"}


class RunPlace(Place):
    NAME = "run"
    AUTO_FOCUS = ""
    ABOUT = PlaceHelp(
        "One run. Its conversation is what the progression says, in its order: gaps, doubles and messages "
        "that are not there are part of it. Tab goes through the views.",
        signs=(
            ("→ name", "a tool is called, with its arguments"),
            ("← name", "what the tool gave back"),
            ("▲", "named here and not there, here twice, or older than the one before"),
            ("┄", "a silence"),
        ),
        words=("progression", "branch", "message", "signal", "transition", "artifact", "contract"),
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("run.next", "tab", "next_view(1)", "next view", "The next view of this run"),
        bind("run.previous", "shift+tab", "next_view(-1)", "view before", "The view before", show=False),
        bind("place.filter", "slash,ctrl+f", "search", "search", "Search in this view"),
        bind("run.copy_into", "C", "copy_into", "copy run", "Copy this run into a managed store, at its gate",
             show=False),
    ]  # fmt: skip

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.detail: RunDetail | None = None
        self.view = VIEWS[0][0]
        self.position: int | None = None  # the message wanted in it
        self.branch: str | None = None  # whose conversation is wanted; None: the one that says most

    def compose_body(self) -> ComposeResult:
        yield RunHead(id="run-head")
        yield ViewTabs(id="run-tabs")
        yield Container(id="run-view")

    # -- loading ----------------------------------------------------------------------------------

    def load(self) -> None:
        session = self.target or ""
        self.loads.start("run", lambda: self.db.run(session))

    @on(Loaded)
    async def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        detail: RunDetail | None = message.value
        if detail is None:
            self.refused(
                StoreError(
                    "There is no such run in this store.",
                    code="no-such-run",
                    where=self.inspector.location.display if self.inspector.location else None,
                    observed=self.target,
                    remedy="Runs (4) lists those there are.",
                )
            )
            return
        self.detail = detail
        self.query_one("#run-head", RunHead).show(detail)
        await self._show_view()

    # -- views --------------------------------------------------------------------------------------

    def show_view(self, view: str | None) -> None:
        wanted = view or VIEWS[0][0]
        if any(wanted == name for name, _, _ in VIEWS) and self._missing(wanted) is None:
            self.view = wanted
            if self.is_mounted and self.detail is not None:
                self.call_later(self._show_view)

    async def _show_view(self) -> None:
        """Shows the current view's pane (made when it is first looked at) and gives it the run."""
        detail = self.detail
        if detail is None:
            return
        pane = self.pane
        if pane is None:
            made: RunPane
            module, _, name = next(where for view, _, where in VIEWS if view == self.view).partition(":")
            made = getattr(import_module(module), name)()
            pane = made
            await self.query_one("#run-view", Container).mount(pane)
        for other in self.query(RunPane):
            other.display = other is pane
        pane.look(detail)
        if self.focused is None or self.focused not in pane.walk_children():
            self._focus(pane)
        self._draw()

    def _focus(self, pane: RunPane) -> None:
        target = next((widget for widget in pane.query("*") if widget.can_focus and widget.display), None)
        self.set_focus(target)

    def _draw(self) -> None:
        self.query_one("#run-tabs", ViewTabs).show_views(
            [(name, title, self._count(name)) for name, title, _ in VIEWS], self.view
        )
        pane = self.pane
        self.set_status(pane.words if pane is not None else ())
        self.refresh_shell()
        self.refresh_bindings()

    @property
    def pane(self) -> RunPane | None:
        found = self.query(f"#view-{self.view}").results(RunPane)
        return next(iter(found), None)

    def _count(self, view: str) -> int | Mark | None:
        detail = self.detail
        if detail is None:
            return None
        if view == "branches":
            return Mark.ABSENT if "branches" in detail.missing_tables else len(detail.branches)
        if view in COUNTS:
            return detail.counts.get(COUNTS[view])
        return None

    def _missing(self, view: str) -> str | None:
        count = self._count(view)
        return count.value if isinstance(count, Mark) else None

    @on(PlaceChanged)
    def _pane_changed(self, message: PlaceChanged) -> None:
        message.stop()
        message.prevent_default()
        self._draw()

    def action_view(self, view: str) -> None:
        reason = self._missing(view)
        if reason is not None:
            self.notify(safe.text(f"{view}: {reason}"), severity="warning", markup=False)
            return
        self.show_view(view)
        self.inspector.places.history.replace(self.address())

    def action_next_view(self, step: int) -> None:
        names = [name for name, _, _ in VIEWS if self._missing(name) is None]
        at = names.index(self.view) if self.view in names else 0
        self.action_view(names[(at + step) % len(names)])

    def action_search(self) -> None:
        pane = self.pane
        if pane is None or not pane.search():
            self.notify("this view has nothing to search in", markup=False)

    def action_copy_into(self) -> None:
        """Chooses the managed store the run is copied into; its gate (0 Actions) is gone to."""
        from inspector.screens.actions_choice import StoreChooser

        chooser = StoreChooser("into which managed store?", self.inspector.location, managed=True)
        self.app.push_screen(chooser, self._copy_into)

    def _copy_into(self, target: StoreLocation | None) -> None:
        source = self.inspector.location
        if target is None or source is None:
            return
        from inspector.passage import Asked

        name = text_of(self.detail.name) if self.detail is not None else None
        self.inspector.open_store(target, asked=Asked("copy-run", source, self.target, name))

    def show_branch(self, branch: str) -> None:
        """Reads the conversation of one of the run's branches."""
        self.branch = branch
        self.action_view("conversation")

    def show_message(self, position: int) -> None:
        """Goes to a message of the conversation that says most."""
        self.position = position
        self.action_view("conversation")

    # -- what the shell asks -----------------------------------------------------------------------------

    def address(self) -> Address:
        return Address(self.NAME, self.target, self.view)

    def crumbs(self) -> list[tuple[str, str | None]]:
        name = text_of(self.detail.name) if self.detail is not None else None
        shown = safe.clip(safe.text(name), 32) if name else formats.short_id(safe.text(self.target or ""), 13)
        title = next(title for view, title, _ in VIEWS if view == self.view)
        out: list[tuple[str, str | None]] = [
            ("Runs", "runs"),
            (f"run {shown}", str(Address(self.NAME, self.target))),
            (title, str(self.address())),
        ]
        pane = self.pane if self.is_mounted else None
        if pane is not None and (more := pane.crumb()):
            out.append((more, None))
        return out

    def close_layer(self) -> bool:
        pane = self.pane
        return pane is not None and pane.close_layer()

    async def copied(self) -> Copy | None:
        return await self.pane.copied() if self.pane is not None else None

    async def copied_row(self) -> Copy | None:
        return await self.pane.copied_row() if self.pane is not None else None

    def exported(self) -> Exportable | None:
        return self.pane.exported() if self.pane is not None else None
