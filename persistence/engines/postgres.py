"""Reading a PostgreSQL store: read-only transactions, nothing applied."""

from __future__ import annotations

from persistence.engines.reader import Reader
from persistence.location import StoreLocation


def PostgresReader(location: StoreLocation) -> Reader:  # noqa: N802
    raise NotImplementedError(location.display)
