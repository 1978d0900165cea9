"""A text over the place, whole: laid out as wide as there is room, scrolled, copied as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content

from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.screens.layer import Layer, keys_hint
from inspector.widgets.section_list import Build, Entry, Section, SectionList

if TYPE_CHECKING:
    from inspector.app import InspectorApp

__all__ = ["WholeScreen"]


class _Read(SectionList):
    MARKED = False


class WholeScreen(Layer[None]):
    """`build` lays it out; `copy` is what `y` takes of it."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("whole.close", "enter", "close", "close", "Close it", show=False),
        bind("whole.copy", "y", "copy", "copy", "Copy it as text"),
    ]
    hint = keys_hint(("esc", "close"), ("y", "copy"), ("↑ ↓", "scroll"))

    def __init__(self, heading: str, build: Build, copy: Copy) -> None:
        super().__init__()
        self.heading = Content.styled(heading, ".heading")
        self._build = build
        self._copy = copy

    def compose_layer(self) -> ComposeResult:
        yield _Read(id="whole-text")

    def on_mount(self) -> None:
        read = self.query_one(_Read)
        read.show((Section("whole", "", (Entry("whole", self._build),)),))
        read.focus()
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """As high as the text, as far as there is room."""
        read = self.query_one(_Read)
        read.styles.height = max(3, min(len(self._build(read.room)), self.size.height * 9 // 10 - 8))

    def on_tall_list_opened(self) -> None:
        self.action_close()

    def action_copy(self) -> None:
        cast("InspectorApp", self.app).clip(self._copy)
