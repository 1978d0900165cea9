"""The run's row as it is stored, field by field, and what this store does not have of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from inspector import safe
from inspector.clipboard import Copy
from inspector.screens.run_pane import RunPane
from inspector.typeset.lines import Line, line
from inspector.widgets.field_list import FieldList
from persistence.records import ABSENT, Mark

if TYPE_CHECKING:
    from persistence.records import ColumnKind, RunDetail

__all__ = ["RawPane"]


class RawPane(RunPane):
    VIEW = "raw"

    def compose(self) -> ComposeResult:
        yield FieldList(id="raw")

    @property
    def list(self) -> FieldList:
        return self.query_one("#raw", FieldList)

    def show_run(self, detail: RunDetail, again: bool) -> None:
        fields = dict(detail.row)
        fields |= dict.fromkeys(detail.missing_columns, ABSENT)
        times = frozenset(name for name in fields if name.endswith("_at"))
        self.list.show(fields, times=times, keep=again)
        self.changed()

    @on(FieldList.Opened)
    def _open(self) -> None:
        from inspector.screens.cell import CellScreen

        current = self.list.current
        if current is not None and not isinstance(current[1], Mark):
            kind: ColumnKind = "json" if current[0].endswith("_json") else "any"
            self.app.push_screen(CellScreen(current[0], current[1], kind=kind))

    @on(FieldList.Moved)
    def _moved(self) -> None:
        self.changed()

    @property
    def words(self) -> Line:
        detail = self.detail
        if detail is None or not self.query("#raw"):
            return ()
        lacking = len(detail.missing_columns)
        said = f"{self.list.cursor + 1} of {self.list.count} fields"
        return line((said + (f", {lacking} not in this store" if lacking else ""), "quiet"))

    async def copied(self) -> Copy | None:
        current = self.list.current
        if current is None or current[1] is None or isinstance(current[1], Mark):
            return None
        return Copy(safe.text(current[0], limit=60), safe.exact(current[1]))

    async def copied_row(self) -> Copy | None:
        from inspector.reports import shapes

        if self.detail is None:
            return None
        body = {name: shapes.value(cell) for name, cell in self.detail.row.items()}
        return Copy(f"the row as JSON ({len(body)} columns)", shapes.dumps(body, indent=2), ".json")
