"""Artifacts, recorded verifications, statuses and administrative events (ADR-0055 D4, D5, P1).

An artifact row is the latest structured outcome of its name: writing it again replaces what is there.
Nothing here reads, writes or asks after the file a path names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Executable, case, select

from persistence.engines.statements import Statement, Steps, Target
from persistence.writing.native.changes import ChangingGroup
from persistence.writing.native.lifecycle import prepare
from persistence.writing.native.rows import changed_row, key, new_row, now, short_id, table, value
from persistence.writing.values import refuse

__all__ = ["EvidenceWrites"]

_ARTIFACTS = table("artifacts")
_COLUMNS = tuple(column.name for column in _ARTIFACTS.c)
_SHAPES: Final[Mapping[tuple[str, ...], str]] = {
    (): "idx_artifacts_natural_key_unattached",
    ("invocation_id",): "idx_artifacts_natural_key_inv_only",
    ("session_id",): "idx_artifacts_natural_key_ses_only",
    ("invocation_id", "session_id"): "idx_artifacts_natural_key_both",
}
"""The natural key by the parents that are there, and the partial unique index that holds it."""


def _shape(parents: tuple[str, ...]) -> tuple[list[Any], Any]:
    """The columns of a natural key, and its index's condition in the index's own words."""
    index = next(one for one in _ARTIFACTS.indexes if one.name == _SHAPES[parents])
    return list(index.columns), index.dialect_options["sqlite"]["where"]


def _upsert(parents: tuple[str, ...]) -> Statement:
    def build(target: Target) -> Executable:
        columns, where = _shape(parents)
        row = target.insert(_ARTIFACTS).values({name: value(_ARTIFACTS.c[name]) for name in _COLUMNS})
        new, old = row.excluded, _ARTIFACTS.c
        again = {
            "content": new.content,
            "file_path": new.file_path,
            "updated_at": case((old.updated_at < new.updated_at, new.updated_at), else_=old.updated_at),
        }
        statement: Executable = row.on_conflict_do_update(
            index_elements=columns, index_where=where, set_=again
        )
        return statement

    return Statement(build)


def _found(parents: tuple[str, ...]) -> Statement:
    columns, where = _shape(parents)
    query = select(_ARTIFACTS.c.id).where(where, *(column == key(column) for column in columns))
    return Statement(lambda _: query, rows=True)


_UPSERTS = {parents: _upsert(parents) for parents in _SHAPES}
_FOUND = {parents: _found(parents) for parents in _SHAPES}


def _saved(parents: tuple[str, ...], values: Mapping[str, Any]) -> Steps[str]:
    yield _UPSERTS[parents](**values)
    named = {f"k_{name}": values[f"v_{name}"] for name in (*parents, "kind", "name")}
    row = (yield _FOUND[parents](**named)).first
    assert row is not None
    return str(row[0])


class EvidenceWrites(ChangingGroup):
    """What is said to have happened."""

    async def insert_artifact(
        self,
        *,
        kind: str,
        name: str,
        content: Mapping[str, Any],
        invocation_id: str | None = None,
        session_id: str | None = None,
        file_path: str | None = None,
    ) -> str:
        """Adds an artifact, or replaces content and path of the one with its natural key; returns its id.

        One atomic upsert, whichever of its parents are given: the loser of a race updates and returns the
        same id (DECISIONS 3). `file_path` is kept as it is, and cleared when it is not given.
        """
        for word, given in (("kind", kind), ("name", name)):
            if not isinstance(given, str) or not given:
                refuse(f"artifacts.{word}", f"An artifact needs a {word}.", "text", f"{given!r:.40}")
        if not isinstance(content, Mapping):
            refuse(
                "artifacts.content",
                "An artifact's content is a mapping.",
                "a mapping",
                type(content).__name__,
            )
        moment = now()
        row = {"id": short_id(), "created_at": moment, "updated_at": moment, "kind": kind, "name": name}
        row |= {"invocation_id": invocation_id, "session_id": session_id, "file_path": file_path}
        values = self._row("artifacts", **row, content=content)
        parents = tuple(name for name in ("invocation_id", "session_id") if row[name] is not None)
        return await self._run(_saved, parents, values)

    async def update_artifact_verification(
        self, session_id: str, verification: Mapping[str, Any] | None
    ) -> None:
        """Records what was observed of a session's expected files; no such session is no error."""
        values = self._row("sessions", artifact_verification_json=verification, updated_at=now())
        await self._run(changed_row, "sessions", "id", self._key("sessions", session_id), values)

    async def update_status(
        self,
        entity_type: str,
        entity_id: str,
        *,
        new_status: str,
        reason_code: str,
        reason_summary: str = "",
        evidence_refs: Sequence[Mapping[str, Any]] | None = None,
        source: str = "executor",
        actor: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expected_statuses: Collection[str | None] | None = None,
        expected_updated_at: float | None = None,
        extra_fields: Mapping[str, Any] | None = None,
        override: bool = False,
        override_actor: str | None = None,
        override_justification: str | None = None,
    ) -> bool:
        """Changes a status and writes its transition, as one. False when it was not as expected.

        ValueRefusedError (a ValueError) for what is outside a vocabulary, NoSuchRowError (a LookupError)
        for a row that is not there, TransitionRejectedError for leaving a terminal status without an
        audited override, LostRaceError (a RuntimeError) when another writer was quicker.
        """
        change = prepare(
            entity_type,
            entity_id,
            new_status=new_status,
            reason_code=reason_code,
            reason_summary=reason_summary,
            evidence_refs=evidence_refs,
            source=source,
            actor=actor,
            metadata=metadata,
            expected_statuses=expected_statuses,
            expected_updated_at=expected_updated_at,
            extra_fields=extra_fields,
            override=override,
            override_actor=override_actor,
            override_justification=override_justification,
        )
        return await self._change_status(change)

    async def insert_admin_event(
        self, *, action: str, details: Mapping[str, Any], target_id: str | None = None, actor: str = "admin"
    ) -> str:
        """Adds an administrative event and returns its id."""
        identity = short_id()
        row = {"id": identity, "created_at": now(), "action": action, "target_id": target_id, "actor": actor}
        await self._run(new_row, "admin_events", self._row("admin_events", **row, details=details))
        return identity
