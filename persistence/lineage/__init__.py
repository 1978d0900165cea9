"""Whose store is this, decided without writing a byte (ADR-0128 D7): `examine(location)` and its report.

The names load on first use (PEP 562). SQLite stores need the standard library alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persistence.lineage.connection import check_first_connection as check_first_connection
    from persistence.lineage.connection import check_later_connection as check_later_connection
    from persistence.lineage.connection import check_transaction as check_transaction
    from persistence.lineage.connection import check_under_lock as check_under_lock
    from persistence.lineage.connection import stamp as stamp
    from persistence.lineage.examination import examine as examine
    from persistence.lineage.held import claim as claim
    from persistence.lineage.held import connection_identity as connection_identity
    from persistence.lineage.held import held_here as held_here
    from persistence.lineage.report import LineageReport as LineageReport
    from persistence.lineage.report import Opener as Opener
    from persistence.lineage.report import ReadStep as ReadStep
    from persistence.lineage.report import RuleStep as RuleStep
    from persistence.lineage.report import StoreHeader as StoreHeader
    from persistence.lineage.report import Verdict as Verdict
    from persistence.lineage.server import examine_server as examine_server

_HOMES = {
    "connection": (
        "check_first_connection",
        "check_later_connection",
        "check_transaction",
        "check_under_lock",
        "stamp",
    ),
    "examination": ("examine",),
    "held": ("claim", "connection_identity", "held_here"),
    "report": ("LineageReport", "Opener", "ReadStep", "RuleStep", "StoreHeader", "Verdict"),
    "server": ("examine_server",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
