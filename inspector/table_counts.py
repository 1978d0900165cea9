"""How many rows each table of a store has, counted once and shared by the places that say it."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from inspector import formats
from persistence.records import Progress

if TYPE_CHECKING:
    from inspector.loader import Report
    from persistence.reading.overview import TableCount
    from persistence.statedb import StateDB

__all__ = ["TableCounts", "count_tables", "counts_of"]

CHEAP = 0.5  # seconds: counting that takes no longer is done again whenever the store moved
OLD = 60.0  # seconds after which a longer count is worth doing again
TELL = (
    0.1  # seconds between two reports: nobody reads thirty counts one by one, and each draws the list again
)


class TableCounts:
    """What is known so far. `known` grows while counting; `complete` once every table was counted."""

    def __init__(self) -> None:
        self.known: dict[str, TableCount] = {}
        self.complete = False
        self.counting = False
        self._began = 0.0
        self._took = 0.0

    def due(self) -> bool:
        """Whether it is worth counting (again)."""
        if self.counting:
            return False
        return not self.complete or self._took <= CHEAP or formats.now() - self._began > OLD

    def begin(self) -> None:
        self.counting, self._began = True, formats.now()

    def add(self, count: TableCount) -> None:
        self.known[count.table] = count

    def end(self, *, complete: bool) -> None:
        self.counting, self.complete = False, complete or self.complete
        self._took = formats.now() - self._began

    def words(self, table: str) -> str:
        """`1,000,000`, `10,000+`, `?` for a table that cannot be counted, empty while it is not known."""
        count = self.known.get(table)
        if count is None:
            return ""
        return "?" if count.rows is None else formats.count(count.rows, complete=count.complete)


_counts: WeakKeyDictionary[StateDB, TableCounts] = WeakKeyDictionary()


def counts_of(db: StateDB) -> TableCounts:
    """The counts of an open store."""
    found = _counts.get(db)
    if found is None:
        found = _counts[db] = TableCounts()
    return found


async def count_tables(db: StateDB, report: Report) -> None:
    """Counts the tables of an open store, one after another; what is known is told as it grows."""
    counts = counts_of(db)
    counts.begin()
    complete = False
    told = monotonic()
    try:
        async for count in db.counts():
            counts.add(count)
            if monotonic() - told >= TELL:
                report(Progress(len(counts.known), what="tables"))
                told = monotonic()
        complete = True
    finally:
        counts.end(complete=complete)
