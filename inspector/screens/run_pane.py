"""What the views of a run have in common: a pane that loads once it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.containers import Container

from inspector.loader import Loader
from inspector.messages import PlaceChanged
from inspector.typeset.lines import Line

if TYPE_CHECKING:
    from inspector.clipboard import Copy
    from inspector.exporting import Exportable
    from inspector.screens.run import RunPlace
    from persistence.records import RunDetail
    from persistence.statedb import StateDB

__all__ = ["RunPane"]


class RunPane(Container):
    """A view. `show_run` gets the run, again when it was read again; a pane keeps its cursor then."""

    VIEW: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__(id=f"view-{self.VIEW}")
        self.loads = Loader(self)
        self.detail: RunDetail | None = None

    @property
    def place(self) -> RunPlace:
        return cast("RunPlace", self.screen)

    @property
    def db(self) -> StateDB:
        return self.place.db

    def look(self, detail: RunDetail) -> None:
        """The pane is looked at: it loads unless it has this reading of the run already."""
        if detail is not self.detail:
            again = self.detail is not None and self.detail.id == detail.id
            self.detail = detail
            self.show_run(detail, again)

    def show_run(self, detail: RunDetail, again: bool) -> None:
        """Starts loading; `again`: the same run, read once more."""

    def changed(self) -> None:
        """The status line, the keys or what can be copied are others now."""
        self.post_message(PlaceChanged())

    @property
    def words(self) -> Line:
        return ()

    def crumb(self) -> str | None:
        """What of the view is shown, behind its name."""
        return None

    def close_layer(self) -> bool:
        return False

    def search(self) -> bool:
        """Opens the pane's own filter or search; False when it has none."""
        return False

    async def copied(self) -> Copy | None:
        return None

    async def copied_row(self) -> Copy | None:
        return None

    def exported(self) -> Exportable | None:
        return None
