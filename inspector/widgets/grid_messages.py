"""What the windowed table tells the place it stands in, and what its loads tell the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from inspector.widgets.grid_rows import GridRows
    from persistence.errors import StoreError
    from persistence.reading.source import RowSource
    from persistence.records import Column, Extent, Order, ReadInfo, Row, Window

__all__ = ["Answer", "Completed", "Failed", "GridMessage", "Highlighted", "Loaded", "Measured", "Opened"]
__all__ += ["OrderChanged", "ReadFailed", "Switched", "ViewAsked", "WindowRead"]


class GridMessage(Message):
    """From a grid to its place."""

    def __init__(self, grid: GridRows) -> None:
        super().__init__()
        self.grid = grid

    @property
    def control(self) -> GridRows:
        return self.grid


class _AboutRow(GridMessage):
    def __init__(self, grid: GridRows, row: Row, column: Column | None) -> None:
        super().__init__(grid)
        self.row = row
        self.column = column

    @property
    def key(self) -> tuple[Any, ...]:
        return self.row.key


class Opened(_AboutRow):
    """Enter or a double click on a row; `column` is the one the cursor is in."""

    namespace = "grid"


class ViewAsked(_AboutRow):
    """The value under the cursor is to be shown whole."""

    namespace = "grid"


class Highlighted(GridMessage):
    """The cursor is on another row; None: on one that is not loaded yet, or there is none."""

    namespace = "grid"

    def __init__(self, grid: GridRows, row: Row | None) -> None:
        super().__init__(grid)
        self.row = row


class OrderChanged(GridMessage):
    """The rows now stand in this order; None: the source's own."""

    namespace = "grid"

    def __init__(self, grid: GridRows, order: Order | None) -> None:
        super().__init__(grid)
        self.order = order


class Loaded(GridMessage):
    """Rows arrived, or more is known of how many there are: the status line is to be drawn again."""

    namespace = "grid"

    def __init__(self, grid: GridRows, extent: Extent, read: ReadInfo | None) -> None:
        super().__init__(grid)
        self.extent = extent
        self.read = read


class Failed(GridMessage):
    """Something could not be read; what was there before is still shown."""

    namespace = "grid"

    def __init__(self, grid: GridRows, error: StoreError) -> None:
        super().__init__(grid)
        self.error = error


class Answer(Message, bubble=False):
    """From a load to its grid alone; one with another ticket than the grid's is late, and dropped.

    A subclass has to say `bubble=False` again.
    """

    def __init__(self, ticket: int) -> None:
        super().__init__()
        self.ticket = ticket


class Switched(Answer, bubble=False):
    """Another source, with its first window around the row to keep."""

    def __init__(
        self, ticket: int, source: RowSource, position: int, arrived: int, window: Window, count: int
    ) -> None:
        super().__init__(ticket)
        self.source = source
        self.position = position
        self.arrived = arrived  # rows above the one that was first before
        self.window = window
        self.count = count  # rows asked for


class WindowRead(Answer, bubble=False):
    def __init__(self, ticket: int, window: Window, first: int, count: int) -> None:
        super().__init__(ticket)
        self.window = window
        self.first = first
        self.count = count


class Completed(Answer, bubble=False):
    def __init__(self, ticket: int, window: Window) -> None:
        super().__init__(ticket)
        self.window = window


class Measured(Answer, bubble=False):
    def __init__(self, ticket: int, extent: Extent) -> None:
        super().__init__(ticket)
        self.extent = extent


class ReadFailed(Answer, bubble=False):
    """`first` and `count` are the rows that could not be read; None for a switch, a count, a completion."""

    def __init__(
        self, ticket: int, what: str, error: StoreError, first: int | None = None, count: int = 0
    ) -> None:
        super().__init__(ticket)
        self.what = what
        self.error = error
        self.first = first
        self.count = count
