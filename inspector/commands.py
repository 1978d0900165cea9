"""The command palette: places, actions with their keys, and the runs and tables a word finds.

Actions come from the bindings in force. Runs are asked of the store (it finds the candidates, fuzzily
matching is ours); nothing from a store meets a markup parser here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from inspector import keys, safe
from inspector.navigation import Address
from inspector.roles import status_sign
from inspector.screens import PLACES, missing_reason
from inspector.screens.place import Place
from persistence.errors import StoreError

if TYPE_CHECKING:
    from inspector.app import InspectorApp

__all__ = ["ActionCommands", "PlaceCommands", "StoreCommands", "found"]

MOST_RUNS = 12
MOST_TABLES = 12
MOVING = frozenset({"up", "down", "left", "right", "page_up", "page_down", "half_up", "half_down"})
MOVING |= {"first", "last", "first_column", "last_column"}
"""Keys that nobody looks for in a list of commands."""


def found(words: str, query: str, *, style: str = "bold underline") -> Content:
    """`words` with the characters of `query` marked, by spans of our own."""
    visible = safe.text(words)
    text = Content(visible)
    position = 0
    lowered = visible.lower()
    for character in query.lower():
        at = lowered.find(character, position)
        if at < 0:
            break
        text = text.stylize(style, at, at + 1)
        position = at + 1
    return text


class _Commands(Provider):
    @property
    def _app(self) -> InspectorApp:
        return cast("InspectorApp", self.app)

    def _hit(self, score: float, words: str, query: str, run: object, help: str = "") -> Hit:
        shown = found(words, query)
        return Hit(
            score,
            shown,
            run,  # type: ignore[arg-type]
            text=shown.plain,
            help=Content(safe.text(help)) if help else None,  # type: ignore[arg-type]
        )


class PlaceCommands(_Commands):
    """`go: Runs`, with its number."""

    def _places(self) -> list[tuple[str, str, object]]:
        out: list[tuple[str, str, object]] = []
        for place in PLACES:
            if (
                place.name in ("refused", "run", "found")
                or missing_reason(place, self._app.tables) is not None
            ):
                continue
            key = f"  {place.key or place.letter}".rstrip()
            out.append((f"go: {place.title}{key}", place.says, partial(self._app.go, Address(place.name))))
        return out

    async def discover(self) -> Hits:
        for words, says, run in self._places():
            yield DiscoveryHit(Content(words), run, text=words, help=Content(says))  # type: ignore[arg-type]

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for words, says, run in self._places():
            if (score := matcher.match(words)) > 0:
                yield self._hit(score, words, query, run, says)


class ActionCommands(_Commands):
    """What the keys do here: `do: export  e`."""

    def _actions(self) -> list[tuple[str, str, object]]:
        out: list[tuple[str, str, object]] = []
        if not isinstance(self.screen, Place):
            return out
        for shortcut in keys.shortcuts(self.screen):
            name = shortcut.id.partition(".")[2]
            told = shortcut.show or name not in MOVING
            if shortcut.enabled and told and not shortcut.id.startswith("go.") and name != "commands":
                words = f"do: {shortcut.label}  {' '.join(shortcut.keys)}"
                out.append((words, shortcut.tooltip, partial(keys.run, self._app, shortcut)))
        return out

    async def discover(self) -> Hits:
        for words, says, run in self._actions():
            yield DiscoveryHit(Content(words), run, text=words, help=Content(safe.text(says)))  # type: ignore[arg-type]

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for words, says, run in self._actions():
            score = matcher.match(words) or (0.3 if query.lower() in says.lower() else 0.0)
            if score > 0:
                yield self._hit(score, words, query, run, says)


class StoreCommands(_Commands):
    """Tables by name, and runs by name or id: the store is asked for candidates."""

    async def search(self, query: str) -> Hits:
        app = self._app
        if app.opened is None:
            return
        matcher = self.matcher(query)
        if any(place.name == "tables" for place in PLACES):
            scored = [(matcher.match(f"table: {name}"), name) for name in app.tables or ()]
            for score, name in sorted(scored, reverse=True)[:MOST_TABLES]:
                if score > 0:
                    yield self._hit(
                        score * 0.8, f"table: {name}", query, partial(app.go, Address("tables", name))
                    )
        async for hit in self._runs(query):
            yield hit

    async def _runs(self, query: str) -> AsyncIterator[Hit]:
        from persistence.records import RunFilter

        app = self._app
        text = query.strip()
        if app.opened is None or "sessions" not in (app.tables or ()) or len(text) < 2:
            return
        try:
            source = app.opened.db.runs(RunFilter(text=text))
            window = await source.window(0, MOST_RUNS)
        except StoreError:
            return
        names = [column.name for column in source.columns]
        for row in window.rows:
            values = dict(zip(names, row.cells, strict=True))
            session = str(row.key[-1])
            status, named = values.get("status"), values.get("name")
            glyph, word, _ = status_sign(status if isinstance(status, str) else None)
            name = safe.cell(named) if named is not None else session
            yield self._hit(
                1.0 if text.lower() in name.lower() else 0.5,
                f"run: {glyph} {safe.clip(name, 60)}",
                query,
                partial(app.go, Address("run", session)),
                f"{word} · {session}",
            )
