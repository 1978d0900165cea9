"""Messages, their classes, and the progressions that order them (ADR-0055 D1, D3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    LargeBinary,
    Text,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    insert,
    literal,
    not_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from persistence.engines.statements import Statement, Steps, Target
from persistence.writing.native.conversation import touched
from persistence.writing.native.group import Group
from persistence.writing.native.rows import (
    changed_row,
    given,
    key,
    new_row,
    now,
    row_of,
    select_for_update,
    table,
    value,
)
from persistence.writing.values import encode, identifier_fault, json_text, refuse

__all__ = ["MessageWrites", "collection_text", "entry", "may_hold", "message_values"]

_MESSAGES, _TYPES, _PROGRESSIONS = table("messages"), table("message_types"), table("progressions")
_EMPTY = dict.fromkeys(column.name for column in _MESSAGES.c)
_KEPT = frozenset(("id", "created_at"))
"""What a message that is written again keeps of the first time."""


# -- statements ----------------------------------------------------------------------------------------------


def _upsert(target: Target) -> Executable:
    row = target.insert(_MESSAGES).values({column.name: value(column) for column in _MESSAGES.c})
    again = {column.name: row.excluded[column.name] for column in _MESSAGES.c if column.name not in _KEPT}
    statement: Executable = row.on_conflict_do_update(index_elements=[_MESSAGES.c.id], set_=again)
    return statement


def _class(_: Target) -> Executable:
    return select(_TYPES.c.type_id).where(_TYPES.c.lion_class == key(_TYPES.c.lion_class))


def _new_class(target: Target) -> Executable:
    number = func.coalesce(func.max(_TYPES.c.type_id), 0) + 1
    named = bindparam("k_lion_class", type_=Text())
    row = select(number, named).select_from(_TYPES)
    return insert(_TYPES).from_select(["type_id", "lion_class"], row)


def _one_at_a_time(target: Target) -> Executable:
    """On a server: nobody else numbers a class until this transaction ends."""
    if target.sqlite:
        return select(literal(1))
    return select(func.pg_advisory_xact_lock(func.hashtext(literal("message_types"))))


def _sequence(target: Target) -> Executable:
    """On a server: the table's own counter goes on behind the number just given."""
    if target.sqlite:
        return select(literal(1))
    highest = select(func.max(_TYPES.c.type_id)).scalar_subquery()
    return select(func.setval(func.pg_get_serial_sequence("message_types", "type_id"), highest))


def may_hold(collection: bytes | None, quoted: str) -> bool:
    """Whether a collection may hold an entry, by its bytes: a function the writer's connection has."""
    return collection is None or b"\\" in collection or quoted.encode("utf-8") in collection


_ROOM = 16_384


def _roomy(collection: ColumnElement[str], longer: ColumnElement[str]) -> ColumnElement[str]:
    """A long collection ends in blanks up to the next 16 KB, which JSON allows.

    While its length stays the same SQLite writes only the pages that changed; otherwise it writes all of
    it anew, for each id of a long run.
    """
    size = func.length(cast(collection, LargeBinary())) + _ROOM - 1
    return func.printf("%-*s", case((size < 3 * _ROOM, 0), else_=size - size % _ROOM), longer)


def _append(target: Target) -> Executable:
    """One statement: the id goes to the end of the collection unless it is in it (ADR-0055 D3)."""
    collection = _PROGRESSIONS.c.collection
    id_ = bindparam("v_message_id", type_=Text())
    if target.sqlite:
        entries = func.json_each(collection).table_valued("value")
        there = exists(select(1).select_from(entries).where(entries.c.value == id_))
        # Where the text holds neither the id as JSON writes it nor any escape, no entry can be it: finding
        # that out takes no parsing. Everything else is asked of json_each.
        may_be = func.may_hold(cast(collection, LargeBinary()), func.json_quote(id_)) == 1
        longer: Any = _roomy(collection, func.json_insert(collection, "$[#]", id_))
        wanted = not_(and_(may_be, there))
    else:
        document = cast(collection, JSONB)
        longer = cast(document.op("||")(func.to_jsonb(cast(id_, Text()))), Text())
        wanted = not_(document.has_key(id_))
    return (
        update(_PROGRESSIONS)
        .where(_PROGRESSIONS.c.id == key(_PROGRESSIONS.c.id), wanted)
        .values(collection=longer)
    )


