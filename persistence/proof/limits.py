"""What a proof's concurrency is held to, declared before the run (ADR-0128 D8, item 7)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from persistence.errors import StoreError

__all__ = ["DEFAULTS", "Limits", "LimitsError", "load_limits"]


class LimitsError(StoreError, ValueError):
    """The file of limits is not one. `where` names file and key."""

    default_code = "limits-invalid"


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds. Times are how long one of our transactions holds the writer's lock, in milliseconds.

    `busy_rate` is the share (0 to 1) of the other side's transactions that found the store busy past
    `busy_wait_ms`; `log_bytes` is what the log may grow to while the checkpointer works; `messages` is the
    least number of live messages recorded, so that an idle run proves nothing.
    """

    hold_p50_ms: float = 20.0
    hold_p99_ms: float = 200.0
    hold_max_ms: float = 1000.0
    busy_rate: float = 0.01
    busy_wait_ms: float = 2000.0
    log_bytes: int = 64 * 1024 * 1024
    messages: int = 20


DEFAULTS = Limits()


def load_limits(path: str | os.PathLike[str]) -> Limits:
    """Reads a TOML file: a table `limits` with any of the fields of `Limits`; others keep their default.

    Raises LimitsError naming the key.
    """
    where = os.fspath(path)
    try:
        document = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise LimitsError(
            f"The file of limits cannot be read: {error.strerror}.",
            where=where,
            remedy="Name a TOML file with a table [limits].",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LimitsError(f"The file of limits is not TOML: {error}.", where=where) from error
    unknown = sorted(set(document) - {"limits"})
    table = document.get("limits")
    if unknown or not isinstance(table, dict):
        raise LimitsError(
            "A file of limits has one table, [limits], and nothing else.",
            where=where,
            expected="[limits]",
            observed=", ".join(unknown) or "no such table",
        )
    return Limits(**_checked(table, where))


def _checked(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    known = {field.name: type(getattr(DEFAULTS, field.name)) for field in fields(Limits)}
    taken: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise LimitsError(
                f"There is no limit of the name {key!r:.80}.",
                where=f"{where}: limits.{key:.80}",
                expected=", ".join(known),
            )
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 <= value < float("inf") or (known[key] is int and value != int(value)):
            raise LimitsError(
                f"The limit {key} is a number from 0.",
                where=f"{where}: limits.{key}",
                expected=f"a {'whole ' if known[key] is int else ''}number, 0 or more",
                observed=repr(value)[:80],
            )
        taken[key] = known[key](value)
    return taken
