"""A store that does not open: why, the evidence, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.screens.place import Place, PlaceHelp
from inspector.widgets.failure import error_content

if TYPE_CHECKING:
    from persistence.errors import StoreError

__all__ = ["RefusedPlace"]


class RefusedPlace(Place):
    NAME = "refused"
    ABOUT = PlaceHelp(
        "The store could not be opened. Nothing of it was changed. The page says which fact decided that, "
        "and what can be done; enter explains it, `2` shows every read that was made, `r` tries again, `o` "
        "opens another store."
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind(
            "refused.explain",
            "enter",
            "explain",
            "explain",
            "What it means, why there is such a rule, what to do",
        ),
    ]

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="refusal"):
            yield Static(id="refusal-text")

    def load(self) -> None:
        error = self.inspector.refusal
        if error is None:
            return
        ways = Content.assemble(
            ("enter", ".key"), (" explains it   ", ".quiet"), ("2", ".key"), (" every read   ", ".quiet"),
            ("r", ".key"), (" try again   ", ".quiet"), ("o", ".key"), (" open another store   ", ".quiet"),
            ("y", ".key"), (" copy this page", ".quiet"),
        )  # fmt: skip
        self.query_one("#refusal-text", Static).update(
            Content("\n\n").join([error_content(error, title="this store does not open"), ways])
        )

    @property
    def refusal_shown(self) -> StoreError | None:
        return self.inspector.refusal

    def crumbs(self) -> list[tuple[str, str | None]]:
        error = self.inspector.refusal
        return [("Not open", None), *([(error.code, None)] if error is not None else [])]

    async def copied(self) -> Copy | None:
        error = self.inspector.refusal
        return Copy("the refusal", error_content(error).plain) if error is not None else None
