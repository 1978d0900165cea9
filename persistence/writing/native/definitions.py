"""Versioned definitions (ADR-0055 D2), engine and workflow definitions."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Executable, func, literal, select

from persistence.engines.statements import Statement, Steps, Target
from persistence.errors import ConstraintError, LostRaceError
from persistence.writing.native.changes import ChangingGroup
from persistence.writing.native.rows import given, key, new_id, new_row, now, removed_row, table
from persistence.writing.values import refuse

__all__ = ["KINDS", "TRIES", "DefinitionWrites"]

KINDS: Final = ("agent", "playbook")
"""The kinds that are saved (DECISIONS 2); rows of the kind `skill` are read and stay as they are."""

TRIES: Final = 5
"""Attempts in all before a saver gives up (DECISIONS 1)."""

_DEFINITIONS = table("definitions")


def _highest(_: Target) -> Executable:
    by = (_DEFINITIONS.c.kind == key(_DEFINITIONS.c.kind), _DEFINITIONS.c.name == key(_DEFINITIONS.c.name))
    return select(func.coalesce(func.max(_DEFINITIONS.c.version), 0)).where(*by)


def _in_turn(target: Target) -> Executable:
    """On a server: the versions of this name are given by one transaction at a time, whoever asks."""
    if target.sqlite:
        return select(literal(1))
    named = func.concat("definitions/", key(_DEFINITIONS.c.kind), "/", key(_DEFINITIONS.c.name))
    return select(func.pg_advisory_xact_lock(func.hashtextextended(named, literal(0))))


_HIGHEST, _IN_TURN = Statement(_highest, rows=True), Statement(_in_turn, rows=True)


class DefinitionWrites(ChangingGroup):
    """Definitions of every kind."""

    def __init__(self) -> None:
        self._turns: weakref.WeakValueDictionary[tuple[str, str], asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )

    async def save_definition(
        self, *, kind: str, name: str, path: str, content: str, message: str | None = None
    ) -> int:
        """Adds the next version of a definition, and returns its number: the largest there is, and one.

        Savers of one kind and name through one handle take turns, others do not wait for them. A version
        another handle took first is asked for anew, five tries in all; then LostRaceError (a RuntimeError)
        with the last integrity error. The file at `path` is neither written nor looked at.
        """
        if kind not in KINDS:
            refuse(
                "definitions.kind",
                f"This kind is not saved: {kind!r:.40}.",
                ", ".join(KINDS),
                f"{kind!r:.40}",
            )
        row = {"kind": kind, "name": name, "path": path, "content": content, "message": message}
        values = self._row("definitions", **row, id=new_id(), version=1, created_at=now())
        turn = self._turns.setdefault((kind, name), asyncio.Lock())
        async with turn:
            return await self._next_version(values)

    async def _next_version(self, values: dict[str, Any]) -> int:
        last: ConstraintError | None = None
        for _ in range(TRIES):
            try:
                return await self._run(_saved, {**values, "v_id": new_id(), "v_created_at": now()})
            except ConstraintError as error:
                last = error
        assert last is not None
        raise LostRaceError(
            f"Another writer took the next version {TRIES} times over. Nothing was written: {last.message}",
            where=f"definitions {values['v_kind']} {values['v_name']}",
            observed=last.observed,
            remedy="Save it again when the other writer is done.",
        ) from last

    async def create_engine_def(self, defn: Mapping[str, Any]) -> None:
        """Adds one engine definition; `id`, `name` and `kind` are needed. A name is taken once."""
        await self._create_definition("engine_defs", given("engine_defs", defn, ("id", "name", "kind")))

    async def update_engine_def(self, def_id: str, **fields: Any) -> None:
        """Changes columns of an engine definition."""
        await self._change("engine_defs", def_id, fields)

    async def delete_engine_def(self, def_id: str) -> bool:
        """Removes an engine definition; False when there was none."""
        return await self._run(removed_row, "engine_defs", "id", self._key("engine_defs", def_id))

    async def create_workflow_def(self, defn: Mapping[str, Any]) -> None:
        """Adds one workflow definition; `id` and `name` are needed. A name is taken once."""
        await self._create_definition("workflow_defs", given("workflow_defs", defn, ("id", "name")))

    async def update_workflow_def(self, def_id: str, **fields: Any) -> None:
        """Changes columns of a workflow definition."""
        await self._change("workflow_defs", def_id, fields)

    async def delete_workflow_def(self, def_id: str) -> bool:
        """Removes a workflow definition; False when there was none."""
        return await self._run(removed_row, "workflow_defs", "id", self._key("workflow_defs", def_id))

    async def _create_definition(self, name: str, row: dict[str, Any]) -> None:
        row.setdefault("created_at", now())
        row.setdefault("updated_at", row["created_at"])
        await self._run(new_row, name, self._row(name, **row))


def _saved(values: Mapping[str, Any]) -> Steps[int]:
    named = {"k_kind": values["v_kind"], "k_name": values["v_name"]}
    yield _IN_TURN(**named)
    found = (yield _HIGHEST(**named)).first
    assert found is not None
    version = int(found[0]) + 1
    yield from new_row("definitions", {**values, "v_version": version})
    return version
