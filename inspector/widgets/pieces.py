"""A line of pieces: what the shell's own lines are made of (store line, places, status, keys).

A piece is text with, perhaps, an action of ours that a click runs. Pieces stand left or right; when
there is no room the least important are left out, and the last one left is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from inspector import safe
from inspector.typeset.lines import Line, clipped, line_width
from inspector.widgets.role_style import role_style

__all__ = ["Piece", "PieceFlow", "PieceLine", "laid_out"]

WORTH_ITS_GAPS = 4
"""From this weight on a piece is not left out while wide gaps can be made narrow for it (`SPARE`)."""
NARROW = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """`weight` says how long it stays when room gets short: the lightest goes first, 0 stays always."""

    text: Line
    action: str | None = None
    tip: str | None = None
    weight: int = 1
    right: bool = False
    gap: int = 2  # blanks before it, when something stands there
    short: Line | None = None  # said instead, before anything is left out
    namespace: object = field(default=None, compare=False)

    @property
    def width(self) -> int:
        return line_width(self.text)


def laid_out(pieces: Sequence[Piece], room: int, *, spare: bool = False) -> list[tuple[int, Piece]]:
    """(column, piece) for the pieces that fit into `room` cells, left ones from 0, right ones to the end.

    `spare`: gaps are made narrow before a piece of the weight `WORTH_ITS_GAPS` is left out.
    """
    kept = [piece for piece in pieces if piece.width]

    def needed(these: Iterable[Piece]) -> int:
        total = 0
        for piece in these:
            total += piece.width + (piece.gap if total else 0)
        return total

    while kept and needed(kept) > room:
        spoken = [piece for piece in kept if piece.short is not None]
        if spoken:
            last = min(spoken, key=lambda piece: piece.weight or 1_000)
            kept[kept.index(last)] = replace(last, text=last.short or last.text, short=None)
            continue
        loose = [piece for piece in kept if piece.weight]
        if not loose:
            break
        lightest = min(piece.weight for piece in loose)
        if spare and lightest >= WORTH_ITS_GAPS and any(piece.gap > NARROW for piece in kept):
            kept = [replace(piece, gap=min(piece.gap, NARROW)) for piece in kept]
            continue
        kept.remove(next(piece for piece in reversed(loose) if piece.weight == lightest))
    out: list[tuple[int, Piece]] = []
    column = 0
    for piece in kept:
        if not piece.right:
            column += piece.gap if column else 0
            out.append((column, piece))
            column += piece.width
    end = room
    for piece in reversed([piece for piece in kept if piece.right]):
        end -= piece.width
        out.append((max(end, column), piece))
        end -= piece.gap
    return out


class PieceLine(Widget):
    """One line of pieces with one cell of gutter on each side. Give it pieces with `show`."""

    SPARE = False  # whether gaps give way before what matters (`laid_out`)

    DEFAULT_CSS = """
    PieceLine { height: 1; width: 1fr; padding: 0 1; text-wrap: nowrap; text-overflow: clip; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._pieces: tuple[Piece, ...] = ()
        self._under: Piece | None = None  # the mouse is over it

    def show(self, pieces: Iterable[Piece]) -> None:
        self._pieces = tuple(pieces)
        self.refresh()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return self._pieces

    def laid(self) -> list[tuple[int, Piece]]:
        return laid_out(self._pieces, self.content_size.width, spare=self.SPARE)

    def render_line(self, y: int) -> Strip:
        return self._strip(sorted(self.laid(), key=lambda entry: entry[0]) if y == 0 else [])

    def _strip(self, laid: Sequence[tuple[int, Piece]]) -> Strip:
        room, base = self.size.width, self.rich_style
        segments: list[Segment] = []
        column = 0
        for start, piece in laid:
            if start >= room:
                break
            if start > column:
                segments.append(Segment(" " * (start - column), base))
            over = (
                Style(underline=True) if piece is self._under and piece.action is not None else Style.null()
            )
            text = clipped(piece.text, room - start)
            segments += [Segment(run.text, base + role_style(self, run.role) + over) for run in text]
            column = start + line_width(text)
        return Strip(segments).crop_extend(0, max(0, room), base)

    def _at(self, x: int, y: int = 0) -> tuple[int, Piece] | None:
        laid = sorted(self.laid(), key=lambda entry: entry[0])
        for index, (start, piece) in enumerate(laid):
            if start <= x < start + piece.width:
                return index, piece
        return None

    def _piece_at(self, event: events.MouseEvent) -> Piece | None:
        found = self._at(event.x - self.styles.padding.left, event.y - self.styles.padding.top)
        return found[1] if found is not None else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        piece = self._piece_at(event)
        if piece is not self._under:
            self._under = piece
            self.refresh()
        self.tooltip = safe.content(piece.tip) if piece is not None and piece.tip else None

    def on_leave(self) -> None:
        self._under = None
        self.refresh()

    async def on_click(self, event: events.Click) -> None:
        piece = self._piece_at(event)
        if piece is None or piece.action is None:
            return
        event.stop()
        await self.app.run_action(piece.action, piece.namespace or self)  # type: ignore[arg-type]


class PieceFlow(PieceLine):
    """Pieces in as many lines as they need."""

    DEFAULT_CSS = """
    PieceFlow { height: auto; }
    """

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self._rows(width)))

    def _rows(self, room: int) -> list[list[tuple[int, Piece]]]:
        out: list[list[tuple[int, Piece]]] = []
        column = 0
        for piece in self._pieces:
            gap = piece.gap if column else 0
            if not out or (column + gap + piece.width > room and column):
                out.append([])
                column = gap = 0
            out[-1].append((column + gap, piece))
            column += gap + piece.width
        return out

    def show(self, pieces: Iterable[Piece]) -> None:
        super().show(pieces)
        self.refresh(layout=True)

    def render_line(self, y: int) -> Strip:
        rows = self._rows(self.size.width)
        return self._strip(rows[y] if y < len(rows) else [])

    def _at(self, x: int, y: int = 0) -> tuple[int, Piece] | None:
        rows = self._rows(self.size.width)
        before = sum(len(row) for row in rows[:y])
        for index, (start, piece) in enumerate(rows[y] if 0 <= y < len(rows) else ()):
            if start <= x < start + piece.width:
                return before + index, piece
        return None
