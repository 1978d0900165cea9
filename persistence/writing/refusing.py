"""The writer of a store that is open read-only: it refuses, before anything else happens (DESIGN 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from persistence.errors import ReadOnlyStoreError
from persistence.location import StoreLocation

__all__ = ["RefusingWriter"]


class RefusingWriter:
    """Every operation raises ReadOnlyStoreError; no argument is looked at and no file is touched."""

    def __init__(self, location: StoreLocation) -> None:
        self._location = location

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        if operation.startswith("__"):
            raise AttributeError(operation)

        def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
            raise ReadOnlyStoreError(
                f"{operation} would write, and this store is open read-only; nothing was done.",
                where=self._location.display,
                expected="a store open for writing",
                observed="mode read-only",
                remedy="Nothing needs to be undone. Writing is only done by a store opened for it.",
            )

        return refuse
