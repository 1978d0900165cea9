"""Rows in aligned columns for people: clipped to a terminal, whole in a pipe."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

from inspector import formats, safe
from inspector.roles import status_sign
from persistence.records import Column, Preview

__all__ = ["coloured", "columns_text", "plain_cell", "terminal_width"]

GAP = "  "
LEAST, MOST = 6, 48  # cells a text column may be squeezed to, and takes before others have what they need
_RIGHT = frozenset({"number", "duration", "bytes", "money"})


def terminal_width(stream: IO[str]) -> int | None:
    """Cells of the terminal `stream` writes to; None: it is not one, and nothing is clipped."""
    try:
        if not stream.isatty():
            return None
    except ValueError:
        return None
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def coloured(stream: IO[str]) -> bool:
    """Whether weight and colour may be used: a terminal that is not dumb, and no NO_COLOR."""
    return (
        terminal_width(stream) is not None
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def plain_cell(column: Column, cell: Any, *, relative: bool = False) -> str:
    """A cell as one visible line, by what its column holds."""
    if isinstance(cell, bool) or cell is None or isinstance(cell, Preview | bytes):
        return safe.cell(cell)
    if isinstance(cell, int | float):
        match column.kind:
            case "time":
                return formats.relative_time(cell) if relative else formats.exact_time(cell)
            case "duration":
                return formats.duration(cell)
            case "bytes":
                return formats.size(cell)
            case "money":
                return formats.money(cell)
    if isinstance(cell, str) and column.kind == "status":
        sign, word, _ = status_sign(cell)
        return f"{sign} {safe.text(word)}"
    return safe.cell(cell)


def columns_text(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Any]],
    *,
    stream: IO[str] | None = None,
    nothing: str = "NULL",
) -> tuple[list[str], list[str]]:
    """(lines, labels of the columns there was no room for). `nothing` is what a cell without a value says."""
    stream = stream or sys.stdout
    width = terminal_width(stream)
    relative = width is not None
    shown = [column for column in columns if not column.missing]
    at = [index for index, column in enumerate(columns) if not column.missing]
    body = [
        [nothing if row[i] is None else plain_cell(columns[i], row[i], relative=relative) for i in at]
        for row in rows
    ]
    heads = [safe.text(column.label) for column in shown]
    widths = [
        max([safe.width(head), *(safe.width(line[i]) for line in body)]) for i, head in enumerate(heads)
    ]
    kept = len(widths)
    if width is not None:
        widths, kept = _fitted(widths, [safe.width(head) for head in heads], shown, width)
    bold, plain = ("\x1b[1m", "\x1b[0m") if coloured(stream) else ("", "")
    right = [column.kind in _RIGHT for column in shown]

    def line(cells: Sequence[str]) -> str:
        parts = (safe.fit(cells[i], widths[i], right=right[i]) for i in range(kept))
        return GAP.join(parts).rstrip()

    out = [f"{bold}{line(heads)}{plain}", *(line(cells) for cells in body)]
    return out, heads[kept:]


def _fitted(
    natural: Sequence[int], least: Sequence[int], columns: Sequence[Column], room: int
) -> tuple[list[int], int]:
    """Widths that fit, and how many columns do: long text gives way first, then the last columns go."""
    widths = [min(cells, MOST) if column.kind not in ("id", "time") else cells
              for cells, column in zip(natural, columns, strict=True)]  # fmt: skip
    kept = len(widths)
    while kept > 1:
        over = sum(widths[:kept]) + len(GAP) * (kept - 1) - room
        if over <= 0:
            break
        soft = [i for i in range(kept) if columns[i].kind in ("text", "any", "json", "blob", "status", "id")]
        floor = {i: max(LEAST, min(widths[i], 12, max(least[i], 8))) for i in soft}
        if sum(max(0, widths[i] - floor[i]) for i in soft) >= over:
            while over > 0:
                widest = max(soft, key=lambda i: widths[i] - floor[i])
                widths[widest] -= 1
                over -= 1
            break
        kept -= 1
    # What the last column left is given back to the longest text.
    spare = room - (sum(widths[:kept]) + len(GAP) * (kept - 1))
    for i in range(kept):
        more = min(max(0, spare), natural[i] - widths[i])
        widths[i] += more
        spare -= more
    return widths, kept
