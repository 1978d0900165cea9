"""The one interface of the three writers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Writer"]


class Writer(Protocol):
    """What carries writes out, or refuses them: a method for each of `WriteSurface`'s, of the same name."""

    def __getattr__(self, operation: str) -> Callable[..., Any]: ...
