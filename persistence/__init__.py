"""Reading (and, gated, writing) the state store of an agent orchestrator.

`from persistence import StateDB` is the whole entrance: the names below load on first use (PEP 562), so
importing the package costs nothing, and asking for an error does not load SQLAlchemy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persistence.errors import ArtifactPathError as ArtifactPathError
    from persistence.errors import BusyError as BusyError
    from persistence.errors import CancelledReadError as CancelledReadError
    from persistence.errors import ConstraintError as ConstraintError
    from persistence.errors import CopyRefusedError as CopyRefusedError
    from persistence.errors import DeadlineError as DeadlineError
    from persistence.errors import ForeignLineageError as ForeignLineageError
    from persistence.errors import LineageRefusal as LineageRefusal
    from persistence.errors import LocationError as LocationError
    from persistence.errors import LostRaceError as LostRaceError
    from persistence.errors import MissingTableError as MissingTableError
    from persistence.errors import NoSuchRowError as NoSuchRowError
    from persistence.errors import NotAStoreError as NotAStoreError
    from persistence.errors import ProfileError as ProfileError
    from persistence.errors import ReadOnlyStoreError as ReadOnlyStoreError
    from persistence.errors import SchemaApplicationError as SchemaApplicationError
    from persistence.errors import SchemaTooNewError as SchemaTooNewError
    from persistence.errors import StateCompatibilityRefused as StateCompatibilityRefused
    from persistence.errors import StoreConnectionError as StoreConnectionError
    from persistence.errors import StoreDamagedError as StoreDamagedError
    from persistence.errors import StoreError as StoreError
    from persistence.errors import StoreMissingError as StoreMissingError
    from persistence.errors import StoreMovedError as StoreMovedError
    from persistence.errors import StorePermissionError as StorePermissionError
    from persistence.errors import TransitionRejectedError as TransitionRejectedError
    from persistence.errors import UnreadableStoreError as UnreadableStoreError
    from persistence.errors import UnreadableValueError as UnreadableValueError
    from persistence.errors import UnrecognizedStoreError as UnrecognizedStoreError
    from persistence.errors import ValueRefusedError as ValueRefusedError
    from persistence.handles import shared_handle as shared_handle
    from persistence.location import StoreLocation as StoreLocation
    from persistence.location import locate as locate
    from persistence.mode import Mode as Mode
    from persistence.statedb import StateDB as StateDB

_HOMES = {
    "StateDB": "persistence.statedb",
    "Mode": "persistence.mode",
    "locate": "persistence.location",
    "StoreLocation": "persistence.location",
    "shared_handle": "persistence.handles",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        errors = import_module("persistence.errors")
        if name not in errors.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(errors, name)
    else:
        value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    errors = import_module("persistence.errors")
    return sorted({*globals(), *_HOMES, *errors.__all__})
