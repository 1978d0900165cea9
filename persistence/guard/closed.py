"""The methods of a `sqlite3.Connection` that nothing may call on a guarded store: all but a few.

An allow list, since Python adds methods (`setconfig` in 3.12): one that is not named here is closed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["close_methods"]

_SPECIAL = ("__call__", "__enter__", "__exit__")


def close_methods(kind: type[sqlite3.Connection], keep: frozenset[str]) -> None:
    """Has every method of `kind` but those it defines itself, or that are kept, call its `_refuse(name)`."""
    for name, value in vars(sqlite3.Connection).items():
        if name in vars(kind) or name in keep or (name.startswith("_") and name not in _SPECIAL):
            continue
        if isinstance(value, type):  # the DB-API's exceptions are attributes of a connection
            continue
        if callable(value):
            setattr(kind, name, _closed(name))
        else:
            setattr(kind, name, property(_unreadable(name), _unwritable(name)))


def _closed(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *_arguments: Any, **_named: Any) -> NoReturn:
        self._refuse(name)
        raise AssertionError

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def _unreadable(name: str) -> Callable[[Any], NoReturn]:
    def read(self: Any) -> NoReturn:
        self._refuse(name)
        raise AssertionError

    return read


def _unwritable(name: str) -> Callable[[Any, Any], NoReturn]:
    def write(self: Any, _value: Any) -> NoReturn:
        self._refuse(f"{name} = ...")
        raise AssertionError

    return write
