"""What a list of rows is: the rows, where the next ones begin, and what the store lacks of them."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from persistence.records import Missing, ReadInfo

__all__ = ["Page", "read_cursor", "write_cursor"]


class Page(list[dict[str, Any]]):
    """A list of row mappings that knows whether it is all there is (ADR-0055 D1: methods return lists).

    `next` is the cursor for `after=`; `part_of` says why these are only the first rows when there can be
    no cursor; `missing` what an older release's store lacks; `read` how and when it was read (None when
    there was nothing to ask).
    """

    def __init__(
        self,
        rows: list[dict[str, Any]] | None = None,
        *,
        next: str | None = None,
        part_of: str | None = None,
        missing: Missing | None = None,
        read: ReadInfo | None = None,
    ) -> None:
        super().__init__(rows or [])
        self.next = next
        self.part_of = part_of
        self.missing = missing or Missing()
        self.read = read

    @property
    def complete(self) -> bool:
        """Whether no row follows these."""
        return self.next is None and self.part_of is None


def write_cursor(name: str, values: tuple[Any, ...]) -> str:
    """An opaque cursor: the order values and key of the last row of the list called `name`."""
    packed = [{"b": base64.b64encode(v).decode("ascii")} if isinstance(v, bytes) else v for v in values]
    text = json.dumps([name, packed], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode("ascii")).decode("ascii").rstrip("=")


def read_cursor(name: str, cursor: str, count: int) -> tuple[Any, ...]:
    """The values a cursor holds; ValueError when it is none of this list's."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        owner, packed = json.loads(text)
        values = tuple(base64.b64decode(v["b"]) if isinstance(v, dict) else v for v in packed)
    except (ValueError, TypeError, KeyError, binascii.Error):
        raise ValueError(f"not a cursor: {cursor[:80]!r}") from None
    if owner != name or len(values) != count:
        raise ValueError(f"the cursor belongs to another list ({str(owner)[:80]!r}, not {name!r})")
    return values
