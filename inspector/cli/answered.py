"""Errors that come after something: after an answer was begun, or after a part of an action was committed."""

from __future__ import annotations

import os
import traceback
from typing import Any

from persistence.errors import StoreError

__all__ = ["Answered", "HalfWay", "place_of", "refusal_of"]


class Answered(Exception):
    """The answer is complete on stdout, its `refusal` included; what is left is the exit code and stderr."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class HalfWay(Exception):
    """A fault of the program's own in the middle of an action: what was committed is told already."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def refusal_of(error: Exception) -> dict[str, Any]:
    """Any error in the shape of a refusal (DESIGN 10); one that is our fault says so."""
    if isinstance(error, StoreError):
        return error.as_dict()
    return StoreError(str(error), code="our-fault", where=place_of(error)).as_dict() | {
        "type": type(error).__name__
    }


def place_of(error: Exception) -> str | None:
    """Where in the program an error came up: the last file and line."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else None  # noqa: PTH119
