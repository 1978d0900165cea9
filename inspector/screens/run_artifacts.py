"""What a run produced: the recorded artifacts, and the files its contract expected against what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from inspector import formats, safe
from inspector.chosen_columns import ChosenColumns
from inspector.roles import status_sign
from inspector.screens.run_lists import ValuesPane
from inspector.widgets.grid import Grid
from persistence.records import Unreadable

if TYPE_CHECKING:
    from persistence.reading.source import RowSource
    from persistence.records import RunDetail

__all__ = ["ArtifactsPane", "contract_content"]

MOST_FILES = 8


class ArtifactsPane(ValuesPane):
    VIEW = "artifacts"
    EMPTY = ("No artifact is recorded for this run.", "")

    def compose(self) -> ComposeResult:
        yield Static(id="contract")
        yield Grid(id="grid-artifacts", empty=self.EMPTY[0], hint=self.EMPTY[1])

    def show_run(self, detail: RunDetail, again: bool) -> None:
        said = contract_content(detail)
        contract = self.query_one("#contract", Static)
        contract.update(said or Content(""))
        contract.display = said is not None
        super().show_run(detail, again)

    def source(self, detail: RunDetail) -> RowSource:
        invocation = detail.row.get("invocation_id")
        found = self.db.artifacts_of(detail.id, invocation if isinstance(invocation, str) else None)
        return ChosenColumns(
            found,
            ("name", "kind", "file_path", "updated_at", "created_at", "content"),
            {"file_path": "path", "updated_at": "updated", "created_at": "created"},
            {"updated_at": "time", "created_at": "time"},
        )


def contract_content(detail: RunDetail) -> Content | None:
    """The contract and its verification as they are recorded; None when there is neither."""
    contract, found = detail.contract, detail.verification
    if contract is None and found is None:
        return None
    lines = [Content.styled("contract", ".heading")]
    for name, value in (("contract", contract), ("verification", found)):
        if isinstance(value, Unreadable):
            lines.append(safe.content(f"✗ the {name} is not readable: {value.why}", ".refuse"))
    if isinstance(found, Mapping):
        lines[0] = Content.assemble(lines[0], "  ", *_verdict(found))
    files = list(_files(contract, found))
    for path, required, state, role in files[:MOST_FILES]:
        lines.append(
            Content.assemble(
                (safe.fit(safe.text(path), 40), ".plain"),
                "  ",
                (safe.fit("required" if required else "optional", 10), ".quiet"),
                (safe.text(state), f".{role}"),
            )
        )
    if len(files) > MOST_FILES:
        lines.append(Content.styled(f"… {len(files) - MOST_FILES} more, see raw", ".quiet"))
    return Content("\n").join(lines)


def _verdict(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    status = found.get("status")
    glyph, word, role = status_sign(status if isinstance(status, str) else None)
    yield f"{glyph} {safe.clip(safe.text(word), 24)}", f".{role}"
    checked = found.get("checked_at")
    if isinstance(checked, int | float):
        yield f"  when it was checked, {formats.relative_time(checked)}", ".quiet"


def _files(contract: Any, found: Any) -> Iterator[tuple[str, bool, str, str]]:
    """(path, required, what was found, role) for each expected file, then for those found besides."""
    seen: dict[str, Mapping[str, Any]] = {}
    missing: set[str] = set()
    if isinstance(found, Mapping):
        for item in _items(found.get("produced")):
            seen[str(item.get("path"))] = item
        for name in ("missing_required", "missing_optional"):
            missing |= {str(item.get("path")) for item in _items(found.get(name))}
    expected = _items(contract.get("expected")) if isinstance(contract, Mapping) else []
    named: set[str] = set()
    for item in expected:
        path = str(item.get("path"))
        named.add(path)
        required = item.get("required") is not False
        if path in missing:
            yield path, required, "✗ missing" if required else "○ missing", "refuse" if required else "quiet"
        elif path in seen:
            yield path, required, _present(seen[path]), "ok"
        else:
            yield path, required, "· not verified", "quiet"
    for path, item in seen.items():
        if path not in named:
            yield path, False, _present(item), "ok"


def _present(item: Mapping[str, Any]) -> str:
    size = item.get("size")
    return f"✓ present, {formats.size(size)}" if isinstance(size, int) else "✓ present"


def _items(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
