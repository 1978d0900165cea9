"""How one cell of the windowed table reads, by what its column holds: text, role and side."""

from __future__ import annotations

from typing import NamedTuple

from inspector import formats, safe
from inspector.roles import status_sign
from persistence.records import Cell, Column, Unreadable

__all__ = ["Painted", "fitted", "painted"]

RIGHT = frozenset({"number", "bytes", "duration", "money"})
_FACE_ROLES = {
    "null": "quiet",
    "absent": "quiet",
    "pending": "quiet",
    "unreadable": "refuse",
    "blob": "code",
    "odd": "notice",
}
MEASURED = 120
"""Characters of a cell looked at; no column is shown wider before a person widens it."""


class Painted(NamedTuple):
    """Visible text, the role it is drawn in, and whether it stands at the right."""

    text: str
    role: str = "plain"
    right: bool = False


def painted(
    cell: Cell,
    column: Column,
    *,
    exact_times: bool = False,
    limit: int = MEASURED,
    null: str = "NULL",
    grouped: bool = True,
) -> Painted:
    """One cell as one visible line. Values that are not what the column promises show as what they are."""
    face = safe.face(cell, limit=limit)
    right = column.kind in RIGHT or (face.role == "number" and column.kind == "any")
    if column.kind == "status" and cell is None:
        return Painted("· none", "quiet")
    if cell is None:
        return Painted(null, "quiet", right)
    if face.role in _FACE_ROLES:
        return Painted(face.text, _FACE_ROLES[face.role], right and face.role != "unreadable")
    match column.kind:
        case "time":
            return _time(cell, face.text, exact_times)
        case "status" if isinstance(cell, str):
            glyph, word, role = status_sign(cell)
            return Painted(f"{glyph} {safe.text(word, limit=limit)}", role)
        case "bytes" if face.role == "number":
            return Painted(formats.size(cell), right=True)
        case "duration" if face.role == "number":
            return Painted(formats.duration(cell), right=True)
        case "money" if face.role == "number":
            return Painted(formats.money(cell), right=True)
        case "number" if grouped and isinstance(cell, int) and not isinstance(cell, bool):
            return Painted(formats.count(cell), right=True)
        case "json":
            return Painted(face.text, "code")
        case "id":
            return Painted(face.text, "code")
        case _:
            return Painted(face.text, right=right)


def fitted(what: Painted, column: Column, cells: int) -> str:
    """The text in exactly `cells` cells; ids lose their middle, everything else its end."""
    text = what.text
    if column.kind == "id" and len(text) > cells and text.isascii():
        text = formats.short_id(text, cells)
    return safe.fit(text, cells, right=what.right)


def _time(cell: Cell, seen: str, exact: bool) -> Painted:
    if isinstance(cell, Unreadable) or formats.moment(cell) is None:
        return Painted(seen)
    return Painted(formats.exact_time(cell, zone=False) if exact else formats.relative_time(cell))
