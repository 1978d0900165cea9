"""A refusal as people read it: what, where, expected and observed, and what to do; never a traceback."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector import safe
from persistence.errors import StoreError

__all__ = ["FailurePanel", "error_content"]


def error_content(error: StoreError, *, title: str = "") -> Content:
    """The whole of an error, made visible; facts it does not have are left out."""
    parts: list[Content] = [
        Content.assemble(("✗ ", ".refuse"), (title or safe.text(error.code), ".refuse")),
        Content(""),
        safe.content(error.message, ".plain", multiline=True),
    ]
    facts = [
        ("where", error.where),
        ("expected", error.expected),
        ("observed", error.observed),
        ("committed", ", ".join(error.committed) or None),
    ]
    shown = [(label, value) for label, value in facts if value]
    if shown:
        parts.append(Content(""))
        parts += [_fact(label, value, ".quiet") for label, value in shown]
    if error.remedy:
        parts += [Content(""), _fact("what to do", error.remedy, ".ok")]
    return Content("\n").join(parts)


def _fact(label: str, value: str, style: str) -> Content:
    return Content.assemble((f"{label:<12}", style), safe.content(value, ".plain", multiline=True))


class FailurePanel(VerticalScroll):
    """Lies over a place's body when something of it could not be read; `esc` closes it, `r` tries again."""

    error: StoreError | None = None
    """What is shown; None while nothing is."""

    def compose(self) -> ComposeResult:
        yield Static(id="failure-text")

    def on_mount(self) -> None:
        self.display = False

    def show_error(self, error: StoreError) -> None:
        said = Content("\n\n").join(
            [error_content(error), Content.assemble(("r", ".key"), (" tries again   ", ".quiet"),
                                                    ("!", ".key"), (" explains it   ", ".quiet"),
                                                    ("esc", ".key"), (" closes this", ".quiet"))]
        )  # fmt: skip
        self.error = error
        self.query_one("#failure-text", Static).update(said)
        self.display = True

    def hide(self) -> None:
        self.error = None
        self.display = False
