"""The rows this handle made, as they were committed (ADR-0128 D4, D5)."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Created", "Row"]

Row = tuple[str, str]
"""Table and id."""


class Created:
    """What was committed through one open handle; nothing outlives the handle.

    Rows are noted in the commit path, on the thread that committed, before anybody can be cancelled.
    """

    __slots__ = ("_open", "_phases", "_rows")

    def __init__(self) -> None:
        self._rows: set[Row] = set()
        self._phases: dict[str, int] = {}
        self._open = True

    def made(self, row: Row) -> bool:
        """Whether this run made it."""
        return row in self._rows

    def owns(self, row: Row) -> bool:
        """Whether an operation may name it as this run's."""
        return row in self._rows

    @property
    def phases(self) -> dict[str, int]:
        """The transactions committed so far, by name in their order, and how many of each."""
        return dict(self._phases)

    def __len__(self) -> int:
        return len(self._rows)

    def note(self, transaction: str, rows: Iterable[Row]) -> None:
        """A transaction was committed, with these new rows."""
        if self._open:
            self._rows.update(rows)
            self._phases[transaction] = self._phases.get(transaction, 0) + 1

    def forget(self) -> None:
        """The handle is closed: no row is this run's any more, nor is one that is noted late."""
        self._open = False
        self._rows = set()
