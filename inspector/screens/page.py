"""A refusal's page over a place, and all there is of one read or rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector import safe
from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.reports.explanations import page, page_lines
from inspector.reports.refusals import refusal_lines
from inspector.screens.layer import Layer, keys_hint
from inspector.widgets.failure import error_content

if TYPE_CHECKING:
    from inspector.app import InspectorApp
    from persistence.errors import StoreError
    from persistence.lineage import ReadStep, RuleStep

__all__ = ["PageScreen", "StepScreen"]


class _Text(Layer[None]):
    """A text that scrolls, closes with esc or enter, and is copied whole."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("page.close", "enter", "close", "close", "Close the page", show=False),
        bind("page.copy", "y", "copy", "copy", "Copy the page as text"),
        bind("page.down", "j,down", "scroll(1)", "down", "Scroll down", show=False),
        bind("page.up", "k,up", "scroll(-1)", "up", "Scroll up", show=False),
    ]
    hint = keys_hint(("esc", "close"), ("y", "copy"), ("↑ ↓", "scroll"))
    WHAT = "the page"

    def compose_layer(self) -> ComposeResult:
        with VerticalScroll(classes="layer-text", id="page"):
            yield Static(self.text())

    def on_mount(self) -> None:
        self.query_one("#page").focus()

    def text(self) -> Content:
        raise NotImplementedError

    def plain(self) -> str:
        return self.text().plain

    def action_scroll(self, step: int) -> None:
        self.query_one("#page", VerticalScroll).scroll_relative(y=step, animate=False)

    def action_copy(self) -> None:
        cast("InspectorApp", self.app).clip(Copy(self.WHAT, self.plain()))


class PageScreen(_Text):
    """A code's page; with an error, what was seen here stands first."""

    def __init__(self, code: str, error: StoreError | None = None) -> None:
        super().__init__()
        self._page = page(code)
        self._error = error
        title = self._page.title if self._page is not None else code
        notice = self._page is not None and self._page.kind == "notice"
        sign, role = ("▲ ", ".notice") if notice else ("✗ ", ".refuse")
        self.heading = Content.assemble(
            (sign, role), safe.content(title, ".strong"), (f"  {safe.text(code)}", ".quiet")
        )

    def text(self) -> Content:
        parts = []
        error, told = self._error, self._page
        if told is None:
            return error_content(error) if error is not None else Content("There is no page for it.")
        if error is not None:
            seen = [safe.content(error.message, ".plain", multiline=True)]
            for label, said in (("expected", error.expected), ("observed", error.observed)):
                if said:
                    words = safe.content(said, ".plain", multiline=True)
                    seen.append(Content.assemble((f"{label}  ", ".quiet"), words))
            parts.append(Content("\n").join(seen))
        for heading, said in told.parts():
            role = (
                ".ok" if heading == "what to do" else ".refuse" if heading == "what not to do" else ".heading"
            )
            parts.append(Content.assemble((heading, role), "\n", (said, ".plain")))
        return Content("\n\n").join(parts)

    def plain(self) -> str:
        seen = list(refusal_lines(self._error)) if self._error is not None else []
        told = list(page_lines(self._page)) if self._page is not None else []
        return "\n".join([*seen, *([""] if seen and told else []), *told]) + "\n"


class StepScreen(_Text):
    """One read or rule with everything that is known of it."""

    WHAT = "the step"

    def __init__(self, step: ReadStep | RuleStep) -> None:
        super().__init__()
        self._step = step
        words = "one rule" if hasattr(step, "rule") else "one read"
        self.heading = Content.styled(words, ".heading")

    def text(self) -> Content:
        return Content("\n").join(
            Content.assemble((f"{label:<10}", ".quiet"), safe.content(said, ".plain", multiline=True))
            for label, said in _facts(self._step)
            if said
        )


def _facts(step: ReadStep | RuleStep) -> list[tuple[str, str | None]]:
    from persistence.lineage import RuleStep

    if isinstance(step, RuleStep):
        mode = {"native": "a native open", "compatibility": "a compatibility open"}.get(step.mode, step.mode)
        return [
            ("rule", step.rule),
            ("of", mode),
            ("question", step.question),
            ("answer", step.answer),
            ("so", "it refuses" if step.refuses else "it does not refuse"),
            ("stands in", step.source),
        ]
    return [
        ("what", step.what),
        ("way", _WAYS.get(step.way, step.way)),
        ("answer", step.answer),
        ("moved", step.moved),
        ("decides", "yes: the rules are asked about these rows" if step.decides else "no"),
        ("kernel", "the thread that read was held to reading" if step.kernel_held else None),
    ]


_WAYS = {
    "stat": "its name, size and place, without opening it",
    "header": "its first bytes",
    "check": "every frame's salts and checksum",
    "immutable": "the file alone (immutable=1): no lock, no journal, no log, no index",
    "readonly_shm": "file and log through the index that is there, which is not written (readonly_shm=1)",
    "shared lock": "the file by SQLite's shared lock, as its own readers do; a writer waited for a moment",
    "private copy": "a copy in a directory of this user's alone, recovered there",
    "snapshot": "one read-only transaction on the server",
}