def _replace(_: Target) -> Executable:
    by = _PROGRESSIONS.c.id == key(_PROGRESSIONS.c.id)
    return update(_PROGRESSIONS).where(by).values(collection=value(_PROGRESSIONS.c.collection))


_UPSERT, _APPEND, _REPLACE = Statement(_upsert), Statement(_append), Statement(_replace)
_CLASS, _NEW_CLASS = Statement(_class, rows=True), Statement(_new_class)
_ONE_AT_A_TIME, _SEQUENCE = Statement(_one_at_a_time, rows=True), Statement(_sequence, rows=True)


# -- steps ---------------------------------------------------------------------------------------------------


def _class_number(name: str) -> Steps[int]:
    """The number of a message class, given to it when it is first met."""
    found = (yield _CLASS(k_lion_class=name)).first
    if found is None:
        yield _ONE_AT_A_TIME()
        found = (yield _CLASS(k_lion_class=name)).first
    if found is None:
        yield _NEW_CLASS(k_lion_class=name)
        yield _SEQUENCE()
        found = (yield _CLASS(k_lion_class=name)).first
    assert found is not None
    return int(found[0])


def _written(values: dict[str, Any], lion_class: str | None) -> Steps[None]:
    if lion_class is not None:
        values["v_lion_class"] = yield from _class_number(lion_class)
    yield _UPSERT(**values)


def _appended(progression_id: str, message_ids: Sequence[str]) -> Steps[None]:
    """Appends each id unless it is there: one by the one statement, several by reading the order once."""
    if len(message_ids) > 1:
        done = yield from _extended(progression_id, message_ids)
        if done:
            return
    for message_id in message_ids:
        yield _APPEND(k_id=progression_id, v_message_id=message_id)


def _extended(progression_id: str, message_ids: Sequence[str]) -> Steps[bool]:
    """Appends several ids to an order of texts; False, and nothing done, where it holds anything else."""
    found = (yield select_for_update("progressions", "id", ("collection",))(k_id=progression_id)).first
    if found is None:
        return True
    try:
        order = json.loads(found[0].encode("utf-8"))
    except ValueError:  # no JSON, or no UTF-8
        return False
    if not isinstance(order, list) or not all(type(entry) is str for entry in order):
        return False
    there = set(order)
    longer = order + [one for one in dict.fromkeys(message_ids) if one not in there]
    if len(longer) > len(order):
        yield _REPLACE(k_id=progression_id, v_collection=json.dumps(longer))
    return True


