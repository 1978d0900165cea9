"""Whether a SQLite version has the WAL-reset race of writers (DESIGN 9)."""

from __future__ import annotations

__all__ = ["exposed_to_wal_reset"]

_FROM, _FIXED = (3, 7, 0), (3, 51, 3)
_FIXED_BEFORE = ((3, 50, 7), (3, 44, 6))


def exposed_to_wal_reset(version: tuple[int, ...]) -> bool:
    """3.7.0 to 3.51.2 are exposed; fixed in 3.51.3, 3.50.7 and 3.44.6."""
    if not _FROM <= version < _FIXED:
        return False
    return not any(version[:2] == fixed[:2] and version >= fixed for fixed in _FIXED_BEFORE)
