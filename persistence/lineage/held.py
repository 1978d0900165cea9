"""The files this process holds open for writing, by device and inode (ADR-0128 D7, A.0; DECISIONS 13).

A handle claims its file before it opens a writable connection, and keeps the claim until it is closed. The
register is the one of `persistence.engines.gate`: however a path is spelled, one file has one gate.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from persistence.errors import StateCompatibilityRefused
from persistence.files import Identity
from persistence.lineage.remedies import remedy

if TYPE_CHECKING:
    from persistence.engines.gate import Handle

__all__ = ["claim", "connection_identity", "held_here"]

Kind = Literal["native", "compatibility"]


def held_here(identity: Identity | None, kind: Kind, where: str) -> StateCompatibilityRefused | None:
    """Why a handle of this kind may not open the file now: another one of the other kind has it.

    `where` is the store as it may be shown. Asks the register alone: nothing is opened.
    """
    gates = sys.modules.get("persistence.engines.gate")  # nothing is held where nobody loaded it
    return (
        None if identity is None or gates is None else _against(gates.gate_for(identity).handles, kind, where)
    )


@contextmanager
def claim(identity: Identity, kind: Kind, label: str) -> Iterator[Handle]:
    """The file, for a handle of this kind, for as long as it is open.

    `label` names the handle to people: the store, its profile and owner. Raises StateCompatibilityRefused,
    which names both handles, when one of the other kind has the file.
    """

    from persistence.engines.gate import gate_for

    def beside(handles: tuple[Handle, ...]) -> None:
        refusal = _against(handles, kind, label)
        if refusal is not None:
            raise refusal

    with gate_for(identity).handle(kind, label, beside=beside) as handle:
        yield handle


def connection_identity(connection: sqlite3.Connection) -> Identity | None:
    """Device and inode of the file a connection opened; None for one in memory. Raises OSError."""
    for _, name, path in connection.execute("PRAGMA database_list").fetchall():
        if name == "main" and path:
            found = os.stat(path)
            return found.st_dev, found.st_ino
    return None


def _against(handles: tuple[Handle, ...], kind: Kind, where: str) -> StateCompatibilityRefused | None:
    other = next((handle for handle in handles if handle.kind != kind), None)
    if other is None:
        return None
    return StateCompatibilityRefused(
        f"This process has the file open in {other.kind} mode ({other.label}); a {kind} handle ({where}) "
        "would write around it.",
        code="held-here",
        operation="open",
        where=where,
        rule="held-here",
        expected=f"no {other.kind} handle of this process on the file",
        observed=f"{other.kind}: {other.label}",
        remedy=remedy("held-here"),
    )
