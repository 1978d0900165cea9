"""Versioned definitions, engine definitions and workflow definitions (ADR-0055 D1, D2)."""

from __future__ import annotations

from typing import Any

from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, find, listed
from persistence.reading.store import ReadingSurface

__all__ = ["DefinitionReading"]

# D2: a list of versions is metadata, newest first; path and content come with one version at a time.
_WITHOUT = frozenset({"path", "content"})
_VERSIONS = Listing("definitions", (By("version", True),), without=_WITHOUT, name="definition versions")
_DEFINITIONS = Listing("definitions", (By("kind"), By("name"), By("version", True)), without=_WITHOUT)
_ENGINES = Listing("engine_defs", (By("name"),))
_WORKFLOWS = Listing("workflow_defs", (By("name"),))


class DefinitionReading(ReadingSurface):
    """The definitions group's reads."""

    async def get_definition(
        self, kind: str, name: str, *, version: int | None = None
    ) -> dict[str, Any] | None:
        """That version's row with path and content, or the highest version's; None when there is none."""
        filters = Filters(kind=kind, name=name, version=version)
        return await find(self._reading, "definitions", filters, (By("version", True),))

    async def list_definition_versions(self, kind: str, name: str) -> Page:
        """The versions of one definition, newest first, without path and content (ADR-0055 D2)."""
        filters = Filters(kind=kind, name=name)
        return await listed(self._reading, _VERSIONS, filters)

    async def list_definitions(
        self, *, kind: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page:
        """Every version of every definition, by kind and name, newest version first; metadata alone."""
        return await listed(self._reading, _DEFINITIONS, Filters(kind=kind), limit=limit, after=after)

    async def list_latest_definition_versions(self, *, kind: str | None = None) -> Page:
        """The highest version of each definition, by kind and name; metadata alone."""
        page = await self.list_definitions(kind=kind)
        seen: set[tuple[Any, Any]] = set()
        latest = []
        for row in page:
            named = (row.get("kind"), row.get("name"))
            if named not in seen:
                seen.add(named)
                latest.append(row)
        return Page(latest, missing=page.missing, read=page.read)

    async def get_engine_def(self, def_id: str) -> dict[str, Any] | None:
        """One engine definition's row, or None."""
        return await find(self._reading, "engine_defs", Filters(id=def_id))

    async def get_engine_def_by_name(self, name: str) -> dict[str, Any] | None:
        """The engine definition with this name (unique), or None."""
        return await find(self._reading, "engine_defs", Filters(name=name))

    async def list_engine_defs(
        self, *, kind: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page:
        """Engine definitions by name."""
        return await listed(self._reading, _ENGINES, Filters(kind=kind), limit=limit, after=after)

    async def get_workflow_def(self, def_id: str) -> dict[str, Any] | None:
        """One workflow definition's row, or None."""
        return await find(self._reading, "workflow_defs", Filters(id=def_id))

    async def get_workflow_def_by_name(self, name: str) -> dict[str, Any] | None:
        """The workflow definition with this name (unique), or None."""
        return await find(self._reading, "workflow_defs", Filters(name=name))

    async def list_workflow_defs(self, *, limit: int | None = None, after: str | None = None) -> Page:
        """Workflow definitions by name."""
        return await listed(self._reading, _WORKFLOWS, limit=limit, after=after)
