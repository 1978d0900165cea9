"""Where a person is: an address names a place (and what it shows), a history goes back and forward.

The text of an address is what the command line and the palette take: `runs`, `run/ID`,
`run/ID/timeline`, `tables/messages`; a view of a place that shows nothing in particular has an empty part
before it, `admission//links`. Parts are percent-quoted, so an id may hold anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

__all__ = ["Address", "History"]


@dataclass(frozen=True, slots=True)
class Address:
    """A place, what it shows (`target`: a run's id, a table's name) and which of its views."""

    place: str
    target: str | None = None
    view: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        """What one screen shows: two views of the same thing share it."""
        return self.place, self.target

    def __str__(self) -> str:
        parts = [self.place]
        if self.target is not None or self.view is not None:
            parts.append(self.target or "")
        if self.view is not None:
            parts.append(self.view)
        return "/".join(quote(part, safe="", errors="surrogateescape") for part in parts)

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address a text names; an empty part says nothing. Raises ValueError when there is none."""
        place, *rest = (unquote(part, errors="surrogateescape") for part in text.strip("/").split("/"))
        if not place or len(rest) > 2:
            raise ValueError(f"not an address: {text!r}")
        return cls(place, *(part or None for part in rest))


class History:
    """The addresses visited, oldest first, with the current one among them."""

    LIMIT = 100

    def __init__(self) -> None:
        self._visited: list[Address] = []
        self._at = -1

    @property
    def current(self) -> Address | None:
        return self._visited[self._at] if self._visited else None

    def visit(self, address: Address) -> None:
        """Goes to an address: what was ahead is forgotten. The current one is not counted twice."""
        if address == self.current:
            return
        del self._visited[self._at + 1 :]
        self._visited.append(address)
        del self._visited[: -self.LIMIT]
        self._at = len(self._visited) - 1

    def replace(self, address: Address) -> None:
        """The current place now shows another view; the way back stays as it is."""
        if self._visited:
            self._visited[self._at] = address
        else:
            self.visit(address)

    def move(self, step: int) -> Address | None:
        """The address `step` back (negative) or forward, now the current one; None when there is none."""
        at = self._at + step
        if not 0 <= at < len(self._visited):
            return None
        self._at = at
        return self._visited[at]

    def clear(self) -> None:
        self._visited.clear()
        self._at = -1
