"""Backfills: what rows of older releases are given once, each under a key of its own in schema_meta.

Each is a statement over the rows that lack something, and touches no other row. What the release that
introduced the key would have done is done here too, so that neither repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Executable, and_, case, exists, insert, null, select, update

from persistence.engines.statements import Statement, Target
from persistence.schema import metadata
from persistence.schema.known import TERMINAL

__all__ = ["BACKFILLS", "EVERY_MIGRATION", "Backfill"]

_t = metadata.tables
_sessions, _branches, _runs = _t["sessions"], _t["branches"], _t["schedule_runs"]
_engine_runs = _t["engine_runs"]
_dispositions, _revisions = _t["attention_dispositions"], _t["attention_disposition_revisions"]


class Backfill(NamedTuple):
    """`key` is its row in schema_meta; `what` says it to a person; `statements` do it."""

    key: str
    what: str
    statements: Sequence[Statement]


def _session_end(_: Target) -> Executable:
    seen, changed = _sessions.c.last_message_at, _sessions.c.updated_at
    latest = case((and_(seen.is_not(None), seen > changed), seen), else_=changed)
    missing = and_(_sessions.c.ended_at.is_(None), _sessions.c.status.in_(sorted(TERMINAL["session"])))
    return update(_sessions).where(missing).values(ended_at=latest, ended_at_is_approximate=1)


def _dispatched(_: Target) -> Executable:
    running = and_(_runs.c.status == "running", _runs.c.dispatched_at.is_(None))
    return update(_runs).where(running).values(dispatched_at=_runs.c.fired_at)


def _imported_branches(_: Target) -> Executable:
    imported = select(_sessions.c.id).where(_sessions.c.source_kind == "imported_codex")
    labelled = and_(_branches.c.session_id.in_(imported), _branches.c.agent_name.is_not(None))
    return update(_branches).where(labelled).values(agent_name=null())


def _imported_sessions(_: Target) -> Executable:
    labelled = and_(_sessions.c.source_kind == "imported_codex", _sessions.c.agent_name.is_not(None))
    return update(_sessions).where(labelled).values(agent_name=null())


def _revision_rows(_: Target) -> Executable:
    known = exists().where(_revisions.c.item_id == _dispositions.c.item_id)
    found = select(_dispositions.c.item_id, _dispositions.c.revision).where(~known)
    return insert(_revisions).from_select(["item_id", "revision"], found)


def _parents(_: Target) -> Executable:
    there = exists().where(_sessions.c.id == _engine_runs.c.session_id)
    missing = and_(_engine_runs.c.parent_session_id.is_(None), there)
    return update(_engine_runs).where(missing).values(parent_session_id=_engine_runs.c.session_id)


BACKFILLS = (
    Backfill(
        "migration.session_ended_at_backfill",
        "sessions that had ended without saying when: the latest time known, marked approximate",
        (Statement(_session_end),),
    ),
    Backfill(
        "migration.dispatched_at_backfill",
        "schedule runs that were running before dispatch times were kept: when they fired",
        (Statement(_dispatched),),
    ),
    Backfill(
        "migration.imported_role_label_backfill",
        "imported coding sessions whose role label had been kept as an agent's name: no agent's name",
        (Statement(_imported_branches), Statement(_imported_sessions)),
    ),
    Backfill(
        "migration.attention_dispositions_backfill",
        "attention dispositions from before revisions were counted: their revision",
        (Statement(_revision_rows),),
    ),
)

EVERY_MIGRATION = Backfill(
    "",
    "engine runs from before their parent session was kept: the session they ran in",
    (Statement(_parents),),
)
"""Done whenever a store of an older version is brought up; it has no key, in any release."""
