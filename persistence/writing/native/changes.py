"""Changing a row's columns, its status among them: one transaction, however many of the two there are.

`status` in the fields of an `update_...` call goes through the rules of `update_status`, with the reason,
source and actor named beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from persistence.engines.statements import Steps
from persistence.writing.native.group import Group
from persistence.writing.native.lifecycle import TABLES, Change, Rejected, change_status, prepare
from persistence.writing.native.rows import changed_row, now, row_of, table
from persistence.writing.values import refuse

__all__ = ["REASONING", "ChangingGroup"]

REASONING = {
    "reason_code": "reason_code",
    "reason_summary": "reason_summary",
    "evidence_refs": "evidence_refs",
    "reason_source": "source",
    "reason_actor": "actor",
    "override": "override",
    "override_actor": "override_actor",
    "override_justification": "override_justification",
}
_FIXED = frozenset(("id", "created_at"))
_OF_STATUS = frozenset(("status", "status_reason_code", "status_reason_summary", "status_evidence_refs"))


class ChangingGroup(Group):
    """A group whose rows have columns to change, and maybe a status."""

    async def _change(
        self,
        name: str,
        identity: str,
        fields: Mapping[str, Any],
        *,
        by: str = "id",
        entity: str | None = None,
        fixed: Collection[str] = (),
        if_null: Collection[str] = (),
        before: Callable[[], Steps[None]] | None = None,
    ) -> bool:
        """Changes the row; False when there is none and no status is named (then: NoSuchRowError)."""
        row = dict(fields)
        change = self._status_change(name, identity, entity, row)
        _only_columns(name, row, {*_FIXED, *fixed, by, *(_OF_STATUS if entity else ())})
        if not row and change is None:
            return False
        if "updated_at" in table(name).c and "updated_at" not in row:
            row["updated_at"] = now()
        values = row_of(name, row, self._runner.dialect)
        found = self._key(name, identity, by)

        def steps() -> Steps[bool | Rejected]:
            if before is not None:
                yield from before()
            answer: bool | Rejected = True
            if change is not None:
                answer = yield from change_status(change, self._runner.dialect)
                if isinstance(answer, Rejected):
                    return answer
            there = yield from changed_row(name, by, found, values, frozenset(if_null))
            return there if change is None else answer

        return self._answered(await self._runner.run(steps))

    async def _change_status(self, change: Change) -> bool:
        return self._answered(await self._run(change_status, change, self._runner.dialect))

    @staticmethod
    def _answered(answer: bool | Rejected) -> bool:
        if isinstance(answer, Rejected):
            raise answer.error
        return answer

    def _status_change(
        self, name: str, identity: str, entity: str | None, row: dict[str, Any]
    ) -> Change | None:
        """Takes the status and its reasoning out of the fields."""
        if entity is None:
            return None
        assert TABLES[entity] == name
        reasoning = {theirs: row.pop(ours) for ours, theirs in REASONING.items() if ours in row}
        if "status" not in row:
            return None
        status = row.pop("status")
        if reasoning.get("reason_code") is None:
            refuse(
                f"{name}.status",
                f"A status is written with its reason: {status!r:.40} comes without one.",
                "reason_code beside status",
                "no reason_code",
            )
        companions = {"ended_at": row.pop("ended_at")} if entity == "session" and "ended_at" in row else None
        return prepare(
            entity,
            self._key(name, identity),
            new_status=status,
            extra_fields=companions,
            **reasoning,
        )


def _only_columns(name: str, row: Mapping[str, Any], fixed: Collection[str]) -> None:
    for column in row:
        if column in fixed or column not in table(name).c:
            what = "cannot be changed" if column in fixed else "is no column"
            refuse(f"{name}.{column}", f"{name}.{column} {what}.", "a column that can be changed", column)
