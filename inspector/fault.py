"""When this program is at fault: a page that says so and how to report it; no traceback on the screen.

The first application has ended by then, whatever state it was in; the page is a small one of its own.
"""

from __future__ import annotations

import platform
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

import themes
from inspector import places, safe
from inspector.colourless import colourless
from inspector.keys import bind
from inspector.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.filter import LineFilter

__all__ = ["FaultApp", "report", "show_fault"]

WHERE = "the issue tracker of Store Inspector"


def report(error: BaseException) -> str:
    """What a maintainer needs: versions, the kind of error, and where in the code. No contents of a store:
    neither the error's message nor any variable is in it."""
    cause: BaseException = error
    while cause.__cause__ is not None or (cause.__context__ is not None and not cause.__suppress_context__):
        cause = cause.__cause__ or cause.__context__ or cause
    inner = getattr(error, "error", None)  # a failed worker carries what failed in it
    if isinstance(inner, BaseException):
        cause = inner
    frames = [
        f"  {Path(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(cause.__traceback__)
    ]
    versions = [f"store-inspector {__version__}", f"Python {platform.python_version()}", platform.platform()]
    for name in ("textual", "sqlalchemy", "aiosqlite", "asyncpg"):
        module = sys.modules.get(name)
        if module is not None:
            versions.append(f"{name} {getattr(module, '__version__', '?')}")
    import sqlite3

    versions.append(f"SQLite {sqlite3.sqlite_version}")
    return "\n".join([*versions, "", type(cause).__qualname__, *frames, ""])


class FaultApp(App[None]):
    """The page itself."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("fault.write", "w", "write", "write", "Write the report to a file"),
        bind("fault.copy", "y", "copy", "copy", "Copy the report"),
        bind("fault.quit", "q,escape,enter,ctrl+c", "quit", "quit", "Leave"),
    ]
    CSS = "#page { padding: 2 4; max-width: 90; }"

    def __init__(self, error: BaseException, *, no_color: bool = False) -> None:
        super().__init__()
        self.no_color = self.no_color or no_color  # the application took NO_COLOR out of the environment
        self._error = error
        self._report = report(error)
        for theme in themes.load():
            self.register_theme(theme)
        self.theme = themes.NO_COLOR if self.no_color else themes.DEFAULT

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.role_defaults()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return colourless(super().get_line_filters(), terminals=self.native_ansi_color)

    def compose(self) -> ComposeResult:
        yield Static(self._page(), id="page")

    def _page(self, said: Content | None = None) -> Content:
        kind = self._report.split("\n\n", 1)[1].splitlines()[0]
        return Content("\n\n").join(
            [
                Content.styled("This is our fault", "bold"),
                Content(
                    "Store Inspector met something it does not know how to handle and stopped. "
                    "The store was only read: nothing of it has changed."
                ),
                Content.assemble("what happened   ", safe.content(kind)),
                Content(f"Please report it to {WHERE}.\nThe report holds versions and places in the code, "
                        "nothing of what is in your store."),
                said or Content("w write the report to a file    y copy it    q leave"),
            ]
        )  # fmt: skip

    def action_write(self) -> None:
        path = places.state_dir() / "reports" / time.strftime("fault-%Y%m%d-%H%M%S.txt")
        try:
            places.write_atomically(path, self._report.encode("utf-8", "replace"))
            said = safe.content(f"written to {path}    q leave")
        except OSError as error:
            said = safe.content(f"not written: {error.strerror or error}    y copy it    q leave")
        self.query_one("#page", Static).update(self._page(said))

    def action_copy(self) -> None:
        self.copy_to_clipboard(safe.exact(self._report))
        self.query_one("#page", Static).update(self._page(Content("sent to the clipboard    q leave")))

    def _handle_exception(self, error: Exception) -> None:
        """A fault within the fault: leave quietly, `show_fault` still says what there was."""
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()


def show_fault(error: BaseException, *, no_color: bool = False) -> None:
    """Shows the page where there is a terminal, and says the same in a few lines on stderr."""
    if sys.__stdin__ is not None and sys.__stdin__.isatty():
        FaultApp(error, no_color=no_color).run()
    said = report(error)
    sys.stderr.write(f"store-inspector: this is our fault; please report it to {WHERE}\n\n{said}")
