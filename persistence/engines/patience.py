"""How long a writer waits for another one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

__all__ = ["BUSY_TIMEOUT", "busy_timeout"]

BUSY_TIMEOUT = 5000
"""Milliseconds a writer waits for another one, unless LIONAGI_SQLITE_BUSY_TIMEOUT_MS says otherwise."""


def busy_timeout(environ: Mapping[str, str] | None = None) -> int:
    """The writer's patience in milliseconds; what is not a positive whole number is warned about."""
    given = (os.environ if environ is None else environ).get("LIONAGI_SQLITE_BUSY_TIMEOUT_MS")
    if given is None:
        return BUSY_TIMEOUT
    if given.strip().isascii() and given.strip().isdigit() and 0 < int(given) < 2**31:
        return int(given)
    warnings.warn(
        f"LIONAGI_SQLITE_BUSY_TIMEOUT_MS is no number of milliseconds: {given!r:.40}; it is {BUSY_TIMEOUT}",
        stacklevel=2,
    )
    return BUSY_TIMEOUT
