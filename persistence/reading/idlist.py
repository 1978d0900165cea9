"""The entries of a progression, two hundred thousand of them in a few megabytes."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Literal

from persistence.records import Cell, Preview

__all__ = ["IdList", "State", "read_list"]

State = Literal["list", "empty", "missing", "not JSON", "not a list", "too long"]
"""What a progression is; only `list` has entries."""


class IdList:
    """Ids by position. One long text and where each ends, not a hundred thousand objects."""

    __slots__ = ("_ends", "_odd", "_text", "duplicates")

    def __init__(self, entries: Sequence[Any]) -> None:
        self._odd: dict[int, str] = {}  # entries that are no text, as their JSON
        texts: Sequence[str] = entries
        if set(map(type, entries)) > {str} or (entries and not isinstance(entries[0], str)):
            self._odd = {
                place: json.dumps(entry, ensure_ascii=False)
                for place, entry in enumerate(entries)
                if not isinstance(entry, str)
            }
            texts = ["" if place in self._odd else entry for place, entry in enumerate(entries)]
        self._text = "".join(texts)
        self._ends = array("Q", accumulate(map(len, texts)))
        self.duplicates: dict[int, int] = {}
        """Position to the position where the same id stood first."""
        if len(set(texts)) < len(texts):
            first: dict[str, int] = {}
            for place, text in enumerate(texts):
                if place in self._odd:
                    continue
                before = first.setdefault(text, place)
                if before != place:
                    self.duplicates[place] = before

    def __len__(self) -> int:
        return len(self._ends)

    def odd(self, position: int) -> str | None:
        """The JSON of an entry that is no text; None for an id."""
        return self._odd.get(position)

    @property
    def odds(self) -> tuple[int, ...]:
        return tuple(self._odd)

    def ids(self, first: int, count: int) -> list[str]:
        """The ids from position `first`; "" stands for an entry that is no text."""
        text, ends = self._text, self._ends
        start = ends[first - 1] if first else 0
        out = []
        for end in ends[first : first + count]:
            out.append(text[start:end])
            start = end
        return out


NOTHING = IdList(())


def read_list(collection: Cell) -> tuple[State, IdList, str | None]:
    """What a collection cell is, its entries, and the reason when it has none that can be read."""
    if isinstance(collection, Preview):
        return "too long", NOTHING, f"{collection.size} bytes"
    if isinstance(collection, bytes):
        collection = collection.decode("utf-8", "surrogateescape")
    if not isinstance(collection, str):
        return (
            "not JSON",
            NOTHING,
            f"the cell holds {'NULL' if collection is None else type(collection).__name__}",
        )
    try:
        found = json.loads(collection)
    except ValueError as error:
        return "not JSON", NOTHING, str(error)
    except RecursionError:
        return "not a list", NOTHING, "nested too deeply to be a list of ids"
    if not isinstance(found, list):
        return "not a list", NOTHING, f"a JSON {_kind(found)}"
    return ("list" if found else "empty"), IdList(found), None


def _kind(found: Any) -> str:
    if isinstance(found, dict):
        return "object"
    if isinstance(found, str):
        return "text"
    return "null" if found is None else "true or false" if isinstance(found, bool) else "number"
