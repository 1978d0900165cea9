"""What a caller gave, checked before any statement: ids, moments, and columns the profile lets be written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from persistence.profiles.records import folded
from persistence.reading.values import decode_json
from persistence.records import Unreadable
from persistence.writing.compatibility.running import Running
from persistence.writing.native.rows import now, table
from persistence.writing.values import encode, refuse

__all__ = [
    "identity",
    "merged_keys",
    "moment",
    "only_columns",
    "only_own_fields",
    "patched",
    "stored_mapping",
]


def identity(name: str, given: Any) -> str:
    """An id of a row of the table. ValueRefusedError for what is none."""
    return str(encode(table(name), "id", given, "sqlite"))


def moment(name: str, column: str, given: float | None) -> float:
    """A time, now unless given. ValueRefusedError for what is none."""
    return float(encode(table(name), column, now() if given is None else given, "sqlite"))


def only_own_fields(run: Running, name: str, fields: Mapping[str, Any]) -> None:
    """Refuses a caller that names the owner: it is the handle's, from configuration (D5)."""
    owner = run.book.shape.owner(name)
    if owner is None:
        return
    for field in fields:
        if isinstance(field, str) and len(field) == len(owner) and folded(field) == folded(owner):
            run.refuse(
                f"{owner} is written by the handle, never by a caller",
                code="owner-given",
                expected=f"no {owner} among the fields",
                observed=f"{fields[field]!r:.80}",
                remedy="Leave it out. Who owns the rows is said when the store is opened.",
            )


def only_columns(run: Running, name: str, fields: Mapping[str, Any], may: Collection[str]) -> None:
    """Refuses a column of the table that the operation, or the profile, does not write.

    ValueRefusedError for a field that is no column at all.
    """
    only_own_fields(run, name, fields)
    for field in fields:
        if field not in table(name).c:
            refuse(f"{name}.{field}", f"{name} has no such column.", "a column", f"{field!r:.80}")
        if field not in may:
            run.refuse(
                f"{name}.{field} is not among the columns it writes under this profile",
                code="column-not-in-profile",
                expected=", ".join(sorted(may)),
                observed=field,
                remedy="Leave it out, or use a profile that lets the column be written.",
            )


def merged_keys(run: Running, name: str, patch: Any) -> Mapping[str, Any]:
    """A patch of a row's metadata. Refuses what is no mapping."""
    if not isinstance(patch, Mapping):
        run.refuse(
            "metadata is merged by key, so it is given as a mapping",
            code="metadata-not-a-mapping",
            expected="a mapping",
            observed=type(patch).__name__,
            remedy="Give the keys to be set.",
        )
    encode(table(name), "node_metadata", dict(patch), "sqlite")  # refused now, or not at all
    return patch


def stored_mapping(run: Running, name: str, row: str, cell: Any) -> dict[str, Any]:
    """The metadata that is there. Refuses what is no mapping: merging would lose it."""
    stored = decode_json(cell)
    if stored is None:
        return {}
    if not isinstance(stored, dict):
        run.refuse(
            "the metadata that is there is no mapping, and merging would lose it",
            code="metadata-not-a-mapping",
            row=(name, row),
            expected="a JSON object",
            observed=stored.why if isinstance(stored, Unreadable) else f"a {type(stored).__name__}",
        )
    return stored


def patched(into: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396): a null removes its key, mappings merge within."""
    if not isinstance(patch, Mapping):
        return patch
    out = dict(into) if isinstance(into, dict) else {}
    for name, part in patch.items():
        if part is None:
            out.pop(name, None)
        else:
            out[name] = patched(out.get(name), part)
    return out