class MessageWrites(Group):
    """Messages and progressions."""

    async def insert_message(self, msg: Mapping[str, Any]) -> None:
        """Adds a message; `id`, `content` and `role` are needed. One that is there is overwritten, except
        for when it was made.

        Its class is `lion_class_str`, or `lion_class` in its metadata; a class not met before is numbered.
        """
        values, lion_class = message_values(msg, self._runner.dialect)
        await self._run(_written, values, lion_class)

    async def insert_messages(
        self,
        msgs: Sequence[Mapping[str, Any]],
        *,
        progression_ids: Sequence[str] = (),
        session_id: str | None = None,
        activity_at: float | None = None,
    ) -> None:
        """Adds messages and appends each to every progression, in one transaction.

        With a session its clocks move forward to `activity_at` (now), never back. Progressions and sessions
        that are not there are no error.
        """
        rows = [message_values(msg, self._runner.dialect) for msg in msgs]
        progressions = [self._key("progressions", one) for one in progression_ids]
        ids = [entry(values["v_id"]) for values, _ in rows] if progressions else []
        session = None if session_id is None else self._key("sessions", session_id)
        moment = self._row("sessions", updated_at=now() if activity_at is None else activity_at)

        def steps() -> Steps[None]:
            numbers: dict[str, int] = {}
            for values, lion_class in rows:
                if lion_class is not None:
                    if lion_class not in numbers:
                        numbers[lion_class] = yield from _class_number(lion_class)
                    values["v_lion_class"] = numbers[lion_class]
            if rows:
                yield _UPSERT.each([values for values, _ in rows])
            for progression in progressions:
                yield from _appended(progression, ids)
            if session is not None:
                yield from touched(session, moment["v_updated_at"])

        await self._runner.run(steps)

    async def persist_live_message(
        self,
        msg: Mapping[str, Any],
        *,
        session_id: str,
        branch_progression_id: str | None = None,
        session_progression_id: str | None = None,
        system_branch_id: str | None = None,
        activity_at: float | None = None,
    ) -> None:
        """Keeps a message of a run as it comes: the row, its place in both orders, for a system message its
        branch's `system_msg_id`, and the session's clocks, which only move forward. One transaction."""
        values, lion_class = message_values(msg, self._runner.dialect)
        orders = [
            self._key("progressions", one) for one in (branch_progression_id, session_progression_id) if one
        ]
        ids = [entry(values["v_id"])]
        session = self._key("sessions", session_id)
        moment = self._row("sessions", updated_at=now() if activity_at is None else activity_at)
        branch = None if system_branch_id is None else self._key("branches", system_branch_id)

        def steps() -> Steps[None]:
            yield from _written(dict(values), lion_class)
            for progression in orders:
                yield from _appended(progression, ids)
            if branch is not None:
                yield from changed_row("branches", "id", branch, {"v_system_msg_id": ids[0]})
            yield from touched(session, moment["v_updated_at"])

        await self._runner.run(steps)

    async def create_progression(self, progression_id: str, collection: list[str] | None = None) -> None:
        """Adds a progression in the order given; one that is there stays as it is."""
        row = {"id": progression_id, "created_at": now(), "collection": collection_text(collection)}
        await self._run(new_row, "progressions", self._row("progressions", **row), skip_taken="id")

    async def set_progression(self, progression_id: str, collection: list[str]) -> None:
        """Replaces the whole order; a progression that is not there is no error."""
        text = collection_text(collection)
        progression = self._key("progressions", progression_id)

        def steps() -> Steps[None]:
            yield _REPLACE(k_id=progression, v_collection=text)

        await self._runner.run(steps)

    async def append_to_progression(self, progression_id: str, message_id: str) -> None:
        """Appends an id unless it is in the progression already; one that is not there is no error."""
        await self._run(_appended, self._key("progressions", progression_id), [entry(message_id)])

    async def extend_progression(self, progression_id: str, message_ids: Sequence[str]) -> None:
        """Appends several ids in one transaction, each unless it is there already."""
        entries = [entry(one) for one in message_ids]
        await self._run(_appended, self._key("progressions", progression_id), entries)


def message_values(msg: Mapping[str, Any], dialect: str) -> tuple[dict[str, Any], str | None]:
    """The whole row encoded, and the class whose number is to be looked up (None: it came as a number)."""
    row = given("messages", msg, ("id", "role"))
    if "content" not in row:
        refuse("messages.content", "A message needs its content.", "content", "no content")
    if row.get("created_at") is None:
        row["created_at"] = now()
    named = row.pop("lion_class_str", None)
    if named is None and isinstance(row.get("node_metadata"), Mapping):
        named = row["node_metadata"].get("lion_class")
    if isinstance(row.get("lion_class"), str):
        named = row["lion_class"]
    elif row.get("lion_class") is not None:
        named = None
    if named is not None and not isinstance(named, str):
        named = None
    if named is not None or row.get("lion_class") is None:
        row["lion_class"] = 0  # __unknown__, unless a class is named
    values = row_of("messages", {**_EMPTY, **row}, dialect)
    if named is not None:
        encode(_TYPES, "lion_class", named, dialect)  # refused now, or not at all
    return values, named


def entry(message_id: Any) -> str:
    fault = identifier_fault(message_id)
    if fault is not None:
        refuse("progressions.collection", f"A progression holds message ids: {fault}.", "text", fault)
    return str(message_id)


def collection_text(collection: Sequence[str] | None) -> str:
    if collection is not None and not isinstance(collection, list | tuple):
        refuse("progressions.collection", "A collection is a list.", "a list", type(collection).__name__)
    return json_text([entry(one) for one in collection or ()], "progressions.collection")
