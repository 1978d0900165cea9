"""Writing what is shown to a file: in which form, where to, and how far it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector import exporting, formats, safe
from inspector.exporting import Exportable, Written
from inspector.keys import bind
from inspector.loader import Loader, Report
from inspector.messages import Loaded, LoadFailed, LoadProgressed
from inspector.reports import shapes
from inspector.screens.layer import Layer, keys_hint
from persistence.errors import StoreError
from persistence.records import Progress

if TYPE_CHECKING:
    from inspector.clipboard import Copy
    from inspector.opened import OpenedStore
    from persistence.location import StoreLocation

__all__ = ["ExportScreen"]

WORDS = {
    "csv": "CSV, exact",
    exporting.SPREADSHEET: "CSV, no text taken for a formula",
    "json": "JSON, one object",
    "jsonl": "JSON lines, one a row",
    "markdown": "Markdown, for reading",
    "html": "HTML, a page of its own",
    "text": "text, as it is",
}


class ExportScreen(Layer[None]):
    """Asks for a form and a file, writes, and says how many rows went where."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("export.next", "tab", "app.focus_next", "next", "The next field", show=False),
    ]
    heading = Content.styled("write to a file", ".heading")
    hint = keys_hint(("enter", "write"), ("tab", "form and file"), ("esc", "cancel"))

    def __init__(self, what: Exportable, location: StoreLocation | None = None) -> None:
        super().__init__()
        self._what = what
        self._location = location
        self._form = what.forms[0]
        self._replace: Path | None = None
        self._loads = Loader(self)

    @classmethod
    def of_copy(cls, copy: Copy, location: StoreLocation | None = None) -> ExportScreen:
        """What is too big for a clipboard."""
        screen = cls(exporting.of_copy(copy), location)
        screen.heading = Content.assemble(
            ("too big for a clipboard", ".heading"), (f"  {formats.size(copy.size)}", ".quiet")
        )
        return screen

    def compose_layer(self) -> ComposeResult:
        yield Static(safe.content(self._what.what, ".plain"), id="export-what")
        forms = self._what.forms
        options = OptionList(*(Option(Content(WORDS.get(form, form)), id=form) for form in forms), id="forms")
        options.display = len(forms) > 1
        yield options
        yield Input(value=self._suggested(), id="export-path")
        yield Static(Content(""), id="export-said")

    def on_mount(self) -> None:
        forms = self.query_one("#forms", OptionList)
        forms.highlighted = 0
        (forms if forms.display else self.query_one("#export-path", Input)).focus()

    def _suggested(self) -> str:
        from inspector.reports.export import suggested_target

        target = suggested_target(self._what.name, exporting.ending_of(self._form), self._location)
        shown, home = os.fsdecode(target), os.fsdecode(Path.home())
        return f"~{shown[len(home) :]}" if home not in ("", "/") and shown.startswith(f"{home}/") else shown

    @on(OptionList.OptionHighlighted, "#forms")
    def _form_chosen(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id is None or event.option.id == self._form:
            return
        path = self.query_one("#export-path", Input)
        untouched = path.value == self._suggested()
        self._form = event.option.id
        if untouched:
            path.value = self._suggested()

    @on(OptionList.OptionSelected, "#forms")
    def _form_kept(self) -> None:
        self.query_one("#export-path", Input).focus()

    def on_descendant_focus(self) -> None:
        """Enter takes the form first and writes from the field: the line below says which it will be."""
        listed = self.query_one("#forms", OptionList)
        others = (("tab", "form and file"),) if listed.display else ()
        enter = "take this form" if self.focused is listed else "write"
        self.query_one("#layer-hint", Static).update(keys_hint(("enter", enter), *others, ("esc", "cancel")))

    @on(Input.Changed, "#export-path")
    def _path_changed(self) -> None:
        self._replace = None
        self._say(Content(""))

    @on(Input.Submitted, "#export-path")
    def _write(self, event: Input.Submitted) -> None:
        if self._loads.running():
            return
        target = Path(event.value.strip())
        if not event.value.strip():
            self._say(Content.styled("a file needs a name", ".notice"))
            return
        overwrite = self._replace == target
        opened: OpenedStore | None = getattr(self.app, "opened", None)
        store = None
        if self._what.of_store and opened is not None and opened.facts is not None:
            store = shapes.store_shape(opened.facts, opened.read)

        async def work(report: Report) -> Written:
            return await exporting.write(
                self._what,
                self._form,
                target,
                location=self._location,
                store=store,
                overwrite=overwrite,
                progress=lambda rows: report(Progress(rows, what="rows written")),
            )

        self._say(Content.styled("writing …", ".quiet"))
        self._loads.start_reporting("export", work)

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self._loads.takes(message):
            progress = message.progress
            self._say(Content.styled(f"{formats.count(progress.done)} {progress.what}, esc stops", ".quiet"))

    @on(Loaded)
    def _written(self, message: Loaded) -> None:
        if not self._loads.takes(message):
            return
        written: Written = message.value
        rows = "" if written.rows is None else f"{formats.several(written.rows, 'row')}, "
        said = f"{rows}{formats.size(written.size)} to {written.path}"
        if not written.complete:
            said += f"\nnot all there is: {written.reason}"
        self.app.notify(safe.lines(said), title="written", markup=False)
        self.dismiss(None)

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if not self._loads.takes(message):
            return
        error = message.error
        if error.code == "file-exists":
            self._replace = Path(self.query_one("#export-path", Input).value.strip())
            self._say(Content.styled("there is a file of that name; enter again replaces it", ".notice"))
        else:
            self._say(_problem(error))

    def _say(self, words: Content) -> None:
        self.query_one("#export-said", Static).update(words)

    def action_close(self) -> None:
        if self._loads.cancel("export"):
            self._say(Content.styled("stopped; nothing was written", ".notice"))
        else:
            self.dismiss(None)


def _problem(error: StoreError) -> Content:
    return Content.assemble(
        ("✗ ", ".refuse"),
        safe.content(error.message, ".plain"),
        "\n",
        safe.content(error.remedy or "", ".quiet"),
    )
