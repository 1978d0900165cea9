"""Text on its way out of the program, as bytes."""

from __future__ import annotations

__all__ = ["encode"]


def encode(text: str) -> bytes:
    """UTF-8, with the bytes that were not UTF-8 in the store as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a pair out of a JSON escape: there are no bytes it came from
        return text.encode("utf-8", "replace")
