"""The operational schema (ADR-0055 D1): 32 tables as SQLAlchemy `MetaData`, one module a group.

`from persistence.schema import metadata` loads all of them (PEP 562: importing the package alone, or
`persistence.schema.known`, loads no SQLAlchemy).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from persistence.schema.known import GROUPS

if TYPE_CHECKING:
    from persistence.schema.columns import metadata as metadata


def __getattr__(name: str) -> Any:
    if name != "metadata":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for group in GROUPS:
        import_module(f"persistence.schema.{group}")
    globals()[name] = import_module("persistence.schema.columns").metadata
    return globals()[name]
